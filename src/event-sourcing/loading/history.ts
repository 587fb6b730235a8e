import { BEGINNING, type EventPage, type Head, type ReadResult } from '../ports/event-store';
import { UnreadableHistory } from '../ports/faults';
import { BrokenSnapshot } from '../ports/snapshot-store';
import { checkPage, pagesAfter } from './replay';
import type { ReadInTurn, StateAtHead, StreamSnapshots } from './stream-snapshots';

/** Where the history of one stream is read from. */
export interface HistorySource<State> {
  /** Reads from the stores when it is the load's turn. */
  readonly inTurn: ReadInTurn;
  readonly read: (after: Head) => Promise<ReadResult>;
  readonly snapshots: StreamSnapshots<State> | undefined;
}

/** A page to apply, or a state that replaces the known one: until it is complete, its head is {@link BEGINNING}. */
type LoadStep<State> = EventPage | StateAtHead<State>;

/**
 * The steps that lead from the state at `known` to the end of the history. If its first page is not its last, they begin
 * with the newest snapshot; if its first events were archived, with the newest snapshot or the base. The state of either
 * gets its head once the event store has confirmed that the history has it.
 *
 * Throws as {@link pagesAfter} does, and {@link UnreadableHistory} without a base that can be used.
 *
 * @param restores whether a snapshot may replace the known state.
 */
export async function* history<State>(
  source: HistorySource<State>,
  known: Head,
  restores: boolean,
): AsyncGenerator<LoadStep<State>> {
  const { read } = source;
  const reading = read(known);
  const first = await reading;
  if (first.status === 'archived' && known.version === 0) {
    yield* archivedHistory(source);
    return;
  }
  let start: Head | undefined = known;
  if (restores && first.status === 'read' && first.more) {
    checkPage(known, first);
    start = yield* afterSnapshot(source, known, first.events.at(-1)!.version);
  }
  if (start !== undefined)
    yield* pagesAfter(read, start, start.version === known.version ? reading : read(start));
}

async function* archivedHistory<State>(source: HistorySource<State>): AsyncGenerator<LoadStep<State>> {
  const { inTurn, snapshots } = source;
  if (snapshots === undefined) throw new UnreadableHistory('no store of base snapshots is configured');
  if ((yield* afterSnapshot(source, BEGINNING, BEGINNING.version)) === undefined) return;
  for (let missing = BEGINNING.version; ;) {
    const base = yield* whileIncomplete(snapshots.restoreBase(inTurn));
    const { version } = base!.head;
    if (yield* confirmed(source, base!)) return;
    // A newer base may have replaced it meanwhile.
    if (version <= missing)
      throw new UnreadableHistory(
        `the history does not have the head of its base snapshot, version ${version}`,
      );
    missing = version;
  }
}

/**
 * Continues after the newest snapshot. If none ahead of `version` can be used, returns the head to continue after:
 * `known`, or {@link BEGINNING} if the state was replaced.
 */
async function* afterSnapshot<State>(
  source: HistorySource<State>,
  known: Head,
  version: number,
): AsyncGenerator<LoadStep<State>, Head | undefined> {
  const { inTurn, snapshots } = source;
  if (snapshots === undefined) return known;
  const restored = yield* whileIncomplete(snapshots.restore(version, inTurn));
  if (restored === undefined) return known;
  if (restored.head.version > 0) {
    if (yield* confirmed(source, restored)) return undefined;
    snapshots.ignore(new BrokenSnapshot('the history does not have its head'));
    yield snapshots.initial();
  }
  return BEGINNING;
}

/** Continues after the restored state. False, without a step, if the history does not have its head. */
async function* confirmed<State>(
  { read, snapshots }: HistorySource<State>,
  restored: StateAtHead<State>,
): AsyncGenerator<LoadStep<State>, boolean> {
  const reading = read(restored.head);
  if ((await reading).status !== 'read') return false;
  snapshots!.confirm();
  yield restored;
  yield* pagesAfter(read, restored.head, reading);
  return true;
}

/** The incomplete states. Returns the last one. */
async function* whileIncomplete<State>(
  states: AsyncIterable<StateAtHead<State>>,
): AsyncGenerator<StateAtHead<State>, StateAtHead<State> | undefined> {
  let last: StateAtHead<State> | undefined;
  for await (const state of states) {
    last = state;
    if (state.head.version === 0) yield state;
  }
  return last;
}
