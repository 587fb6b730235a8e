import { type Listing, type PlantStore, type User, parseUser, plantListCodec } from '../../src/application';
import { type Decision, type PlantEvent, PlantList } from '../../src/domain';
import { type EventStore, type RecordedEvent, type SnapshotOutcome, headOf } from '../../src/event-sourcing';
import { type Request, created, deleted, plant, plantId } from '../event-sourcing/pending-request';
import { ManualClock } from '../support/manual-clock';
import { Network } from './network';
import { RedisModel } from './redis-model';
import type { Move, Schedule } from './schedule';
import { SimulatedProcess } from './simulated-process';
import { SimulatedRequest, TIMEOUT_MS } from './simulated-request';
import { type SharedSnapshots, SimulatedSnapshots } from './simulated-snapshots';

const CLIENTS_PER_INSTANCE = 3;
const USERS = [parseUser('ada')!, parseUser('bob')!];
/** Of events before the simulation. Its requests use other ids. */
const PAST_ID = 9;

/** A client that goes on retrying is served within this time after the last fault, on a clock without drift. */
export const SERVED_WITHIN_MS = 3 * TIMEOUT_MS;
const RETRY_MS = 20;
/** The latency of the network without faults. */
const LATENCY_MS = 1;
/** The longest time in which a process without requests comes to rest. */
const QUIET_WITHIN_MS = 10 * TIMEOUT_MS;

export interface SimulationOptions {
  /** Wraps the store that each instance calls. */
  readonly connect?: (store: EventStore<PlantEvent>) => EventStore<PlantEvent>;
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
  readonly pastEvents: number;
  /** Whether an acknowledged write may have been lost. */
  readonly mayLose: boolean;
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
  for (const move of schedule.moves) await simulation.play(move);
  return simulation.end();
}

/** Resolves when no promise can settle any more. Cheaper than a turn of the event loop. */
function untilSettled(): Promise<void> {
  // From a promise's callback, Node runs the next tick after all callbacks of promises.
  return new Promise((resolve) => {
    process.nextTick(resolve);
  });
}

class Client {
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

const SERVED = ['created', 'deleted', 'id-taken', 'no-such-plant'];

class Simulation {
  readonly #clock = new ManualClock(untilSettled);
  readonly #store: RedisModel<PlantEvent>;
  readonly #network: Network;
  readonly #snapshots: SharedSnapshots;
  readonly #snapshotOutcomes: SnapshotOutcome[] = [];
  readonly #processes: SimulatedProcess[];
  readonly #clients: readonly Client[];
  readonly #requests: SimulatedRequest[] = [];
  readonly #problems = new Set<string>();
  #mayLose = false;
  #moment = 0;
  #names = 0;
  #commits = 0;

  constructor(
    private readonly schedule: Schedule,
    private readonly options: SimulationOptions,
  ) {
    const { replicas, pageSize, waitReplicas, clockRates } = schedule;
    const { requestsSurviveFailover = false } = options;
    this.#store = new RedisModel(replicas, pageSize);
    this.#snapshots = { kept: new Map(), bases: this.#store.bases, are: 'whole' };
    this.#network = new Network(this.#store, { waitReplicas, requestsSurviveFailover });
    this.#recordPast();
    this.#processes = clockRates.map((_, instance) => this.#start(instance));
    this.#clients = clockRates.flatMap((_, instance) =>
      Array.from({ length: CLIENTS_PER_INSTANCE }, () => new Client(instance)),
    );
  }

  async play(move: Move): Promise<void> {
    this.#trace(() => JSON.stringify(move));
    if (move.type === 'pass') await this.#clock.pass(move.ms);
    else this.#do(move);
    await untilSettled();
  }

