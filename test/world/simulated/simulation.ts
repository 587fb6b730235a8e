import { type User, plantListCodec, plantsOf } from '../../../src/application';
import { type PlantEvent, PlantList } from '../../../src/domain';
import {
  BEGINNING,
  type EventStore,
  OutcomeUnknown,
  type RecordedEvent,
  type SnapshotOutcome,
  type StateCodec,
  StoreUnavailable,
  type StreamName,
  headOf,
  partsOf,
} from '../../../src/event-sourcing';
import { isStoreFault } from '../../../src/event-sourcing/ports/faults';
import { type PlantRequest, WRITES, sendRequest } from '../../support/plant-requests';
import { ManualClock, untilIdle } from '../../support/manual-clock';
import { SimulatedNetwork } from './network';
import { RedisNetwork } from './redis/redis-network';
import { DISK_ERROR, OUT_OF_MEMORY, RedisModel } from './redis-model';
import { type Move, type Schedule, UNLIMITED } from './schedule';
import { SimulatedProcess } from './simulated-process';
import { SimulatedProjection, SimulatedReadModel, type TransactionTimes } from './simulated-projection';
import { SimulatedRequest, TIMEOUT_MS } from './simulated-request';
import { SimulatedSubscriber } from './simulated-subscriber';
import type { SimulatedStores, StoreNetwork } from './store-network';
import { Timeline } from './timeline';
import { STREAMS, USERS } from './users';
import { created, decoded, deleted, encoded, plantEventOf } from '../../support/given';

const CLIENTS_PER_INSTANCE = 3;
/** Of events before the simulation. Its requests use other ids. */
const PAST_ID = 9;

/** The codec of plant lists, with a chunk for each row. */
const SMALL_CHUNKS: StateCodec<PlantList> = {
  ...plantListCodec,
  *encode(list) {
    for (const chunk of plantListCodec.encode(list))
      for (const row of JSON.parse(chunk) as unknown[]) yield JSON.stringify([row]);
  },
};

/** A client that goes on retrying is served within this time after the last fault, on a clock without drift. */
export const SERVED_WITHIN_MS = 3 * TIMEOUT_MS;
/** Behind the Redis adapter: the time until every instance is connected if no connection fails. */
const CONNECTED_WITHIN_MS = 20;
/** Behind the Redis adapter: the longest pause between two attempts to connect, and until the server is examined. */
const RECONNECTED_WITHIN_MS = 500 + 250;
const RETRY_MS = 20;
/** How long the simulation does nothing while subscribers wait. */
const FOLLOWING_MS = 200;
/** The latency of the network without faults. */
const LATENCY_MS = 1;
/** A subscriber has every event within this time after the last fault: it may have missed a reply or a notification. */
const FOLLOWED_WITHIN_MS = 10_000 + SERVED_WITHIN_MS;
/** Behind the Redis adapter, where each read has an outcome, and subscribers poll while notifications are impossible. */
const FOLLOWED_BEHIND_ADAPTER_MS = RECONNECTED_WITHIN_MS + SERVED_WITHIN_MS;
/** A history that lost events and is as long as before causes no notification. The next read without one finds it. */
const LOSS_NOTICED_WITHIN_MS = 5000;
const MAX_SUBSCRIBERS = 3;
/** A bucket that cannot be read is tried again after at most 30 seconds. */
const PROJECTED_WITHIN_MS = 30_000 + FOLLOWED_WITHIN_MS;
/** The longest time in which a process without requests comes to rest. */
const QUIET_WITHIN_MS = 10 * TIMEOUT_MS;

export interface SimulationOptions {
  /** Wraps the store that each instance calls. */
  readonly connect?: (store: EventStore) => EventStore;
  /** Whether a request that is under way reaches the next primary; false by default, as with TCP. */
  readonly requestsSurviveFailover?: boolean;
  /** Receives a line for each move that has an effect. */
  readonly trace?: (line: string) => void;
}

