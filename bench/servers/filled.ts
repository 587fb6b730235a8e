/**
 * plant-store in memory, with an initial history. It reports the status
 * of its event loop and its heap. It runs the compiled service.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { ServerStatus, FilledUser, InitialData } from './status';
import { PLANT, announce } from './shared';

interface Head {
  readonly version: number;
  readonly commit: string;
}

interface Store {
  append(
    stream: string,
    head: Head,
    commit: string,
    events: object[],
  ): Promise<{ status: string; head: Head }>;
}

const AT_ONCE = 1_000;

async function main({ service, users }: InitialData): Promise<void> {
  // Loaded from the given folder, because its sources are not part of this compilation.
  const part = (name: string) => require(`${service}/dist/${name}`);
  const eventStore: Store = new (part('adapters/memory').MemoryEventStore)();
  for (const user of users) await fill(eventStore, user);
  const { config, problems } = part('service/config').readConfig({
    PORT: '0',
    LOG_LEVEL: 'warn',
    CACHE_MAX_PLANTS: '100000000',
    AUTH_TOKENS: users.map(({ name }) => `${name}:${name}`).join(','),
  });
  if (problems) throw new Error(JSON.stringify(problems));
  const { url } = await part('service/bootstrap').bootstrap(config, { eventStore });

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

/** Writes to the event store directly, because over HTTP it would take minutes. */
async function fill(store: Store, { name, plants, deleted }: FilledUser): Promise<void> {
  let head: Head = { version: 0, commit: '' };
  for (let first = 0; first < deleted + plants; first += AT_ONCE) {
    const events: object[] = [];
    for (let id = first; id < Math.min(first + AT_ONCE, deleted + plants); id++) {
      // A concatenated text, as the ids of requests are.
      events.push({ type: 'PlantCreated', id: `${id}`, ...PLANT });
      if (id < deleted) events.push({ type: 'PlantDeleted', id: `${id}` });
    }
    const appended = await store.append(name, head, `commit-${first}`, events);
    if (appended.status !== 'appended') throw new Error(`the history was not recorded: ${appended.status}`);
    head = appended.head;
  }
}

void main(JSON.parse(process.argv[2]!) as InitialData);
