import { MemoryEventStore } from '../../src/adapters/memory/event-store';
import {
  type EventStore,
  type Head,
  type Listing,
  PlantStore,
  type RecordedEvent,
  type User,
  parseUser,
} from '../../src/application';
import type { Decision } from '../../src/domain';
import { ManualClock, quiet } from '../support/manual-clock';
import { type Call, ScriptedStore } from '../support/scripted-store';
import { Asked, type Outcome, type Wish, plant, plantId } from './asking';
import type { Move, Schedule } from './schedule';

// The life of a service: several instances over one store, several clients at
// each, and everything between them goes as a schedule says.

export const TIMEOUT_MS = 200;
const CLIENTS_PER_INSTANCE = 3;
const USERS = [parseUser('ada')!, parseUser('bob')!];

/** What one client asked, and how it went. Moments are counted, so that no two are the same. */
export class Attempt {
  answered = Infinity;
  tookMs = Infinity;
  readonly #request: Asked;

  constructor(
    readonly user: string,
    readonly wish: Wish,
    readonly asked: number,
    answer: Promise<Decision | Listing>,
    settled: (attempt: Attempt) => void,
  ) {
    this.#request = new Asked(answer, () => settled(this));
  }

  get outcome(): Outcome {
    return this.#request.outcome;
  }

  /** The head that came with a list. */
  get head(): Head | undefined {
    return this.#request.head;
  }
}

export interface Life {
  readonly attempts: readonly Attempt[];
  /** The last of them: what each instance listed to each user when all was over. */
  readonly lists: readonly Attempt[];
  /** What each user's stream held in the end. */
  readonly histories: ReadonlyMap<string, readonly RecordedEvent[]>;
}

/**
 * Plays the moves; then every fault ends, whatever was lost and can still land lands, and each instance lists.
 * @param connect what the instances see of the store.
 */
export async function live(
  schedule: Schedule,
  connect: (store: EventStore) => EventStore = (store) => store,
): Promise<Life> {
  const service = new Service(schedule, connect);
  for (const move of schedule.moves) await service.play(move);
  await service.calmDown();
  return service.lookBack();
}

interface Client {
  readonly instance: PlantStore;
  busy: boolean;
}

class Service {
  readonly #clock = new ManualClock();
  readonly #store: ScriptedStore;
  readonly #instances: readonly PlantStore[];
  readonly #clients: readonly Client[];
  readonly #attempts: Attempt[] = [];
  /** Calls whose callers heard nothing, or nothing certain: they may still be carried out. */
  readonly #lost: Call[] = [];
  #moment = 0;
  #names = 0;
  #commits = 0;

  constructor({ instances, pageSize, ...limits }: Schedule, connect: (store: EventStore) => EventStore) {
    this.#store = new ScriptedStore(() => new MemoryEventStore(pageSize));
    const newInstance = () =>
      new PlantStore({
        store: connect(this.#store),
        clock: this.#clock,
        mintCommit: () => `commit-${++this.#commits}`,
        timeoutMs: TIMEOUT_MS,
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
      if (client !== undefined) this.#ask(client, USERS[move.user]!, this.#named(move.wish));
      return quiet();
    }
    if (move.type === 'failover') return this.#store.loseTail(USERS[0]!, move.keep);
    if (move.type === 'land') return pick(this.#lost, move.nth)?.execute();

    const call = pick(this.#store.calls, move.nth);
    if (call === undefined) return;
    if (['lose', 'hang', 'stumble'].includes(move.type)) this.#lost.push(call);
    // Who has carried a call out cannot refuse it any more.
    if (move.type === 'refuse' && call.executed) return call.lose();
    return call[move.type]();
  }

  async calmDown(): Promise<void> {
    // A load goes on without its requests, a page a step.
    for (let elapsed = 0; elapsed <= 3 * TIMEOUT_MS || this.#store.calls.length > 0; elapsed += 50) {
      for (const call of [...this.#store.calls]) await call.answer();
      await this.#clock.pass(50);
    }
    for (const call of this.#lost) await call.execute();
  }

  async lookBack(): Promise<Life> {
    const before = this.#attempts.length;
    this.#store.held = false;
    for (const instance of this.#instances) {
      for (const user of USERS) this.#ask({ instance, busy: false }, user, { type: 'list' });
      await quiet();
    }
    const lists = this.#attempts.slice(before);

    const histories = new Map<string, RecordedEvent[]>();
    for (const user of USERS) histories.set(user, await this.#store.history(user));
    return { attempts: this.#attempts, lists, histories };
  }

  #ask(client: Client, user: User, wish: Wish): void {
    client.busy = true;
    const arrived = this.#clock.now();
    const asked = ++this.#moment;
    const settled = (attempt: Attempt) => {
      client.busy = false;
      attempt.answered = ++this.#moment;
      attempt.tookMs = this.#clock.now() - arrived;
    };
    this.#attempts.push(new Attempt(user, wish, asked, fulfil(client.instance, user, wish), settled));
  }

  #named(wish: Wish): Wish {
    return wish.type === 'create' ? { ...wish, name: `plant ${++this.#names}` } : wish;
  }
}

function fulfil(instance: PlantStore, user: User, wish: Wish): Promise<Decision | Listing> {
  switch (wish.type) {
    case 'create':
      return instance.create(user, plant(wish.id, wish.name));
    case 'delete':
      return instance.delete(user, plantId(wish.id));
    case 'list':
      return instance.list(user);
  }
}

function pick<T>(from: readonly T[], nth: number): T | undefined {
  return from[nth % from.length];
}
