/**
 * plant-store with an initial history. It reports the status of its event loop and its heap. It runs the compiled
 * service.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { ServerStatus, FilledUsers, InitialData } from './status';
import { PLANT, announce, partsIn } from './shared';

interface Head {
  readonly version: number;
  readonly commit: string;
}

interface Store {
  append(
    stream: string,
    head: Head,
    commit: string,
    events: readonly object[],
  ): Promise<{ status: string; head: Head }>;
}

/** How the application stores the plants of a user. */
interface Application {
  streamOf(user: string): string;
  encode(event: object): object;
}

/** Events of one append. */
const AT_ONCE = 1_000;
/** Appends in flight. */
const IN_FLIGHT = 16;

async function main({ service, users, redis }: InitialData): Promise<void> {
  const part = partsIn(service);
  const { eventStore, close } = redis
    ? await redisStore(part, redis)
    : { eventStore: new (part('adapters/memory').MemoryEventStore)(), close: undefined };
  const { plantsOf, plantCodec } = part('application');
  await fill(eventStore, { streamOf: plantsOf, encode: plantCodec.encode }, users);
  close?.();
  const names = users.flatMap(namesOf);
  const { config, problems } = part('service/config').readConfig({
    PORT: '0',
    LOG_LEVEL: 'warn',
    AUTH_TOKENS: names.map((name) => `${name}:${name}`).join(','),
    ...(redis && { EVENT_STORE: 'redis', REDIS_URL: redis }),
  });
  if (problems) throw new Error(JSON.stringify(problems));
  const { url } = await part('service/bootstrap').bootstrap(config, redis ? {} : { eventStore });

  const delays = monitorEventLoopDelay({ resolution: 1 });
  delays.enable();
  process.on('message', () => {
    globalThis.gc?.();
    const heap = globalThis.gc && process.memoryUsage().heapUsed;
    const status: ServerStatus = { longestDelayMs: delays.max / 1e6, heap };
    process.send!(status);
    // After the garbage collection, which would count as a block.
    setTimeout(() => delays.reset(), 20);
  });
  process.on('disconnect', () => process.exit(0));
  announce(Number(new URL(url).port));
}

async function redisStore(part: (name: string) => any, url: string) {
  const { store, close } = await part('adapters/redis').openRedisEventStore({
    url,
    timeoutMs: 30_000,
  });
  return { eventStore: store, close };
}

function namesOf({ name, users }: FilledUsers): string[] {
  return users === undefined ? [name] : Array.from({ length: users }, (_, number) => `${name}${number}`);
}

async function fill(store: Store, application: Application, users: readonly FilledUsers[]): Promise<void> {
  const all = users.flatMap((each) => namesOf(each).map((name) => ({ name, plants: each.plants })));
  const next = all.values();
  await Promise.all(
    Array.from({ length: IN_FLIGHT }, async () => {
      for (const { name, plants } of next) await fillUser(store, application, name, plants);
    }),
  );
}

/** Writes to the event store directly, because over HTTP it would take minutes. */
async function fillUser(
  store: Store,
  { streamOf, encode }: Application,
  name: string,
  plants: number,
): Promise<void> {
  let head: Head = { version: 0, commit: '' };
  for (let first = 0; first < plants; first += AT_ONCE) {
    const count = Math.min(AT_ONCE, plants - first);
    // Negative ids, because the load creates positive ones. A concatenated text, as the ids of requests are.
    const events = Array.from({ length: count }, (_, index) =>
      encode({ type: 'PlantCreated', id: `-${first + index + 1}`, plant: PLANT }),
    );
    const appended = await store.append(streamOf(name), head, `commit-${first}`, events);
    if (appended.status !== 'appended') throw new Error(`the history was not recorded: ${appended.status}`);
    head = appended.head;
  }
}

void main(JSON.parse(process.argv[2]!) as InitialData);
