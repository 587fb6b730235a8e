import type { Head } from './event-store';
import type { Base, StoredBase } from './snapshot-store';
import type { StreamName } from './stream-name';

/**
 * Port: replaces the first events of a stream by a base snapshot. It is separate from the event store, because
 * operators need it and requests do not. Rejects with `StoreUnavailable`, or with `OutcomeUnknown`: then repeat the call.
 */
export interface StreamArchive {
  /**
   * Writes a base beside the current one, passes it to `check` as it is stored, and if that resolves, replaces the
   * current one at once. No event is removed. False, without effect, if the stream does not have the base's head, if
   * its current base is not at version `replaced` (0: there is none), or if another call has begun meanwhile.
   */
  saveBase(
    stream: StreamName,
    base: Base,
    replaced: number,
    check: (stored: StoredBase) => Promise<void>,
  ): Promise<boolean>;

  /**
   * Removes up to some thousand events before `head`, the oldest first. Resolves with their number, 0 if none is
   * left; `undefined`, without effect, if `head` is not that of the current base, or the stream does not have it.
   */
  trim(stream: StreamName, head: Head): Promise<number | undefined>;

  /** Approximate memory of the stream's events in the store, in bytes; `undefined` if it is unknown. */
  bytes(stream: StreamName): Promise<number | undefined>;
}
