import { type Command, type Decision, type PlantEvent, bytesAddedBy } from '../domain';
import type { CollectionOptions } from './collection-options';
import { type NewerEvents, StoreUnavailable, isStoreFault } from './event-store';
import { HistoryLoader } from './history-loader';
import { LoadQueue } from './load-queue';
import { Projection, type View } from './projection';
import { RequestQueue } from './request-queue';
import type { Caller, RoundRequest } from './round-request';
import { SafeObserver } from './safe-observer';
import { SizeLimit } from './size-limit';
import { StreamCalls } from './stream-calls';

/** Events. */
const PROGRESS_STEP = 100_000;
/** For how long a list that was loaded while no request waited any more is kept for the one that comes back. */
const KEPT_MS = 10_000;

/** Where a collection is kept. */
export interface CollectionMemory {
  /** Called when the collection may have changed its size. False where it must be given up. Must not throw. */
  fits(): boolean;
}

const UNBOUNDED: CollectionMemory = { fits: () => true };

/**
 * One user's plants, live. Turns concurrent requests into rounds.
 *
 * Requests that arrive while a round is in flight wait for the next one; a
 * round is one call to the store for all of them. The call is an append at the
 * known head, or a read after it, and either is also the read barrier: it
 * proves that the state the answers come from was the stream's at a moment
 * after every request of the round had arrived. No request joins a round that
 * was sent: that moment may be before its arrival, and its read would be stale.
 *
 * The list changes only by events that the store confirmed. So there is never
 * a guess to take back, and an unconfirmed append that arrives late is fenced
 * by its expected head.
 */
export class PlantCollection {
  #projection = new Projection();
  /** Whether the projection has reached the end of the history at any time. */
  #caughtUp = false;
  readonly #requests: RequestQueue;
  readonly #calls: StreamCalls;
  readonly #loader: HistoryLoader;
  readonly #observer: SafeObserver;
  /** How many calls to the store the round in flight has made. */
  #trips = 0;
  #running = false;
  readonly #size: SizeLimit;
  #keptUntil: number | undefined;

