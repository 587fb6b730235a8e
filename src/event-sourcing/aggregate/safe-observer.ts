import type { SnapshotOutcome } from '../loading/stream-snapshots';
import type { Head } from '../ports/event-store';
import type { StreamName } from '../ports/stream-name';
import type { AggregateObserver } from './aggregate-options';

/** Wraps an observer and ignores its errors, so that it cannot fail or hang a request. */
export class SafeObserver implements Required<AggregateObserver> {
  constructor(private readonly observer: AggregateObserver = {}) {}

  static of(observer: AggregateObserver | undefined): SafeObserver {
    return observer instanceof SafeObserver ? observer : new SafeObserver(observer);
  }

  round(requests: number, storeCalls: number): void {
    attempt(() => this.observer.round?.(requests, storeCalls));
  }

  appended(events: number): void {
    attempt(() => this.observer.appended?.(events));
  }

  conflict(): void {
    attempt(() => this.observer.conflict?.());
  }

  historyLost(stream: StreamName, known: Head): void {
    attempt(() => this.observer.historyLost?.(stream, known));
  }

  fault(stream: StreamName, error: unknown): void {
    attempt(() => this.observer.fault?.(stream, error));
  }

  loaded(events: number): void {
    attempt(() => this.observer.loaded?.(events));
  }

  loading(stream: StreamName, version: number): void {
    attempt(() => this.observer.loading?.(stream, version));
  }

  snapshot(stream: StreamName, outcome: SnapshotOutcome, cause?: unknown): void {
    attempt(() => this.observer.snapshot?.(stream, outcome, cause));
  }

  tooLarge(stream: StreamName, limit: number): void {
    attempt(() => this.observer.tooLarge?.(stream, limit));
  }
}

function attempt(notify: () => void): void {
  try {
    notify();
  } catch {
    // The observer itself is what would report it.
  }
}
