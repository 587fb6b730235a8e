import { type AggregateOptions, type Footprint, NO_FOOTPRINT } from './aggregate-options';
import { type Codec, decodeEvent } from './codec';
import { decideInOrder, type Decider, type Decision } from './decider';
import { HistoryLoader } from './history-loader';
import { LoadQueue } from './load-queue';
import { BEGINNING, type EventPage, type Head, headOf, type StoredEvent } from './ports/event-store';
import { StoreUnavailable, UnreadableHistory } from './ports/faults';
import { BrokenSnapshot } from './ports/snapshot-store';
import type { StreamName } from './ports/stream-name';
import { checkPage } from './replay';
import type { SafeObserver } from './safe-observer';
import { SaveSlot } from './save-slot';
import { SizeLimit } from './size-limit';
import type { StreamCalls } from './stream-calls';
import { type ReadInTurn, type StateAtHead, StreamSnapshots } from './stream-snapshots';

/** Events between two `loading` notifications. */
const PROGRESS_STEP = 100_000;

/** The aggregate that has the state. */
export interface StateOwner {
  readonly stream: StreamName;
  /** Whether a request waits for the state. */
  readonly wanted: () => boolean;
  /** Whether the state fits into the memory. Must not throw. */
  readonly fits: () => boolean;
  /** A load has ended, whether or not it was complete. */
  readonly loadEnded: () => void;
}

/** The state of one stream in memory, at a head: how it is loaded, catches up with the store, and starts over. */
export class StreamState<Command, Event, Rejection, State> {
  /** Both change together, by recorded events. */
  #value: State;
  #head = BEGINNING;
  /** Whether the state has reached the end of the history once. */
  #caughtUp = false;
  readonly #codec: Codec<Event>;
  readonly #loader: HistoryLoader;
  readonly #footprint: Footprint<Command, State>;
  readonly #size: SizeLimit;
  readonly #snapshots: StreamSnapshots<State> | undefined;
  /** Whether the state is that of a snapshot, and the store has not confirmed its head. */
  #unconfirmed = false;

