import { type RecordedEvent, decodeSnapshot } from '../codec';
import type { Decider } from '../decider';
import type { AnyKind } from '../kind';
import { BEGINNING, type Head, headOf } from '../ports/event-store';
import { UnreadableHistory } from '../ports/faults';
import type { Snapshot, StoredSnapshot } from '../ports/snapshot-store';

/** The state of one stream at a head, for commands: it is replayed outside of an aggregate. */
export class ReplayedState {
  #head = BEGINNING;
  #value: unknown;

  /** The state at the beginning of a stream. */
  constructor(readonly kind: AnyKind) {
    this.#value = kind.decider.initialState();
  }

  /** The state of a snapshot, in any format of the kind. Throws any error if it cannot be decoded. */
  static async restore(kind: AnyKind, snapshot: StoredSnapshot): Promise<ReplayedState> {
    const restored = new ReplayedState(kind);
    restored.#value = await decodeSnapshot(kind.stateCodec, restored.#value, snapshot);
    restored.#head = snapshot.head;
    return restored;
  }

  get head(): Head {
    return this.#head;
  }

  /** Number of items; see `Footprint`. */
  get items(): number {
    return this.kind.footprint.items(this.#value);
  }

  /** Applies the next event. Throws {@link UnreadableHistory}. */
  apply(recorded: RecordedEvent<unknown>): void {
    this.#value = evolveRecorded(this.kind.decider, this.#value, recorded.event);
    this.#head = headOf(recorded);
  }

  /** Its snapshot, in the current format. */
  snapshot(): Snapshot {
    const { stateCodec } = this.kind;
    return { format: stateCodec.format, head: this.#head, chunks: stateCodec.encode(this.#value) };
  }
}

/** The state after a recorded event. Throws {@link UnreadableHistory} if the rules could not have produced the event. */
export function evolveRecorded<Event, State>(
  decider: Pick<Decider<never, Event, unknown, State>, 'evolve'>,
  state: State,
  event: Event,
): State {
  try {
    return decider.evolve(state, event);
  } catch (error) {
    throw new UnreadableHistory(error instanceof Error ? error.message : String(error), { cause: error });
  }
}
