import { decodeSnapshot } from '../codec';
import { ArchivedHistory, checkPage, HistoryChanged } from '../loading/replay';
import { BEGINNING, type EventStore, type Head, headOf, type StoredEvent } from '../ports/event-store';
import { UnreadableHistory } from '../ports/faults';
import type { SnapshotStore } from '../ports/snapshot-store';
import type { StreamName } from '../ports/stream-name';
import type { ProjectionOptions } from './projection-options';

export interface PageSource<State> {
  readonly store: EventStore;
  readonly snapshots?: SnapshotStore | undefined;
  readonly base: ProjectionOptions<unknown, State>['base'];
}

/** The next events of a stream for a consumer that has those up to a head. */
export interface StreamPage<State> {
  readonly stream: StreamName;
  readonly restarts: boolean;
  /** Whether the history does not have the head before the page: what was applied was lost or erased. */
  readonly replaces: boolean;
  readonly base: State | undefined;
  readonly events: readonly StoredEvent[];
  /** The head after the page. */
  readonly head: Head;
  readonly more: boolean;
}

/**
 * The page after `known`, without events after `until`. If the history does not have that head, it is the first page of
 * the stream; if the events after it were archived, the base without events. Throws UnreadableHistory, ArchivedHistory,
 * and the errors of the stores.
 */
export async function pageOf<State>(
  source: PageSource<State>,
  stream: StreamName,
  known: Head,
  until: number,
): Promise<StreamPage<State>> {
  const result = await source.store.read(stream, known);
  const restarts = known.version === 0;
  switch (result.status) {
    case 'read': {
      checkPage(known, result);
      const events = result.events.filter(({ version }) => version <= until);
      const head = headOf(events.at(-1) ?? known);
      const more = result.more && head.version < until;
      return { stream, restarts, replaces: false, base: undefined, events, head, more };
    }
    case 'archived': {
      if (source.base === undefined) throw new ArchivedHistory(known);
      const stored = await source.snapshots?.loadBase?.(stream);
      if (stored === undefined) throw new UnreadableHistory('its base snapshot is missing');
      const base = await decodeSnapshot(source.base.codec, source.base.initialState(), stored);
      const head = headOf(stored.head);
      return { stream, restarts: true, replaces: false, base, events: [], head, more: true };
    }
    case 'reset':
      if (restarts) throw new HistoryChanged(known);
      return { ...(await pageOf(source, stream, BEGINNING, until)), replaces: true };
  }
}

/** The page with at most one event. */
export function oneEventOf<State>(page: StreamPage<State>): StreamPage<State> {
  const [first, ...others] = page.events;
  return first && others.length > 0 ? { ...page, events: [first], head: headOf(first), more: true } : page;
}
