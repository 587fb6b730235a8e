import type { SnapshotOutcome } from '../loading/stream-snapshots';
import type { Head } from '../ports/event-store';
import type { StreamName } from '../ports/stream-name';
import type { AggregateObserver } from './aggregate-options';

/** Notifies observers and ignores their errors, so that none can fail or hang a request, or silence the others. */
export class SafeObserver implements Required<AggregateObserver> {
  readonly #observers: readonly AggregateObserver[];

  private constructor(observers: AggregateObserver | readonly AggregateObserver[]) {
    this.#observers = [observers].flat();
  }

  static of(observers: AggregateObserver | readonly AggregateObserver[] = []): SafeObserver {
    return observers instanceof SafeObserver ? observers : new SafeObserver(observers);
  }

  round(requests: number, storeCalls: number): void {
    this.#notify((each) => each.round?.(requests, storeCalls));
  }

  appended(events: number): void {
    this.#notify((each) => each.appended?.(events));
  }

  conflict(): void {
    this.#notify((each) => each.conflict?.());
  }

  historyLost(stream: StreamName, known: Head): void {
    this.#notify((each) => each.historyLost?.(stream, known));
  }

  fault(stream: StreamName, error: unknown): void {
    this.#notify((each) => each.fault?.(stream, error));
  }

  loaded(events: number): void {
    this.#notify((each) => each.loaded?.(events));
  }

  loading(stream: StreamName, version: number): void {
    this.#notify((each) => each.loading?.(stream, version));
  }

  snapshot(stream: StreamName, outcome: SnapshotOutcome, cause?: unknown): void {
    this.#notify((each) => each.snapshot?.(stream, outcome, cause));
  }

  tooLarge(stream: StreamName, limit: number): void {
    this.#notify((each) => each.tooLarge?.(stream, limit));
  }

  #notify(call: (observer: AggregateObserver) => void): void {
    for (const each of this.#observers)
      try {
        call(each);
      } catch {
        // The observer itself is what would report it.
      }
  }
}