export interface SimulationResult {
  readonly requests: readonly SimulatedRequest[];
  /** The last requests: a list for each user from each instance, at the end. */
  readonly lists: readonly SimulatedRequest[];
  /** By user: the recorded events at the end, and those that were recorded and lost. */
  readonly histories: ReadonlyMap<string, readonly RecordedEvent<PlantEvent>[]>;
  readonly lost: ReadonlyMap<string, readonly RecordedEvent<PlantEvent>[]>;
  /** By user. */
  readonly timelines: ReadonlyMap<string, Timeline>;
  readonly subscribers: readonly SimulatedSubscriber[];
  readonly pastEvents: number;
  /** Whether an acknowledged write may have been lost. */
  readonly mayLose: boolean;
  /** Whether a history may have lost its base. */
  readonly mayBeUnreadable: boolean;
  /** Exceeded bounds and leaks. */
  readonly problems: readonly string[];
  /** From the last fault until every client that goes on retrying was served, in ms. */
  readonly servedAfterMs: number;
  /** What happened to snapshots, in order. */
  readonly snapshots: readonly SnapshotOutcome[];
}

/** Plays the moves of a schedule. Then all faults end, each client retries until it is served, and each instance lists. */
export async function simulate(
  schedule: Schedule,
  options: SimulationOptions = {},
): Promise<SimulationResult> {
  const simulation = new Simulation(schedule, options);
  try {
    await simulation.start();
    for (const move of schedule.moves) await simulation.play(move);
    return await simulation.end();
  } finally {
    simulation.restore();
  }
}

/** Resolves when no promise can settle any more. Cheaper than a turn of the event loop. */
function untilSettled(): Promise<void> {
  // From a promise's callback, Node runs the next tick after all callbacks of promises.
  return new Promise((resolve) => {
    process.nextTick(resolve);
  });
}

class SimulatedClient {
  request: SimulatedRequest | undefined;

  constructor(
    readonly instance: number,
    readonly user?: User,
  ) {}

  get busy(): boolean {
    return this.request?.outcome === 'pending';
  }

  /** Whether its last request was served: by an answer or a rejection, not by an error. */
  get served(): boolean {
    const outcome = this.request?.outcome;
    return outcome !== undefined && (typeof outcome !== 'string' || SERVED.includes(outcome));
  }
}

const SERVED = Object.values(WRITES).flatMap(({ acknowledged, rejected }) => [
  acknowledged,
  rejected as string,
]);

class Simulation {
  readonly #untilSettled: () => Promise<void>;
  readonly #clock: ManualClock;
  readonly #store: RedisModel;
  readonly #network: StoreNetwork;
  readonly #timelines = new Map(USERS.map((user) => [user as string, new Timeline()]));
  readonly #snapshotOutcomes: SnapshotOutcome[] = [];
  readonly #processes: SimulatedProcess[];
  readonly #clients: readonly SimulatedClient[];
  readonly #requests: SimulatedRequest[] = [];
  readonly #subscribers: SimulatedSubscriber[] = [];
  readonly #stores = new Map<SimulatedProcess, SimulatedStores>();
  readonly #readModel: SimulatedReadModel;
  readonly #projections = new Map<SimulatedProcess, SimulatedProjection>();
  readonly #problems = new Set<string>();
  #mayLose = false;
  #operatorCalls = 0;
  /** The starts of rounds that wait for the next move that sends no request. */
  #gathered: (() => void)[] = [];
  #moment = 0;
  #names = 0;
  #commits = 0;

  constructor(
    private readonly schedule: Schedule,
    private readonly options: SimulationOptions,
  ) {
    const { replicas, pageSize, feedLength, clockRates, adapter } = schedule;
    // Sockets emit their events from other callbacks than promises.
    this.#untilSettled = adapter ? untilIdle : untilSettled;
    this.#clock = new ManualClock(this.#untilSettled);
    this.#store = new RedisModel(replicas, pageSize, feedLength);
    this.#network = this.#connect();
    this.#readModel = new SimulatedReadModel(this.#store);
    this.#recordPast();
    this.#store.changed = (stream) =>
      this.#timelines
        .get(partsOf(stream as StreamName).id)!
        .add(this.#moment + 0.5, this.#store.history(stream));
    for (const stream of STREAMS) this.#store.changed(stream);
    this.#processes = clockRates.map((_, instance) => this.#start(instance));
    this.#clients = clockRates.flatMap((_, instance) =>
      Array.from({ length: CLIENTS_PER_INSTANCE }, () => new SimulatedClient(instance)),
    );
  }