  constructor(
    readonly stream: string,
    private readonly options: CollectionOptions,
    private readonly memory: CollectionMemory = UNBOUNDED,
  ) {
    const { store, clock, timeoutMs, maxWaiting, commandBytes, loads } = options;
    this.#observer = SafeObserver.of(options.observer);
    this.#calls = new StreamCalls(stream, store, clock);
    const { maxBytes = Infinity } = options;
    this.#size = new SizeLimit(clock, maxBytes, () => this.#observer.tooLarge(stream, maxBytes));
    this.#requests = new RequestQueue({
      clock,
      timeoutMs,
      maxWaiting,
      commandBytes,
      retryAfterMs: () => (this.#loader.loading ? this.#loader.retryAfterMs() : undefined),
      abandoned: () => this.#calls.abandon(),
    });
    this.#loader = new HistoryLoader(loads ?? new LoadQueue(clock, 2 * timeoutMs), {
      head: () => this.#projection.head,
      read: (after) => store.read(stream, after),
      apply: (page) => this.#apply(page),
      reset: () => this.#lostHistory(),
      wanted: () => this.#requests.pending,
      ended: (complete) => this.#loadEnded(complete),
    });
  }

  /** How many plants are held in memory. */
  get size(): number {
    return this.#projection.size;
  }

  /** About how much memory they take, in bytes. */
  get bytes(): number {
    return this.#projection.bytes;
  }

  /** Whether it may be dropped from memory: nothing is under way, and no request is about to come back for it. */
  get evictable(): boolean {
    if (this.#running || this.#loader.loading) return false;
    return this.#keptUntil === undefined || this.#keptUntil <= this.options.clock.now();
  }

  /**
   * Rejects with `OutcomeUnknown`; or, and then nothing happened, with {@link StoreUnavailable}
   * (`UnreadableHistory` is one) or, as it is, with any other error of the store: a fault of its own.
   */
  execute(command: Command): Promise<Decision> {
    return new Promise((answer, reject) => this.#enqueue(command, { answer, reject }));
  }

  /** What `view` makes of the list. Rejects with {@link StoreUnavailable}, and with any other error of store or view. */
  query<T>(view: View<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const answer = () => resolve(this.#projection.show(view));
      this.#enqueue(undefined, { answer, reject });
    });
  }

  #enqueue(command: Command | undefined, caller: Caller): void {
    this.#keptUntil = undefined;
    const bytes = command === undefined ? 0 : bytesAddedBy(command);
    const refusal = this.#refusal(bytes) ?? this.#requests.add(command, bytes, caller);
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
      this.#trips = 0;
      try {
        await this.#playRound(round);
      } catch (error) {
        if (!isStoreFault(error)) this.#startOver();
        this.#observer.fault(this.stream, error);
        for (const request of round) request.fail(error);
      }
      this.#observer.round(round.length, this.#trips);
      this.#requests.endRound();
      this.#running = !this.#requests.isEmpty;
      this.memory.fits();
    }
  }

  async #playRound(round: readonly RoundRequest[]): Promise<void> {
    // Whether the list is known to have been the stream's state at some moment of this round.
    let current = false;
    for (;;) {
      const requests = round.filter((request) => !request.settled);
      if (requests.length === 0) return;
      if (this.#loader.loading) {
        // Begun by an earlier round, so its last page may be older than this round's requests.
        await this.#load();
        continue;
      }
      const commands = requests.filter((request) => request.command !== undefined);
      const decisions = this.#projection.decide(commands.map((request) => request.command!));
      const events = decisions.map(({ event }) => event).filter((event) => event !== undefined);

      if (events.length === 0) {
        if (current) {
          this.#answer(requests, decisions);
          return;
        }
        current = await this.#catchUp();
        continue;
      }

      const writers = commands.filter((_, index) => decisions[index]!.event !== undefined);
      const result = await this.#append(events, writers);
      switch (result.status) {
        case 'appended':
          this.#projection.advance(events, result.head);
          this.#caughtUp = true;
          this.#observer.appended(events.length);
          this.#answer(requests, decisions);
          return;
        case 'conflict':
          if (this.#projection.head.version > 0) this.#observer.conflict();
          current = await this.#takeIn(result);
          continue;
        case 'reset':
          this.#lostHistory();
          current = false;
      }
    }
  }

  /** Everything in the round is answered from the one state that the list has now. */
  #answer(requests: readonly RoundRequest[], decisions: readonly Decision[]): void {
    let next = 0;
    for (const request of requests) request.succeed(request.command && decisions[next++]);
  }

  #append(events: readonly PlantEvent[], writers: readonly RoundRequest[]) {
    return this.#calls.appendUntilKnown(this.#projection.head, this.options.mintCommit(), events, {
      writers,
      pending: () => this.#requests.roundIsPending,
      tried: () => this.#trips++,
    });
  }

  /** Applies what is newer. True where nothing newer was left at some moment after the call began. */
  async #catchUp(): Promise<boolean> {
    if (!this.#caughtUp) return this.#load();
    this.#trips++;
    const result = await this.#calls.read(this.#projection.head);
    if (result.status === 'read') return this.#takeIn(result);
    this.#lostHistory();
    return false;
  }

  async #takeIn(newer: NewerEvents): Promise<boolean> {
    this.#apply(newer);
    if (newer.more) return this.#load();
    this.#caughtUp = true;
    return true;
  }

  /** Waits for the load under way, or for one that begins now, until every request of the round is out of time. */
  async #load(): Promise<boolean> {
    const before = this.#loader.pagesRead;
    try {
      return await this.#calls.waitFor(this.#loader.load());
    } finally {
      this.#trips += this.#loader.pagesRead - before;
    }
  }

  /** Throws {@link StoreUnavailable} where there is no room: then what was read of the history is given up. */
  #apply({ events }: NewerEvents): void {
    const before = this.#projection.head.version;
    for (const recorded of events) this.#projection.apply(recorded);
    this.#observer.loaded(events.length);
    const { version } = this.#projection.head;
    const step = (reached: number) => Math.floor(reached / PROGRESS_STEP);
    if (step(version) > step(before)) this.#observer.loading(this.stream, version);

    const refusal = this.#size.ofLoad(this.bytes);
    if (refusal === undefined && this.memory.fits()) return;
    this.#startOver();
    throw refusal ?? new StoreUnavailable('the memory for plants is full of what is being loaded');
  }

  #loadEnded(complete: boolean): void {
    this.#caughtUp ||= complete;
    // The round, if there is one, goes on from here.
    if (this.#running) return;
    this.#keptUntil = this.options.clock.now() + KEPT_MS;
    this.memory.fits();
  }

  /** Why a request is refused whose command adds so many bytes; `undefined` where it is not. */
  #refusal(bytes: number): StoreUnavailable | undefined {
    if (bytes > 0) return this.#size.ofGrowth(this.bytes + this.#requests.waitingBytes + bytes);
    return this.#caughtUp ? undefined : this.#size.recent();
  }

  #lostHistory(): void {
    this.#observer.historyLost(this.stream, this.#projection.head);
    this.#startOver();
  }

  #startOver(): void {
    this.#projection = new Projection();
    this.#caughtUp = false;
  }
}
