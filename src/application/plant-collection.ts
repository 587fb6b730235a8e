import type { Command, Decision, PlantEvent } from '../domain';
import type { CollectionOptions } from './collection-options';
import { type NewerEvents, OutcomeUnknown, StoreUnavailable, headOf } from './event-store';
import type { ListQuery, Listing } from './listing';
import { Projection } from './projection';
import { RoundRequest } from './round-request';
import { StreamCalls } from './stream-calls';

const FIRST_RETRY_MS = 10;
const LAST_RETRY_MS = 200;
/** Events. */
const PROGRESS_STEP = 100_000;

/**
 * One user's plants, live. Turns concurrent requests into rounds.
 *
 * Requests that arrive while a round is in flight wait for the next one; a
 * round is one trip to the store for all of them. The trip is an append at the
 * known head, or a read behind it, and either is also the read barrier: it
 * proves that the state the answers come from was the stream's at a moment
 * after every request of the round had arrived. Nobody joins a round that has
 * been sent, for that moment may be before his arrival: he would read the past.
 *
 * The list changes only by events that the store confirmed. So there is never
 * a guess to take back, and whatever of an unconfirmed append arrives late is
 * fenced by its expected head.
 */
export class PlantCollection {
  #projection = new Projection();
  readonly #calls: StreamCalls;
  #waiting: RoundRequest[] = [];
  /** The requests of the round in flight. */
  #round: readonly RoundRequest[] = [];
  /** How many calls to the store it has made. */
  #trips = 0;
  #running = false;
  #timerSet = false;

  constructor(
    readonly stream: string,
    private readonly options: CollectionOptions,
    /** Called behind every round, whatever came of it. Must not throw. */
    private readonly afterRound: () => void = () => {},
  ) {
    this.#calls = new StreamCalls(stream, options.store, options.clock);
  }

  /** How many plants are held in memory. */
  get size(): number {
    return this.#projection.size;
  }

  /** Whether any request is under way. */
  get busy(): boolean {
    return this.#running;
  }

