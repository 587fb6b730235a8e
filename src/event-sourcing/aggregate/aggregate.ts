import type { Decider, Decision } from '../decider';
import { LoadQueue } from '../loading/load-queue';
import { SaveSlot } from '../loading/save-slot';
import { StreamSnapshots } from '../loading/stream-snapshots';
import type { EncodedEvent, Head } from '../ports/event-store';
import { isStoreFault, OutcomeUnknown } from '../ports/faults';
import type { StreamName } from '../ports/stream-name';
import type { AggregateOptions } from './aggregate-options';
import { HistoryLoader } from './history-loader';
import { type Caller, RequestQueue, type RoundRequest } from './request-queue';
import { SafeObserver } from './safe-observer';
import { StreamCalls } from './stream-calls';
import { type AggregateMemory, StreamState } from './stream-state';

/** How long a state that finished loading without a waiting request is kept for the client's retry. */
const KEEP_LOADED_MS = 10_000;

/** Derives a value from a stream's state and its head. */
export type View<State, T> = (state: State, head: Head) => T;

const UNBOUNDED: AggregateMemory = { makeRoom: () => true };

/**
 * The state of one stream, in memory. Executes concurrent requests in rounds.
 *
 * Requests that arrive while a round is in flight wait for the next one. A round
 * is one store call for all its requests: an append at the known head, which
 * commits the commands as a batch, or a read after it. Either call is also the
 * read barrier: it proves that the state was current at a moment after every
 * request of the round had arrived. No request joins a round in flight: that
 * moment may be before its arrival, and its read would be stale.
 *
 * The state changes only by events that the store confirmed. So it is never
 * rolled back, and an unconfirmed append that arrives late is fenced by its
 * expected head.
 */
export class Aggregate<Command, Event, Rejection, State> {
  readonly #state: StreamState<Command, Event, Rejection, State>;
  readonly #requests: RequestQueue<Command, Decision<Event, Rejection>>;
  readonly #calls: StreamCalls;
  readonly #loader: HistoryLoader<State>;
  readonly #snapshots: StreamSnapshots<State> | undefined;
  readonly #observer: SafeObserver;
  #running = false;
  #keepUntil: number | undefined;

