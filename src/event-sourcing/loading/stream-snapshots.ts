import { readerOf, type StateCodec } from '../codec';
import { BEGINNING, type Head } from '../ports/event-store';
import { StoreUnavailable, UnreadableHistory } from '../ports/faults';
import { BrokenSnapshot, type SnapshotStore, type StoredSnapshot } from '../ports/snapshot-store';
import type { StreamName } from '../ports/stream-name';
import type { SaveSlot } from './save-slot';

/** A snapshot has all items. This share of them bounds what it costs per event. */
const ITEMS_SHARE = 1 / 2;

/** Why a history without its first events is not served. */
export const UNUSABLE_BASE =
  'the first events are not in the store, and the base snapshot in their place cannot be used; ' +
  'restore the history from its archives as in docs/operations.md#archives';

/**
 * What happened to a snapshot: `failed` if it could not be loaded or saved, `ignored` if it cannot be used and the
 * history is replayed instead.
 */
export type SnapshotOutcome = 'restored' | 'saved' | 'failed' | 'ignored';

export interface SnapshotOptions<State> {
  readonly store: SnapshotStore;
  readonly codec: StateCodec<State>;
  /**
   * How many events follow a snapshot before the next one is saved, but at least half the number of the state's
   * items; {@link SNAPSHOT_EVERY} by default. `Infinity`: snapshots are loaded, and none is saved. 0: none is loaded
   * either, except base snapshots.
   */
  readonly every?: number | undefined;
}

/** Default number of events between two snapshots. */
export const SNAPSHOT_EVERY = 10_000;

/** A state, and the head that it is at. */
export interface StateAtHead<State> {
  readonly state: State;
  readonly head: Head;
}

/** Reads from a store when it is the load's turn. */
export type ReadInTurn = <T>(read: () => Promise<T>) => Promise<T>;

/** Restores the newest snapshot of one stream, and saves another one when it is due. No failure fails a request. */
export class StreamSnapshots<State> {
  /** Version of the newest snapshot, as far as known. */
  #version = 0;
  /** Whether the stored snapshot was found unusable: it is replaced, however new it is. */
  #unusable = false;
  #saving = false;

  constructor(
    private readonly stream: StreamName,
    private readonly decider: { initialState(): State },
    private readonly options: SnapshotOptions<State>,
    private readonly slot: SaveSlot,
    private readonly report: (outcome: SnapshotOutcome, cause?: unknown) => void,
  ) {}

  /** Whether the state is being saved. */
  get saving(): boolean {
    return this.#saving;
  }

  /**
   * Decodes the newest snapshot, if it is ahead of `version`. After each chunk it yields the incomplete state, at the
   * beginning; at the end the complete state at its head, or the initial state if the snapshot cannot be used. The
   * next chunk is prefetched.
   */
  async *restore(version: number, read: ReadInTurn): AsyncGenerator<StateAtHead<State>> {
    if (this.#every === 0) return;
    let begun = false;
    try {
      const snapshot = await read(() => this.options.store.load(this.stream));
      if (snapshot === undefined || snapshot.head.version <= version) return;
      for await (const restored of this.#decode(snapshot, read)) {
        begun = true;
        yield restored;
      }
    } catch (error) {
      if (error instanceof StoreUnavailable) this.report('failed', error);
      else this.ignore(error);
      if (begun) yield this.initial();
    }
  }

  /** Decodes the base, as {@link restore} does. Throws {@link UnreadableHistory} if it is missing or broken. */
  async *restoreBase(read: ReadInTurn): AsyncGenerator<StateAtHead<State>> {
    try {
      const base = await read(async () => this.options.store.loadBase?.(this.stream));
      if (base === undefined) throw new BrokenSnapshot('it is missing');
      yield* this.#decode(base, read);
    } catch (error) {
      if (error instanceof StoreUnavailable) throw error;
      throw new UnreadableHistory(
        `${UNUSABLE_BASE}: ${error instanceof Error ? error.message : String(error)}`,
        {
          cause: error,
        },
      );
    }
  }

  async *#decode(snapshot: StoredSnapshot, read: ReadInTurn): AsyncGenerator<StateAtHead<State>> {
    const readNext = readerOf(this.options.codec, snapshot.format);
    const chunks = snapshot.chunks[Symbol.asyncIterator]();
    let state = this.decider.initialState();
    try {
      for (let reading = read(() => chunks.next()); ;) {
        const chunk = await reading;
        if (chunk.done) break;
        reading = read(() => chunks.next());
        // If decoding throws, a failed prefetch must not go unhandled.
        reading.catch(() => {});
        state = readNext(state, chunk.value);
        yield { state, head: BEGINNING };
      }
    } finally {
      // Not awaited, because a prefetch may be pending.
      chunks.return?.().catch(() => {});
    }
    this.#version = snapshot.head.version;
    yield { state, head: snapshot.head };
  }

  /** The state without events. */
  initial(): StateAtHead<State> {
    return { state: this.decider.initialState(), head: BEGINNING };
  }

  /** Records that the history has the head of the restored state. */
  confirm(): void {
    this.report('restored');
  }

  /** Records that the stored snapshot cannot be used. */
  ignore(why: unknown): void {
    this.#version = 0;
    this.#unusable = true;
    this.report('ignored', why);
  }

  /**
   * If a snapshot is due, saves the `current` state in the background; `undefined` while there is none. Calls `ended`
   * after the save.
   */
  saveIfDue(
    version: number,
    items: number,
    current: () => StateAtHead<State> | undefined,
    ended: () => void,
  ): void {
    if (!this.#isDue(version, items) || !this.slot.free) return;
    this.#saving = true;
    void this.slot.hold(async () => {
      try {
        await this.#save(version, items, current);
      } catch (error) {
        this.#version = version;
        this.report('failed', error);
      }
      this.#saving = false;
      ended();
    });
  }

  get #every(): number {
    return this.options.every ?? SNAPSHOT_EVERY;
  }

  #isDue(version: number, items: number): boolean {
    return this.#every > 0 && version - this.#version >= Math.max(this.#every, items * ITEMS_SHARE);
  }

  async #save(version: number, items: number, current: () => StateAtHead<State> | undefined): Promise<void> {
    const { store, codec } = this.options;
    const newest = this.#unusable ? undefined : await store.load(this.stream);
    if (newest !== undefined && Object.hasOwn(codec.readers, newest.format)) {
      // Another instance may have saved it.
      this.#version = newest.head.version;
      if (!this.#isDue(version, items)) return;
    }
    const now = current();
    if (now === undefined) return;
    // Whether or not it is saved, the next attempt is due as many events later.
    this.#version = now.head.version;
    const chunks = codec.encode(now.state);
    if (!(await store.save(this.stream, { format: codec.format, head: now.head, chunks }))) return;
    this.#unusable = false;
    this.report('saved');
  }
}