  constructor(
    private readonly owner: StateOwner,
    private readonly decider: Decider<Command, Event, Rejection, State>,
    private readonly calls: StreamCalls,
    private readonly observer: SafeObserver,
    options: AggregateOptions<Command, Event, State>,
  ) {
    this.#codec = options.codec;
    const { store, clock, timeoutMs, loads, maxBytes = Infinity, snapshots, saves } = options;
    const { stream } = owner;
    const initialState = () => decider.initialState();
    this.#snapshots =
      snapshots && new StreamSnapshots(stream, initialState, snapshots, saves ?? new SaveSlot(), observer);
    this.#value = decider.initialState();
    this.#footprint = options.footprint ?? NO_FOOTPRINT;
    this.#size = new SizeLimit(clock, maxBytes, () => observer.tooLarge(stream, maxBytes));
    this.#loader = new HistoryLoader(loads ?? new LoadQueue(clock, 2 * timeoutMs), {
      head: () => this.head,
      read: (after) => store.read(stream, after),
      restore: (version, read) => this.#restore(version, read),
      restoreBase: (read) => this.#restoreBase(read),
      apply: (page) => this.#apply(page),
      reset: () => this.loseHistory(),
      startOver: () => this.startOver(),
      wanted: owner.wanted,
      ended: (complete) => {
        this.#caughtUp ||= complete;
        owner.loadEnded();
      },
    });
  }

  get value(): State {
    return this.#value;
  }

  get head(): Head {
    return this.#head;
  }

  /** Number of items; see {@link Footprint}. */
  get items(): number {
    return this.#footprint.items(this.value);
  }

  /** Estimated memory, in bytes. */
  get bytes(): number {
    return this.#footprint.bytes(this.value);
  }

  get loading(): boolean {
    return this.#loader.loading;
  }

  /** Whether a snapshot of the state is being saved. */
  get saving(): boolean {
    return this.#snapshots?.saving ?? false;
  }

  /** Pages requested by all loads so far. */
  get pagesRead(): number {
    return this.#loader.pagesRead;
  }

  /** After how many milliseconds a request that expired should be retried; `undefined` if unknown. */
  retryAfterMs(): number | undefined {
    return this.loading ? this.#loader.retryAfterMs() : undefined;
  }

  /** Memory that the command may add, in bytes. */
  bytesAddedBy(command: Command): number {
    return this.#footprint.bytesAddedBy(command);
  }

  /** Why a request is refused; `undefined` if it is accepted. `added` bytes are those of it and of all that wait. */
  refusalOf(added: number, isWrite: boolean): StoreUnavailable | undefined {
    if (isWrite) return this.#size.checkGrowth(this.bytes + added);
    return this.#caughtUp ? undefined : this.#size.recentRefusal();
  }

  /** Decides commands in order. Does not change the state: their events are not recorded yet. */
  decide(commands: readonly Command[]): readonly Decision<Event, Rejection>[] {
    return decideInOrder(this.decider, commands, this.#value);
  }

  /** Applies events that were appended at its head; `head` is the new one. */
  advance(events: readonly Event[], head: Head): void {
    for (const event of events) this.#value = this.decider.evolve(this.#value, event);
    this.#head = head;
    this.#caughtUp = true;
    this.#confirm();
    this.observer.appended(events.length);
  }

  /** Applies newer events. True if none was left at some moment after the call began. */
  async catchUp(): Promise<boolean> {
    if (!this.#caughtUp) return this.load();
    const result = await this.calls.read(this.head);
    if (result.status === 'read') return this.applyNewer(result);
    if (result.status === 'archived') return this.reload();
    this.loseHistory();
    return false;
  }

  /** Applies the newer events of a read or a conflict, and loads the rest. Resolves as {@link catchUp} does. */
  async applyNewer(newer: EventPage): Promise<boolean> {
    checkPage(this.#head, newer);
    this.#apply(newer);
    if (newer.more) return this.load();
    this.#caughtUp = true;
    return true;
  }

  /** Waits for the current load, or starts one, until every request of the round has expired. */
  load(): Promise<boolean> {
    return this.calls.waitFor(this.#loader.load());
  }

  /** Starts over, and loads. Resolves as {@link catchUp} does. */
  reload(): Promise<boolean> {
    this.startOver();
    return this.load();
  }

  /** The store does not have this history, or no longer. */
  loseHistory(): void {
    if (this.#unconfirmed) this.#snapshots?.ignore(new BrokenSnapshot('the history does not have its head'));
    else this.observer.historyLost(this.owner.stream, this.head);
    this.startOver();
  }

  startOver(): void {
    this.#value = this.decider.initialState();
    this.#head = BEGINNING;
    this.#caughtUp = false;
    this.#unconfirmed = false;
  }

  /** Saves a snapshot in the background if one is due. */
  saveIfDue(): void {
    if (this.#snapshots === undefined || !this.#caughtUp || this.loading) return;
    const current = () =>
      this.loading || !this.#caughtUp ? undefined : { state: this.value, head: this.head };
    // It cannot be evicted during the save.
    this.#snapshots.saveIfDue(this.head.version, this.items, current, () => this.owner.fits());
  }

  /** Replaces the state by that of the newest snapshot, if one is ahead of `version`. Throws as {@link #mustFit} does. */
  async #restore(version: number, read: ReadInTurn): Promise<void> {
    // A state that was complete once has little to catch up.
    if (this.#caughtUp) return;
    for await (const restored of this.#snapshots?.restore(version, read) ?? []) this.#replaceBy(restored);
  }

  /** Replaces the state by that of the base. Throws {@link UnreadableHistory}, and as {@link #mustFit} does. */
  async #restoreBase(read: ReadInTurn): Promise<void> {
    if (this.#snapshots === undefined)
      throw new UnreadableHistory('no store of base snapshots is configured');
    try {
      for await (const restored of this.#snapshots.restoreBase(read)) this.#replaceBy(restored);
    } catch (error) {
      this.startOver();
      throw error;
    }
  }

  #replaceBy({ state, head }: StateAtHead<State>): void {
    this.#value = state;
    this.#head = head;
    this.#unconfirmed = head.version > 0;
    this.#mustFit();
  }

  /** Applies a page. Throws as {@link #mustFit} does. */
  #apply({ events }: EventPage): void {
    const before = this.head.version;
    for (const stored of events) this.#evolve(stored);
    this.observer.loaded(events.length);
    const { version } = this.head;
    const step = (reached: number) => Math.floor(reached / PROGRESS_STEP);
    if (step(version) > step(before)) this.observer.loading(this.owner.stream, version);
    this.#confirm();
    this.#mustFit();
  }

  /** Applies the event after the head. Throws {@link UnreadableHistory} if the codec or the decider rejects it. */
  #evolve(stored: StoredEvent): void {
    const event = decodeEvent(this.#codec, stored);
    try {
      this.#value = this.decider.evolve(this.#value, event);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new UnreadableHistory(why, { cause: error });
    }
    this.#head = headOf(stored);
  }

  /** The store has the head of the state. */
  #confirm(): void {
    if (this.#unconfirmed) this.observer.snapshot(this.owner.stream, 'restored');
    this.#unconfirmed = false;
  }

  /** Throws {@link StoreUnavailable} if the state does not fit into memory, and drops it. */
  #mustFit(): void {
    const refusal = this.#size.checkLoad(this.bytes);
    if (refusal === undefined && this.owner.fits()) return;
    this.startOver();
    // Its memory is free at once: another load may need it in the same turn.
    this.owner.fits();
    const full = 'the memory is full of histories that are being loaded';
    throw refusal ?? new StoreUnavailable(full, { reason: 'loading' });
  }
}
