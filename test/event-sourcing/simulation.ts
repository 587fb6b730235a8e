import { MemoryEventStore } from '../../src/adapters/memory/event-store';
import { type Listing, PlantStore, type User, parseUser, plantListCodec } from '../../src/application';
import type { EventStore, Head, RecordedEvent, SnapshotOutcome } from '../../src/event-sourcing';
import type { Decision, PlantEvent } from '../../src/domain';
import { ManualClock, untilIdle } from '../support/manual-clock';
import { type Call, ScriptedStore } from '../support/scripted-store';
import { PendingRequest, type Outcome, type Request, plant, plantId } from './pending-request';
import type { Move, Schedule } from './schedule';
import { SimulatedSnapshots } from './simulated-snapshots';

// Simulates several instances over one store, with several clients each. A
// schedule controls every call.

export const TIMEOUT_MS = 200;
const CLIENTS_PER_INSTANCE = 3;
const USERS = [parseUser('ada')!, parseUser('bob')!];

/** A request of a client, and its outcome. `asked` and `answered` are logical, unique times. */
export class SimulatedRequest {
  answered = Infinity;
  tookMs = Infinity;
  readonly #request: PendingRequest;

  constructor(
    readonly user: string,
    readonly request: Request,
    readonly asked: number,
    answer: Promise<Decision | Listing>,
    settled: (request: SimulatedRequest) => void,
  ) {
    this.#request = new PendingRequest(answer, () => settled(this));
  }

  get outcome(): Outcome {
    return this.#request.outcome;
  }

  /** The head of a listing. */
  get head(): Head | undefined {
    return this.#request.head;
  }
}

export interface SimulationResult {
  readonly requests: readonly SimulatedRequest[];
  /** The last requests: a list for each user from each instance, at the end. */
  readonly lists: readonly SimulatedRequest[];
  /** The recorded events of each user, at the end. */
  readonly histories: ReadonlyMap<string, readonly RecordedEvent<PlantEvent>[]>;
  /** What happened to snapshots, in order. */
  readonly snapshots: readonly SnapshotOutcome[];
}

/**
 * Plays the moves of a schedule. Then all faults end, lost calls are executed, and each instance lists.
 * @param connect wraps the store that the instances use.
 */
export async function simulate(
  schedule: Schedule,
  connect: (store: EventStore<PlantEvent>) => EventStore<PlantEvent> = (store) => store,
): Promise<SimulationResult> {
  const simulation = new Simulation(schedule, connect);
  for (const move of schedule.moves) await simulation.play(move);
  await simulation.settle();
  return simulation.collectResult();
}

interface Client {
  readonly instance: PlantStore;
  busy: boolean;
}

class Simulation {
  readonly #clock = new ManualClock();
  readonly #store: ScriptedStore;
  readonly #snapshots = new SimulatedSnapshots(this.#clock);
  readonly #snapshotOutcomes: SnapshotOutcome[] = [];
  readonly #instances: readonly PlantStore[];
  readonly #clients: readonly Client[];
  readonly #attempts: SimulatedRequest[] = [];
  /** Calls without a reply, or with an unknown outcome: they may still be executed. */
  readonly #lost: Call[] = [];
  #moment = 0;
  #names = 0;
  #commits = 0;

  constructor(
    { instances, pageSize, snapshotEvery, ...limits }: Schedule,
    connect: (store: EventStore<PlantEvent>) => EventStore<PlantEvent>,
  ) {
    this.#store = new ScriptedStore(() => new MemoryEventStore<PlantEvent>(pageSize));
    const newInstance = () =>
      new PlantStore({
        store: connect(this.#store),
        clock: this.#clock,
        mintCommit: () => `commit-${++this.#commits}`,
        timeoutMs: TIMEOUT_MS,
        snapshots: { store: this.#snapshots, codec: plantListCodec, every: snapshotEvery },
        observer: { snapshot: (_, outcome) => void this.#snapshotOutcomes.push(outcome) },
        ...limits,
      });
    this.#instances = Array.from({ length: instances }, newInstance);
    this.#clients = this.#instances.flatMap((instance) =>
      Array.from({ length: CLIENTS_PER_INSTANCE }, () => ({ instance, busy: false })),
    );
  }

  async play(move: Move): Promise<void> {
    if (move.type === 'pass') return this.#clock.pass(move.ms);
    if (move.type === 'ask') {
      const idle = this.#clients.filter(({ busy }) => !busy);
      const client = pick(idle, move.nth);
      if (client !== undefined) this.#ask(client, USERS[move.user]!, this.#named(move.request));
      return untilIdle();
    }
    if (move.type === 'snapshots') return void (this.#snapshots.are = move.are);
    if (move.type === 'failover') return this.#store.loseTail(USERS[0]!, move.keep);
    if (move.type === 'land') return pick(this.#lost, move.nth)?.execute();

    const call = pick(this.#store.calls, move.nth);
    if (call === undefined) return;
    if (['lose', 'hang', 'failWithBug'].includes(move.type)) this.#lost.push(call);
    // An executed call cannot be refused any more.
    if (move.type === 'refuse' && call.executed) return call.lose();
    return call[move.type]();
  }

  async settle(): Promise<void> {
    this.#snapshots.are = 'whole';
    // A load continues without its requests, one page per step.
    for (let elapsed = 0; elapsed <= 3 * TIMEOUT_MS || this.#store.calls.length > 0; elapsed += 50) {
      for (const call of [...this.#store.calls]) await call.answer();
      await this.#clock.pass(50);
    }
    for (const call of this.#lost) await call.execute();
  }

  async collectResult(): Promise<SimulationResult> {
    const before = this.#attempts.length;
    this.#store.held = false;
    for (const instance of this.#instances) {
      for (const user of USERS) this.#ask({ instance, busy: false }, user, { type: 'list' });
      await untilIdle();
    }
    const lists = this.#attempts.slice(before);

    const histories = new Map<string, RecordedEvent<PlantEvent>[]>();
    for (const user of USERS) histories.set(user, await this.#store.history(user));
    return { requests: this.#attempts, lists, histories, snapshots: this.#snapshotOutcomes };
  }

  #ask(client: Client, user: User, request: Request): void {
    client.busy = true;
    const arrived = this.#clock.now();
    const asked = ++this.#moment;
    const settled = (request: SimulatedRequest) => {
      client.busy = false;
      request.answered = ++this.#moment;
      request.tookMs = this.#clock.now() - arrived;
    };
    this.#attempts.push(
      new SimulatedRequest(user, request, asked, sendRequest(client.instance, user, request), settled),
    );
  }

  #named(request: Request): Request {
    return request.type === 'create' ? { ...request, name: `plant ${++this.#names}` } : request;
  }
}

function sendRequest(instance: PlantStore, user: User, request: Request): Promise<Decision | Listing> {
  switch (request.type) {
    case 'create':
      return instance.create(user, plant(request.id, request.name));
    case 'delete':
      return instance.delete(user, plantId(request.id));
    case 'list':
      return instance.list(user);
  }
}

function pick<T>(from: readonly T[], nth: number): T | undefined {
  return from[nth % from.length];
}
