import { MemoryEventStore } from '../../src/adapters/memory';
import { BEGINNING, type EventStore } from '../../src/event-sourcing';
import { created, encoded, plantStreamOf } from './given';
import { metricOf } from './metrics';
import { type Answer, RawSocket } from './raw-socket';
import { until } from './until';
import { type WatchedService, startWatched } from './watched-service';

/** An in-memory store behind a slow network. It executes calls at once, but delays the replies. */
export class SlowStore extends MemoryEventStore {
  /**
   * Delays every reply by this many milliseconds, including replies that are already in flight.
   * With `Infinity` they wait until this is changed.
   */
  delayMs = 0;
  trips = 0;

  override read(...call: Parameters<EventStore['read']>) {
    return this.#late(super.read(...call));
  }

  override append(...call: Parameters<EventStore['append']>) {
    return this.#late(super.append(...call));
  }

  async #late<T>(reply: Promise<T>): Promise<T> {
    this.trips++;
    const since = performance.now();
    await until(() => performance.now() - since >= this.delayMs, Infinity);
    return reply;
  }
}

/** A service on a slow store. Its raw clients are reset when it stops. */
export class Served {
  readonly store = new SlowStore();
  service!: WatchedService;
  readonly #clients: RawSocket[] = [];

  async start(environment: Readonly<Record<string, string>> = {}): Promise<void> {
    this.service = await startWatched(environment, { eventStore: this.store });
  }

  async stop(): Promise<void> {
    this.store.delayMs = 0;
    for (const client of this.#clients.splice(0)) client.reset();
    await this.service.stop();
  }

  async restart(environment: Readonly<Record<string, string>>): Promise<void> {
    await this.stop();
    await this.start(environment);
  }

  async send(...bytes: readonly (string | Buffer)[]): Promise<RawSocket> {
    const client = await RawSocket.open(this.service.url);
    this.#clients.push(client);
    return client.send(...bytes);
  }

  async ask(bytes: string): Promise<Answer> {
    return (await this.send(bytes)).answer();
  }

  /**
   * Gives Alice plants of about 1 KB each, so that the buffers of a connection hold only a few of
   * them.
   */
  async recordPlants(count: number): Promise<void> {
    const plants = Array.from({ length: count }, (_, id) =>
      created(id, `${id} ${'long name '.repeat(98)}`),
    );
    await this.store.append(plantStreamOf('alice'), BEGINNING, 'a large list', encoded(...plants));
  }

  valueOf(metric: string): Promise<number> {
    return metricOf(this.service.url, metric);
  }
}

/** Call this in the body of a suite. Each test gets a service of its own. */
export function served(environment?: Readonly<Record<string, string>>): () => Served {
  let current: Served;
  beforeEach(() => (current = new Served()).start(environment));
  afterEach(() => current.stop());
  return () => current;
}