  constructor(
    readonly stream: StreamName,
    decider: Decider<Command, Event, Rejection, State>,
    private readonly options: AggregateOptions<Command, Event, State>,
    private readonly memory: AggregateMemory = UNBOUNDED,
  ) {
    const { store, clock, timeoutMs, maxWaiting, commandBytes, tracer } = options;
    const { loads = new LoadQueue(clock, 2 * timeoutMs), saves = new SaveSlot() } = options;
    this.#observer = SafeObserver.of(options.observer);
    this.#calls = new StreamCalls(stream, store, clock);
    this.#requests = new RequestQueue({
      clock,
      timeoutMs,
      maxWaiting,
      commandBytes,
      tracer,
      retryAfterMs: () => this.#loader.retryAfterMs(),
      abandoned: () => this.#calls.abandon(),
    });
    this.#state = new StreamState(stream, decider, options, this.#observer, memory);
    this.#snapshots =
      options.snapshots &&
      new StreamSnapshots(stream, decider, options.snapshots, saves, (outcome, cause) =>
        this.#observer.snapshot(stream, outcome, cause),
      );
    this.#loader = new HistoryLoader(this.#state, {
      stream,
      store,
      calls: this.#calls,
      queue: loads,
      snapshots: this.#snapshots,
      wanted: () => this.#requests.pending,
      ended: () => this.#loadEnded(),
    });
  }

  /** Number of items in the state; see `Footprint`. */
  get items(): number {
    return this.#state.items;
  }

  /** Estimated memory of the state, in bytes. */
  get bytes(): number {
    return this.#state.bytes;
  }

  /** Number of requests that wait for the next round. */
  get waiting(): number {
    return this.#requests.waiting;
  }

  /** Memory of the commands of the round in flight, in bytes. */
  get roundBytes(): number {
    return this.#requests.roundBytes;
  }

  /** Whether it may be evicted: no round, load or save is in flight, and no retry is expected soon. */
  get evictable(): boolean {
    if (this.#running || this.#loader.loading || this.#snapshots?.saving) return false;
    return this.#keepUntil === undefined || this.#keepUntil <= this.options.clock.now();
  }

  /**
   * Decides `command` and records its events. Rejects with `OutcomeUnknown`, or with `StoreUnavailable`
   * (`UnreadableHistory` is one) if nothing was written. Any other error of the store is a bug and is passed on.
   */
  execute(command: Command): Promise<Decision<Event, Rejection>> {
    return new Promise((answer, reject) => this.#enqueue(command, { answer, reject }));
  }

  /** Derives a value from the current state. Rejects with `StoreUnavailable`, or an error of `view`. */
  query<T>(view: View<State, T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const answer = () => resolve(view(this.#state.value, this.#state.head));
      this.#enqueue(undefined, { answer, reject });
    });
  }

  #enqueue(command: Command | undefined, caller: Caller<Decision<Event, Rejection>>): void {
    this.#keepUntil = undefined;
    const bytes = command === undefined ? 0 : this.#state.bytesAddedBy(command);
    const refusal =
      this.#state.refusalOf(this.#requests.waitingBytes + bytes, bytes > 0) ??
      this.#requests.add(command, bytes, caller);
    if (refusal) caller.reject(refusal);
    else if (!this.#running) this.#start();
  }

  #start(): void {
    this.#running = true;
    const { gather } = this.options;
    if (gather) gather(() => void this.#run());
    else void this.#run();
  }

  async #run(): Promise<void> {
    while (this.#running) {
      const round = this.#requests.takeRound();
      const before = this.#storeCalls;
      const endTrace = this.options.tracer?.start(
        this.stream,
        round.map(({ origin }) => origin),
      );
      let fault: unknown;
      try {
        await this.#playRound(round);
      } catch (error) {
        fault = error;
        if (!isStoreFault(error)) this.#state.startOver();
        this.#observer.fault(this.stream, error);
        for (const request of round) request.fail(error);
      }
      endTrace?.(fault);
      this.#observer.round(round.length, this.#storeCalls - before);
      this.#calls.release();
      this.#requests.endRound();
      this.#running = !this.#requests.isEmpty;
      this.#saveIfDue();
      this.memory.makeRoom();
    }
  }

  async #playRound(round: readonly RoundRequest<Command, Decision<Event, Rejection>>[]): Promise<void> {
    // Whether the state is known to have been current at a moment of this round.
    let current = false;
    for (let losses = 0; ;) {
      if (losses > 0) await this.#calls.pauseAfter(losses);
      const requests = kept(round, (request) => !request.settled);
      if (requests.length === 0) return;
      if (this.#loader.loading) {
        // An earlier round started this load, so its last page may be older than this round's requests.
        await this.#loader.load();
        continue;
      }
      const commands = kept(requests, (request) => request.command !== undefined);
      const decisions = this.#state.decide(commands.map((request) => request.command!));
      const events = eventsOf(decisions);

      if (events.length === 0) {
        if (current) {
          this.#answer(requests, decisions);
          return;
        }
        current = await this.#loader.catchUp();
        if (!current) losses++;
        continue;
      }

      const encoded = this.#encode(commands, decisions);
      if (encoded === undefined) continue;
      const writers = kept(commands, (_, index) => (decisions[index]!.events?.length ?? 0) > 0);
      const result = await this.#append(encoded, writers);
      switch (result.status) {
        case 'appended':
          this.#state.advance(events, result.head);
          this.#answer(requests, decisions);
          return;
        case 'conflict':
          if (this.#state.head.version > 0) this.#observer.conflict();
          if (result.events.length === 0)
            throw new Error('the store returned a conflict without the events that are in conflict');
          current = await this.#loader.applyNewer(result);
          if (!current) losses++;
          continue;
        case 'archived':
          failInDoubt(
            writers,
            'the events after the known head were archived before the write was confirmed',
          );
          current = await this.#loader.reload();
          losses++;
          continue;
        case 'reset':
          this.#state.loseHistory();
          current = false;
          losses++;
          failInDoubt(writers, 'the history was lost before the write was confirmed');
      }
    }
  }

  /** Calls to the store so far. */
  get #storeCalls(): number {
    return this.#calls.made + this.#loader.pagesRead;
  }

  /** Answers all requests of the round from the one state of now. */
  #answer(
    requests: readonly RoundRequest<Command, Decision<Event, Rejection>>[],
    decisions: readonly Decision<Event, Rejection>[],
  ): void {
    let next = 0;
    for (const request of requests) request.succeed(request.command && decisions[next++]);
  }

  /** The events of the decisions, in order. `undefined` if the codec throws: that command has failed, and no other one. */
  #encode(
    commands: readonly RoundRequest<Command, Decision<Event, Rejection>>[],
    decisions: readonly Decision<Event, Rejection>[],
  ): EncodedEvent[] | undefined {
    const encoded: EncodedEvent[] = [];
    for (let index = 0; index < commands.length; index++) {
      try {
        for (const event of decisions[index]!.events ?? []) encoded.push(this.options.codec.encode(event));
      } catch (error) {
        this.#observer.fault(this.stream, error);
        commands[index]!.fail(error);
        return undefined;
      }
    }
    return encoded;
  }

  #append(
    events: readonly EncodedEvent[],
    writers: readonly RoundRequest<Command, Decision<Event, Rejection>>[],
  ) {
    return this.#calls.appendUntilKnown(this.#state.head, this.options.mintCommit(), events, {
      writers,
      pending: () => this.#requests.roundIsPending,
    });
  }

  /** Saves a snapshot in the background if one is due. */
  #saveIfDue(): void {
    const state = this.#state;
    const isSaveable = () => state.caughtUp && !this.#loader.loading;
    if (this.#snapshots === undefined || !isSaveable()) return;
    const current = () => (isSaveable() ? { state: state.value, head: state.head } : undefined);
    // It cannot be evicted during the save.
    this.#snapshots.saveIfDue(state.head.version, state.items, current, () => this.memory.makeRoom());
  }

  #loadEnded(): void {
    // A running round continues.
    if (this.#running) return;
    this.#keepUntil = this.options.clock.now() + KEEP_LOADED_MS;
    this.#saveIfDue();
    this.memory.makeRoom();
  }
}

/** Fails the writers whose events may be recorded. */
function failInDoubt(writers: readonly RoundRequest<unknown, never>[], message: string): void {
  for (const request of writers) if (request.inDoubt) request.fail(new OutcomeUnknown(message));
}

/** Like `filter`, without a copy where all are kept: most rounds have one request. */
function kept<T>(all: readonly T[], keep: (each: T, index: number) => boolean): readonly T[] {
  return all.every(keep) ? all : all.filter(keep);
}

/** All events of the decisions, in order. */
function eventsOf<Event>(decisions: readonly Decision<Event, unknown>[]): readonly Event[] {
  if (decisions.length === 1) return decisions[0]!.events ?? [];
  const events: Event[] = [];
  for (const decision of decisions) for (const event of decision.events ?? []) events.push(event);
  return events;
}