  #connect(): StoreNetwork {
    const { adapter, clockRates } = this.schedule;
    const { requestsSurviveFailover = false } = this.options;
    if (adapter === undefined)
      return new SimulatedNetwork(this.#store, {
        ...this.schedule,
        instances: clockRates.length,
        requestsSurviveFailover,
      });
    return new RedisNetwork({
      ...{ ...this.schedule, ...adapter },
      ...{ clock: this.#clock, model: this.#store, trace: (line) => this.#trace(line) },
    });
  }

  restore(): void {
    this.#network.restore();
  }

  /** The instances connect. */
  async start(): Promise<void> {
    if (this.schedule.adapter) await this.#clock.pass(CONNECTED_WITHIN_MS);
  }

  async play(move: Move): Promise<void> {
    this.#trace(() => JSON.stringify(move));
    if (move.type !== 'send') this.#startRounds();
    if (move.type === 'pass') await this.#clock.pass(move.ms);
    else this.#do(move);
    await this.#untilSettled();
  }

  async end(): Promise<SimulationResult> {
    this.#startRounds();
    this.#endFaults();
    // Before the next events of each stream, which would lead a projection to those that it has skipped.
    if (this.#projections.size > 0) await this.#untilProjected();
    const servedAfterMs = await this.#serve(this.#retryingClients(), { type: 'create', id: 1, name: '' });
    if (this.#subscribers.length > 0) await this.#untilFollowed();
    await this.#untilQuiet();
    this.#network.executeAllLate();
    const readers = this.#retryingClients();
    await this.#serve(readers, { type: 'list' });
    await this.#untilQuiet();
    await this.#network.close();
    if (this.#operatorCalls > 0) this.#problems.add('a call of an operator has no outcome');
    return {
      requests: this.#requests,
      lists: readers.map(({ request }) => request!),
      histories: new Map(USERS.map((user) => [user, decoded(this.#store.history(plantsOf(user)))])),
      lost: new Map(USERS.map((user) => [user, decoded(this.#store.lost.get(plantsOf(user)) ?? [])])),
      timelines: this.#timelines,
      mayBeUnreadable: this.#store.hasLostArchive,
      subscribers: this.#subscribers,
      pastEvents: this.schedule.pastEvents,
      mayLose: this.#mayLose,
      problems: [...this.#problems, ...this.#network.problems],
      servedAfterMs,
      snapshots: this.#snapshotOutcomes,
    };
  }

  /** Every other event deletes the plant that the one before it created. */
  #recordPast(): void {
    const stream = STREAMS[0]!;
    for (let version = 1; version <= this.schedule.pastEvents; version++) {
      const event = version % 2 === 1 ? created(PAST_ID, `past ${version}`) : deleted(PAST_ID);
      const head = this.#store.history(stream).at(-1) ?? { version: 0, commit: '' };
      this.#store.append(stream, head, `past-${version}`, encoded(event));
    }
  }

  #start(instance: number): SimulatedProcess {
    const { clockRates, snapshotEvery, maxWaiting, cacheMaxItems, cacheMaxBytes, gathers } = this.schedule;
    const connect = this.options.connect ?? ((store: EventStore) => store);
    const hasLost = (stream: string) => this.#store.lost.has(stream);
    return new SimulatedProcess(this.#clock, clockRates[instance]!, hasLost, (process, clock) => {
      const stores = this.#network.open(instance, process, clock);
      const { store, snapshots } = stores;
      this.#stores.set(process, stores);
      return {
        store: connect(store),
        mintCommit: () => `commit-${++this.#commits}`,
        timeoutMs: TIMEOUT_MS,
        snapshots: {
          store: snapshots,
          codec: this.#codec,
          every: snapshotEvery,
        },
        gather: gathers ? (start) => void this.#gathered.push(() => process.alive && start()) : undefined,
        observer: { snapshot: (_, outcome) => void this.#snapshotOutcomes.push(outcome) },
        maxWaiting,
        cacheMaxItems,
        cacheMaxBytes,
      };
    });
  }

  #do(move: Exclude<Move, { type: 'pass' }>): void {
    switch (move.type) {
      case 'send': {
        const client = pick(
          this.#clients.filter(({ busy }) => !busy),
          move.nth,
        );
        if (client !== undefined) this.#send(client, USERS[move.user]!, move.request);
        return;
      }
      case 'kill':
        return this.#kill(move.nth % this.#processes.length);
      case 'fillMemory':
        this.#store.refusal = move.on ? OUT_OF_MEMORY : undefined;
        break;
      case 'breakDisk':
        this.#store.refusal = move.on ? DISK_ERROR : undefined;
        break;
      case 'connectReplica':
        this.#store.connect(move.nth % this.schedule.replicas, move.on);
        break;
      case 'replicate':
        this.#store.replicate(move.nth % this.schedule.replicas, move.writes);
        break;
      case 'promote':
      case 'failOver':
        return this.#promote(move.nth % this.schedule.replicas, move.type === 'failOver');
      case 'restart':
        return this.#restart(move.lost);
      case 'subscribe':
        return this.#subscribe(move);
      case 'resubscribe': {
        const subscriber = pick(this.#subscribers, move.nth);
        return subscriber?.subscribe(pick(this.#processes, move.instance)!);
      }
      case 'project': {
        const process = pick(this.#processes, move.nth)!;
        if (!this.#projections.has(process)) this.#project(process, move);
        return;
      }
      case 'advance':
        return this.#network.advance();
      case 'archive':
        return this.#archive(move.nth, STREAMS[move.user]!, move.commits);
      case 'trim': {
        const archive = this.#network.archive(move.nth);
        const stream = STREAMS[move.user]!;
        if (archive)
          this.#inBackground(archive.trim(stream, this.#store.bases.get(stream)?.head ?? BEGINNING));
        else if (this.#store.refusal !== DISK_ERROR) this.#store.trim(stream, move.events);
        return;
      }
      default:
    }
    // A blocked WAIT counts the replicas again, too.
    this.#network.play(move);
  }

  get #codec(): StateCodec<PlantList> {
    return this.schedule.smallChunks ? SMALL_CHUNKS : plantListCodec;
  }

  #subscribe({ nth, user, after, pauseMs }: Extract<Move, { type: 'subscribe' }>): void {
    if (this.#subscribers.length === MAX_SUBSCRIBERS) return;
    const history = this.#store.history(STREAMS[user]!);
    const head = history[(after % (history.length + 1)) - 1] ?? BEGINNING;
    const process = pick(this.#processes, nth)!;
    this.#subscribers.push(new SimulatedSubscriber(STREAMS[user]!, head, pauseMs, process, this.#store));
  }

  #archive(nth: number, stream: StreamName, commits: number): void {
    const history = this.#store.history(stream);
    const archived = this.#store.bases.get(stream)?.head.version ?? 0;
    const ends = history.slice(archived).filter(({ version, commit }) => history[version]?.commit !== commit);
    const last = ends[Math.min(commits, ends.length) - 1];
    if (last === undefined) return;
    const list = PlantList.from(history.slice(0, last.version).map(plantEventOf));
    const { format, encode } = this.#codec;
    const base = { format, head: headOf(last), chunks: [...encode(list)], archive: 'the seal' };
    const archive = this.#network.archive(nth);
    if (archive) this.#inBackground(archive.saveBase(stream, base, archived, async () => {}));
    else if (this.#store.refusal === undefined) this.#store.archive(stream, base);
  }

  /** A call of an operator, who repeats it after a fault. */
  #inBackground(call: Promise<unknown>): void {
    this.#operatorCalls++;
    call
      .catch((error: unknown) => {
        if (!isStoreFault(error)) this.#problems.add(`an archive fails: ${String(error)}`);
      })
      .finally(() => this.#operatorCalls--);
  }

  #kill(instance: number): void {
    const process = this.#processes[instance]!;
    for (const problem of process.calls.problems) this.#problems.add(problem);
    process.die();
    this.#network.disconnect(instance, process);
    const next = (this.#processes[instance] = this.#start(instance));
    for (const subscriber of this.#subscribers)
      if (subscriber.process === process) subscriber.subscribe(next);
    const projection = this.#projections.get(process);
    if (projection === undefined) return;
    void projection.close();
    this.#projections.delete(process);
    this.#project(next, projection.times);
  }

  #project(process: SimulatedProcess, times: TransactionTimes): void {
    const stores = this.#stores.get(process)!;
    const projection = new SimulatedProjection(process, stores, times, this.#readModel, this.#clock);
    this.#projections.set(process, projection);
  }

  #promote(replica: number, keepsOld: boolean): void {
    const { replicas, waitReplicas } = this.schedule;
    if (replicas === 0) return;
    // What is under way dies with its connection, and not in the new primary.
    if (!keepsOld) this.#network.failOver(false);
    this.#store.promote(replica);
    this.#readModel.noteLosses();
    if (keepsOld) this.#network.failOver(true);
    // Every replica has every acknowledged write.
    if (waitReplicas < replicas) this.#mayLose = true;
  }

  #restart(lost: number): void {
    this.#network.restart();
    this.#store.loseWrites(lost);
    this.#readModel.noteLosses();
    if (lost > 0) this.#mayLose = true;
  }

  #endFaults(): void {
    this.#store.refusal = undefined;
    for (let replica = 0; replica < this.schedule.replicas; replica++) this.#store.connect(replica, true);
    this.#network.endFaults();
  }

  #startRounds(): void {
    for (const start of this.#gathered.splice(0)) start();
  }

  /** Each client sends the request until it is served. Resolves with the time that this takes, in ms. */
  async #serve(clients: readonly SimulatedClient[], request: PlantRequest): Promise<number> {
    const start = this.#clock.now();
    const { adapter } = this.schedule;
    const limit = this.#slowest(SERVED_WITHIN_MS) + (adapter ? RECONNECTED_WITHIN_MS / adapter.timerRate : 0);
    for (let nextTry = 0; ;) {
      const elapsed = this.#clock.now() - start;
      const waiting = clients.filter(({ served }) => !served);
      if (waiting.length === 0) return elapsed;
      if (elapsed > limit) {
        this.#problems.add(`a client was not served within ${limit} ms of the last fault`);
        return elapsed;
      }
      if (elapsed >= nextTry) {
        nextTry = elapsed + RETRY_MS;
        for (const client of waiting) if (!client.busy) this.#send(client, client.user!, request);
        this.#startRounds();
      }
      await this.#step();
    }
  }

  #retryingClients(): SimulatedClient[] {
    const users = USERS.slice(0, this.schedule.users);
    return this.schedule.clockRates.flatMap((_, instance) =>
      users.map((user) => new SimulatedClient(instance, user)),
    );
  }

  /** A time of the slowest clock. */
  #slowest(ms: number): number {
    const { clockRates, adapter } = this.schedule;
    return ms / Math.min(...clockRates, adapter?.timerRate ?? 1);
  }

  /** Every request reaches the store, and every reply its caller. Then time passes. */
  async #step(idleMs = RETRY_MS): Promise<void> {
    await this.#untilSettled();
    const { idle } = this.#network;
    this.#network.advance();
    await this.#clock.pass(idle ? idleMs : LATENCY_MS);
  }

  get #followedWithinMs(): number {
    if (this.schedule.adapter === undefined) return FOLLOWED_WITHIN_MS;
    return FOLLOWED_BEHIND_ADAPTER_MS + (this.#store.lost.size > 0 ? LOSS_NOTICED_WITHIN_MS : 0);
  }

  /** Every subscriber has all events. Then its subscription ends. */
  async #untilFollowed(): Promise<void> {
    for (const subscriber of this.#subscribers) subscriber.hurry();
    const limit = this.#slowest(this.#followedWithinMs);
    const end = this.#clock.now() + limit;
    while (!this.#subscribers.every(({ isCurrent }) => isCurrent)) {
      if (this.#clock.now() > end) {
        this.#problems.add(`a subscriber does not have all events within ${limit} ms`);
        break;
      }
      await this.#step(FOLLOWING_MS);
    }
    for (const subscriber of this.#subscribers) subscriber.end();
    await this.#untilSettled();
    for (const { problems } of this.#subscribers) for (const problem of problems) this.#problems.add(problem);
    for (const subscriber of this.#subscribers)
      for (const leak of subscriber.leaks()) this.#problems.add(leak);
  }

  /** The read model has all events, and was informed of all that were lost. Then the projections end. */
  async #untilProjected(): Promise<void> {
    const projections = [...this.#projections.values()];
    for (const projection of projections) projection.hurry();
    const limit = this.#slowest(PROJECTED_WITHIN_MS);
    const end = this.#clock.now() + limit;
    // A history that has lost its base cannot be read any more.
    const isDone = () =>
      this.#store.hasLostArchive || (this.#readModel.isCurrent && this.#readModel.silentLosses.length === 0);
    while (!isDone() && this.#clock.now() <= end) await this.#step(FOLLOWING_MS);
    if (!isDone()) {
      if (!this.#readModel.isCurrent)
        this.#problems.add(`a read model does not have all events within ${limit} ms`);
      for (const commit of this.#readModel.silentLosses)
        this.#problems.add(`a read model was not informed that ${commit} was lost`);
    }
    for (const problem of this.#readModel.problems) this.#problems.add(problem);
    let open = projections.length;
    for (const projection of projections) void projection.close().then(() => open--);
    while (open > 0 && this.#clock.now() <= end + limit) await this.#step();
    if (open > 0) this.#problems.add('a projection does not end');
  }

  /** Loads and saves continue without a request, and every alarm is used up. */
  async #untilQuiet(): Promise<void> {
    const end = this.#clock.now() + this.#slowest(QUIET_WITHIN_MS);
    while (this.#clock.waiting > this.#network.recurringAlarms || !this.#network.idle) {
      if (this.#clock.now() > end) {
        this.#problems.add('calls or alarms are left over');
        break;
      }
      await this.#step();
    }
    for (const process of this.#processes) for (const leak of process.leaks()) this.#problems.add(leak);
  }

  #send(client: SimulatedClient, user: User, request: PlantRequest): void {
    // Unique names, so that a list shows which requests took effect.
    const named = hasName(request) ? { ...request, name: `plant ${++this.#names}` } : request;
    const process = this.#processes[client.instance]!;
    const arrived = this.#clock.now();
    const settled = (request: SimulatedRequest) => {
      request.answered = ++this.#moment;
      request.tookMs = this.#clock.now() - arrived;
      const wrong = this.#wrongError(request, process, {
        mostWaiting,
        // Also just before it arrived: a load between two of its pages may have the fault of the next one.
        hasFailed: process.calls.failedAt >= arrived,
      });
      if (wrong !== undefined) this.#problems.add(`${user}: ${named.type} failed ${wrong}`);
      this.#trace(() => `request ${request.asked}: ${JSON.stringify(request.outcome)}`);
    };
    const asked = ++this.#moment;
    this.#trace(() => `request ${asked}: ${JSON.stringify(named)} of ${user} to instance ${client.instance}`);
    client.request = new SimulatedRequest(
      user,
      named,
      asked,
      process,
      process.answered(user, () => sendRequest(process.plants, user, named)),
      settled,
    );
    this.#requests.push(client.request);
    const { mostWaiting } = process;
  }

  /** Why the error of a request, if it has one, is not the one that it should have. */
  #wrongError(
    { user, request, error, tookMs, timeoutMs }: SimulatedRequest,
    process: SimulatedProcess,
    { mostWaiting, hasFailed }: { readonly mostWaiting: number; readonly hasFailed: boolean },
  ): string | undefined {
    const { maxWaiting, cacheMaxBytes } = this.schedule;
    if (error instanceof OutcomeUnknown && hasName(request))
      return process.calls.mayBeRecorded(request.name) ? undefined : 'as unknown without an append in doubt';
    if (!(error instanceof StoreUnavailable) || tookMs >= timeoutMs) return undefined;
    switch (error.reason) {
      case 'waiting_requests':
        return mostWaiting >= maxWaiting ? undefined : 'for a queue limit that was not reached';
      case 'waiting_commands':
      case 'state_size':
      case 'loading':
        return cacheMaxBytes < UNLIMITED ? undefined : 'for a limit of memory that does not exist';
      case 'store':
        // A base that cannot be read is no failed call.
        if (hasFailed || process.calls.unsettled > 0 || this.#store.bases.has(plantsOf(user)))
          return undefined;
        return 'although no call to the store did';
      default:
        return undefined;
    }
  }

  #trace(line: () => string): void {
    this.options.trace?.(`${this.#clock.now()} ms: ${line()}`);
  }
}

function hasName(request: PlantRequest): request is PlantRequest & { readonly name: string } {
  return 'name' in request;
}

function pick<T>(from: readonly T[], nth: number): T | undefined {
  return from[nth % from.length];
}
