import type { CollectionObserver } from './collection-options';
import type { Head } from './event-store';

/** Passes everything on to an observer, and ignores what that throws: no observer may fail or hang a request. */
export class SafeObserver implements Required<CollectionObserver> {
  constructor(private readonly observer: CollectionObserver = {}) {}

  static of(observer: CollectionObserver | undefined): SafeObserver {
    return observer instanceof SafeObserver ? observer : new SafeObserver(observer);
  }

  round(requests: number, trips: number): void {
    attempt(() => this.observer.round?.(requests, trips));
  }

  appended(events: number): void {
    attempt(() => this.observer.appended?.(events));
  }

  conflict(): void {
    attempt(() => this.observer.conflict?.());
  }

  historyLost(stream: string, known: Head): void {
    attempt(() => this.observer.historyLost?.(stream, known));
  }

  fault(stream: string, error: unknown): void {
    attempt(() => this.observer.fault?.(stream, error));
  }

  loaded(events: number): void {
    attempt(() => this.observer.loaded?.(events));
  }

  loading(stream: string, version: number): void {
    attempt(() => this.observer.loading?.(stream, version));
  }

  tooLarge(stream: string, limit: number): void {
    attempt(() => this.observer.tooLarge?.(stream, limit));
  }
}

function attempt(notify: () => void): void {
  try {
    notify();
  } catch {
    // Nothing is left to report it to.
  }
}