  /**
   * Rejects with {@link OutcomeUnknown}; or, and then nothing happened, with {@link StoreUnavailable}
   * (`UnreadableHistory` is one) or, as it is, with whatever else the store threw: a fault of its own.
   */
  execute(command: Command): Promise<Decision> {
    return new Promise((resolve, reject) => this.#enqueue(command, resolve, reject));
  }

  /** Rejects with {@link StoreUnavailable}, or with whatever else the store threw. */
  query(query: ListQuery): Promise<Listing> {
    return new Promise((resolve, reject) => {
      const answer = () => resolve(this.#projection.listing(query));
      this.#enqueue(undefined, answer, reject);
    });
  }

  #enqueue(
    command: Command | undefined,
    answer: (decision: Decision) => void,
    reject: (error: unknown) => void,
  ): void {
    const { clock, timeoutMs, maxWaiting } = this.options;
    if (this.#waiting.length >= maxWaiting) {
      reject(new StoreUnavailable('too many requests are waiting for the event store'));
      return;
    }
    this.#waiting.push(new RoundRequest(command, clock.now() + timeoutMs, answer, reject));
    this.#watchDeadlines();
    if (!this.#running) this.#start();
  }

  #start(): void {
    this.#running = true;
    const { gather } = this.options;
    if (gather) gather(() => void this.#run());
    else void this.#run();
  }

  async #run(): Promise<void> {
    while (this.#running) {
      this.#round = this.#waiting;
      this.#waiting = [];
      this.#trips = 0;
      try {
        await this.#playRound();
      } catch (error) {
        if (!(error instanceof StoreUnavailable || error instanceof OutcomeUnknown)) this.#startOver();
        this.options.observer?.fault?.(this.stream, error);
        for (const request of this.#round) request.fail(error);
      }
      this.options.observer?.round?.(this.#round.length, this.#trips);
      this.#round = [];
      this.#running = this.#waiting.length > 0;
      this.afterRound();
    }
  }

  async #playRound(): Promise<void> {
    const { observer } = this.options;
    // Whether the list is known to have been the stream's state at some moment of this round.
    let current = false;
    for (;;) {
      const requests = this.#round.filter((request) => !request.settled);
      if (requests.length === 0) return;
      const commands = requests.filter((request) => request.command !== undefined);
      const decisions = this.#projection.decide(commands.map((request) => request.command!));
      const events = decisions.map(({ event }) => event).filter((event) => event !== undefined);

      if (events.length === 0 && current) {
        this.#answer(requests, decisions);
        return;
      }

      this.#trips++;
      if (events.length === 0) {
        const result = await this.#calls.read(this.#projection.head);
        if (result.status === 'reset') this.#lostHistory();
        else current = await this.#catchUp(result);
        continue;
      }

      const writers = commands.filter((_, index) => decisions[index]!.event !== undefined);
      for (const request of writers) request.inDoubt = true;
      const result = await this.#append(events, writers);
      for (const request of writers) request.inDoubt = false;
      switch (result.status) {
        case 'appended':
          this.#projection.advance(events, result.head);
          observer?.appended?.(events.length);
          this.#answer(requests, decisions);
          return;
        case 'conflict':
          if (this.#projection.head.version > 0) observer?.conflict?.();
          current = await this.#catchUp(result);
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

  /**
   * Appends until the outcome is known. After a reply was lost the same commit
   * is repeated: the store answers what the first try did, or refuses it for
   * good because the stream has moved on.
   */
  async #append(events: readonly PlantEvent[], writers: readonly RoundRequest[]) {
    const commit = this.options.mintCommit();
    let unknown = false;
    for (let pause = FIRST_RETRY_MS; ; pause = Math.min(2 * pause, LAST_RETRY_MS)) {
      try {
        return await this.#calls.append(this.#projection.head, commit, events);
      } catch (error) {
        unknown ||= !(error instanceof StoreUnavailable);
        // Until some try was lost on the way, a refusal is final: none of them happened.
        if (!unknown) for (const request of writers) request.inDoubt = false;
        const fault = !(error instanceof StoreUnavailable || error instanceof OutcomeUnknown);
        if (!unknown || fault || this.#round.every((request) => request.settled)) throw error;
      }
      await this.#calls.pause(pause);
      this.#trips++;
    }
  }

  /** Applies what is newer, page by page, fetching the next page while applying this one. True once none is left. */
  async #catchUp(newer: NewerEvents): Promise<boolean> {
    for (let page = newer; ;) {
      const last = page.events.at(-1);
      if (page.more) this.#trips++;
      const following = page.more && last !== undefined ? this.#calls.read(headOf(last)) : undefined;
      // Awaited only after this page is applied; should that throw, nobody would be left to hear of a failure.
      following?.catch(() => {});
      const before = this.#projection.head.version;
      for (const recorded of page.events) this.#projection.apply(recorded);
      if (page.more) this.#tellProgress(before);
      if (following === undefined) return !page.more;
      const result = await following;
      if (result.status === 'reset') {
        this.#lostHistory();
        return false;
      }
      page = result;
    }
  }

  #tellProgress(before: number): void {
    const { version } = this.#projection.head;
    const step = (reached: number) => Math.floor(reached / PROGRESS_STEP);
    if (step(version) > step(before)) this.options.observer?.loading?.(this.stream, version);
  }

  #lostHistory(): void {
    this.options.observer?.historyLost?.(this.stream, this.#projection.head);
    this.#startOver();
  }

  #startOver(): void {
    this.#projection = new Projection();
  }

  /**
   * One timer for all requests: they all have the same time, so the oldest
   * unsettled one is the next to run out of it.
   */
  #watchDeadlines(): void {
    if (this.#timerSet) return;
    const oldest = this.#round.find((request) => !request.settled) ?? this.#waiting[0];
    if (oldest === undefined) return;
    this.#timerSet = true;
    const { clock } = this.options;
    clock.after(Math.max(0, oldest.deadline - clock.now()), () => {
      this.#timerSet = false;
      this.#expire(clock.now());
      this.#watchDeadlines();
    });
  }

  #expire(now: number): void {
    for (const request of this.#round) if (request.deadline <= now) request.expire();
    const inTime = this.#waiting.findIndex((request) => request.deadline > now);
    const late = this.#waiting.splice(0, inTime === -1 ? this.#waiting.length : inTime);
    for (const request of late) request.expire();
    if (this.#round.every((request) => request.settled)) this.#calls.abandon();
  }
}