  async end(): Promise<SimulationResult> {
    this.#endFaults();
    const servedAfterMs = await this.#serve(this.#retryingClients(), { type: 'create', id: 1, name: '' });
    await this.#untilQuiet();
    this.#network.executeAllLate();
    const readers = this.#retryingClients();
    await this.#serve(readers, { type: 'list' });
    await this.#untilQuiet();
    return {
      requests: this.#requests,
      lists: readers.map(({ request }) => request!),
      histories: new Map(USERS.map((user) => [user, this.#store.history(user)])),
      lost: this.#store.lost,
      pastEvents: this.schedule.pastEvents,
      mayLose: this.#mayLose,
      problems: [...this.#problems],
      servedAfterMs,
      snapshots: this.#snapshotOutcomes,
    };
  }

  /** Every other event deletes the plant that the one before it created. */
  #recordPast(): void {
    const [user] = USERS;
    for (let version = 1; version <= this.schedule.pastEvents; version++) {
      const event = version % 2 === 1 ? created(PAST_ID, `past ${version}`) : deleted(PAST_ID);
      const head = this.#store.history(user!).at(-1) ?? { version: 0, commit: '' };
      this.#store.append(user!, head, `past-${version}`, [event]);
    }
  }

  #start(instance: number): SimulatedProcess {
    const { clockRates, snapshotEvery, maxWaiting, cacheMaxItems, cacheMaxBytes } = this.schedule;
    const connect = this.options.connect ?? ((store: EventStore<PlantEvent>) => store);
    return new SimulatedProcess(this.#clock, clockRates[instance]!, (process, clock) => ({
      store: connect(this.#network.storeOf(instance)),
      mintCommit: () => `commit-${++this.#commits}`,
      timeoutMs: TIMEOUT_MS,
      snapshots: {
        store: new SimulatedSnapshots(this.#snapshots, clock, () => process.alive),
        codec: plantListCodec,
        every: snapshotEvery,
      },
      observer: { snapshot: (_, outcome) => void this.#snapshotOutcomes.push(outcome) },
      maxWaiting,
      cacheMaxItems,
      cacheMaxBytes,
    }));
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
      case 'partition': {
        const instance = move.nth % this.#processes.length;
        if (move.on) this.#network.partitioned.add(instance);
        else this.#network.partitioned.delete(instance);
        return;
      }
      case 'freeze':
        this.#network.frozen = move.on;
        return;
      case 'fillMemory':
        this.#store.memoryFull = move.on;
        return;
      case 'connectReplica':
        return this.#store.connect(move.nth % this.schedule.replicas, move.on);
      case 'replicate':
        return this.#store.replicate(move.nth % this.schedule.replicas, move.writes);
      case 'promote':
        return this.#promote(move.nth % this.schedule.replicas);
      case 'restart':
        return this.#restart(move.lost);
      case 'snapshots':
        this.#snapshots.are = move.are;
        return;
      case 'archive':
        return this.#archive(USERS[move.user]!, move.commits);
      default:
        return this.#network.play(move.type, move.nth);
    }
  }

  #archive(user: User, commits: number): void {
    const history = this.#store.history(user);
    const archived = this.#store.bases.get(user)?.head.version ?? 0;
    const ends = history.slice(archived).filter(({ version, commit }) => history[version]?.commit !== commit);
    const last = ends[Math.min(commits, ends.length) - 1];
    if (last === undefined || this.#store.memoryFull) return;
    const list = PlantList.from(history.slice(0, last.version).map(({ event }) => event));
    const { format, encode } = plantListCodec;
    this.#store.archive(user, { format, head: headOf(last), chunks: [...encode(list)], archive: '' });
  }

  #kill(instance: number): void {
    this.#processes[instance]!.die();
    this.#network.disconnect(instance);
    this.#processes[instance] = this.#start(instance);
  }

  #promote(replica: number): void {
    const { replicas, waitReplicas } = this.schedule;
    if (replicas === 0) return;
    this.#network.closeConnections();
    this.#store.promote(replica);
    // Every replica has every acknowledged write.
    if (waitReplicas < replicas) this.#mayLose = true;
  }

  #restart(lost: number): void {
    this.#network.closeConnections();
    this.#store.loseWrites(lost);
    if (lost > 0) this.#mayLose = true;
  }

  #endFaults(): void {
    this.#network.frozen = false;
    this.#network.partitioned.clear();
    this.#store.memoryFull = false;
    for (let replica = 0; replica < this.schedule.replicas; replica++) this.#store.connect(replica, true);
    // Snapshots stay as they are: none but a base is needed to serve a request.
    if (this.#snapshots.are === 'unavailable') this.#snapshots.are = 'torn';
  }

  /** Each client sends the request until it is served. Resolves with the time that this takes, in ms. */
  async #serve(clients: readonly Client[], request: Request): Promise<number> {
    const start = this.#clock.now();
    const limit = this.#slowest(SERVED_WITHIN_MS);
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
      }
      await this.#step();
    }
  }

  #retryingClients(): Client[] {
    return this.schedule.clockRates.flatMap((_, instance) => USERS.map((user) => new Client(instance, user)));
  }

  /** A time of the slowest clock. */
  #slowest(ms: number): number {
    return ms / Math.min(...this.schedule.clockRates);
  }

  /** Every request reaches the store, and every reply its caller. Then time passes. */
  async #step(): Promise<void> {
    await untilSettled();
    const idle = this.#network.calls.length === 0;
    this.#network.answerAll();
    await this.#clock.pass(idle ? RETRY_MS : LATENCY_MS);
  }

  /** Loads and saves continue without a request, and every alarm is used up. */
  async #untilQuiet(): Promise<void> {
    const end = this.#clock.now() + this.#slowest(QUIET_WITHIN_MS);
    while (this.#clock.waiting > 0 || this.#network.calls.length > 0) {
      if (this.#clock.now() > end) {
        this.#problems.add('calls or alarms are left over');
        break;
      }
      await this.#step();
    }
    for (const process of this.#processes) for (const leak of process.leaks()) this.#problems.add(leak);
  }

  #send(client: Client, user: User, request: Request): void {
    // Unique names, so that a list shows which requests took effect.
    const named = request.type === 'create' ? { ...request, name: `plant ${++this.#names}` } : request;
    const process = this.#processes[client.instance]!;
    const arrived = this.#clock.now();
    const settled = (request: SimulatedRequest) => {
      request.answered = ++this.#moment;
      request.tookMs = this.#clock.now() - arrived;
      this.#trace(() => `request ${request.asked}: ${JSON.stringify(request.outcome)}`);
    };
    const asked = ++this.#moment;
    this.#trace(() => `request ${asked}: ${JSON.stringify(named)} of ${user} to instance ${client.instance}`);
    client.request = new SimulatedRequest(
      user,
      named,
      asked,
      process,
      sendRequest(process.plants, user, named),
      settled,
    );
    this.#requests.push(client.request);
    // A request is what makes a queue longer.
    for (const exceeded of process.exceededBounds()) this.#problems.add(exceeded);
  }

  #trace(line: () => string): void {
    this.options.trace?.(`${this.#clock.now()} ms: ${line()}`);
  }
}

function sendRequest(plants: PlantStore, user: User, request: Request): Promise<Decision | Listing> {
  switch (request.type) {
    case 'create':
      return plants.create(user, plant(request.id, request.name));
    case 'delete':
      return plants.delete(user, plantId(request.id));
    case 'list':
      return plants.list(user);
  }
}

function pick<T>(from: readonly T[], nth: number): T | undefined {
  return from[nth % from.length];
}
