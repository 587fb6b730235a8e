import { decodeEvent } from '../codec';
import { decideAll, type Decider, type Decision } from '../decider';
import { evolveRecorded } from '../loading/replayed-state';
import type { StateAtHead } from '../loading/stream-snapshots';
import { BEGINNING, type EventPage, type Head, headOf, type StoredEvent } from '../ports/event-store';
import { StoreUnavailable } from '../ports/faults';
import type { StreamName } from '../ports/stream-name';
import { type AggregateOptions, type Footprint, NO_FOOTPRINT } from './aggregate-options';
import type { SafeObserver } from './safe-observer';
import { SizeLimit } from './size-limit';

/** Events between two `loading` notifications. */
const PROGRESS_STEP = 100_000;

/** The memory that a state is in. */
export interface AggregateMemory {
  /** Evicts other aggregates until this one fits, whose size may have changed. False if it does not. Must not throw. */
  makeRoom(): boolean;
}

/** The state of one stream in memory, at a head. */
export class StreamState<Command, Event, Rejection, State> {
  /** Both change together, by recorded events. */
  #value: State;
  #head = BEGINNING;
  /** Whether the state has reached the end of the history once. */
  #caughtUp = false;
  readonly #footprint: Footprint<Command, State>;
  readonly #size: SizeLimit;

  constructor(
    private readonly stream: StreamName,
    private readonly decider: Decider<Command, Event, Rejection, State>,
    private readonly options: AggregateOptions<Command, Event, State>,
    private readonly observer: SafeObserver,
    private readonly memory: AggregateMemory,
  ) {
    const { clock, footprint = NO_FOOTPRINT, maxBytes = Infinity } = options;
    this.#value = decider.initialState();
    this.#footprint = footprint;
    this.#size = new SizeLimit(clock, maxBytes, () => observer.tooLarge(stream, maxBytes));
  }

  get value(): State {
    return this.#value;
  }

  get head(): Head {
    return this.#head;
  }

  get caughtUp(): boolean {
    return this.#caughtUp;
  }

  get items(): number {
    return this.#footprint.items(this.value);
  }

  get bytes(): number {
    return this.#footprint.bytes(this.value);
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
    return decideAll(this.decider, commands, this.#value);
  }

  /** Applies events that were appended at its head; `head` is the new one. */
  advance(events: readonly Event[], head: Head): void {
    for (const event of events) this.#value = this.decider.evolve(this.#value, event);
    this.#head = head;
    this.#caughtUp = true;
    this.observer.appended(events.length);
  }

  /**
   * Applies the page after the head. Throws `UnreadableHistory` if the codec or the decider rejects an event, and as
   * {@link #mustFit} does.
   */
  apply(page: EventPage): void {
    const before = this.#head.version;
    for (const stored of page.events) this.#evolve(stored);
    this.observer.loaded(page.events.length);
    const { version } = this.#head;
    const step = (reached: number) => Math.floor(reached / PROGRESS_STEP);
    if (step(version) > step(before)) this.observer.loading(this.stream, version);
    this.#mustFit();
    this.#caughtUp ||= !page.more;
  }

  /** Throws as {@link #mustFit} does. */
  replaceBy({ state, head }: StateAtHead<State>): void {
    this.#value = state;
    this.#head = head;
    this.#mustFit();
  }

  /** The store does not have this history, or no longer. */
  loseHistory(): void {
    this.observer.historyLost(this.stream, this.#head);
    this.startOver();
  }

  startOver(): void {
    this.#value = this.decider.initialState();
    this.#head = BEGINNING;
    this.#caughtUp = false;
  }

  #evolve(stored: StoredEvent): void {
    const event = decodeEvent(this.options.codec, stored);
    this.#value = evolveRecorded(this.decider, this.#value, event);
    this.#head = headOf(stored);
  }

  /** Throws {@link StoreUnavailable} if the state does not fit into memory, and drops it. */
  #mustFit(): void {
    const refusal = this.#size.checkLoad(this.bytes);
    if (refusal === undefined && this.memory.makeRoom()) return;
    this.startOver();
    // Its memory is free at once: another load may need it in the same turn.
    this.memory.makeRoom();
    const full = 'the memory is full of histories that are being loaded';
    throw refusal ?? new StoreUnavailable(full, { reason: 'loading' });
  }
}
