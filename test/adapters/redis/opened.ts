import {
  type OpenRedisEventStore,
  type RedisOptions,
  openRedisEventStore,
} from '../../../src/adapters/redis';
import { type AppendResult, BEGINNING } from '../../../src/event-sourcing';
import { Stream } from '../../../src/testing/streams';
import { plantStreamOf } from '../../support/given';
import { until } from '../../support/until';

export const [FERN, OTHER] = [
  { type: 'Planted', data: 'fern' },
  { type: 'Planted', data: 'other' },
];

export const REFUSED = { name: 'StoreUnavailable', reason: 'store_refused' };

export interface Opened extends OpenRedisEventStore {
  /** The lines of its log, with their levels. */
  readonly log: string[];
  /** The stream of a user. */
  stream(user?: string): Stream;
  /** Appends the first event of a user. */
  append(user?: string, commit?: string): Promise<AppendResult>;
}

/** Stores that are open as long as the test. Called in the body of a suite. */
export function openedPerTest(): (options: RedisOptions) => Promise<Opened> {
  const open: OpenRedisEventStore[] = [];
  afterEach(() => open.splice(0).forEach(({ close }) => close()));
  return async (options) => {
    const log: string[] = [];
    const report = (level: string, message: string) => void log.push(`${level} ${message}`);
    // The time limit of a call must not matter on a busy machine.
    const opened = await openRedisEventStore({ timeoutMs: 20_000, report, ...options });
    open.push(opened);
    // There, even the first contact may take longer than an opening waits for it.
    if (options.report === undefined)
      await until(() =>
        log.some((line) => /^(?:info Redis is connected$|warn |error )/.test(line)),
      );
    const stream = (user = 'alice') => new Stream(opened.store, plantStreamOf(user));
    const append = (user?: string, commit = 'ours') =>
      stream(user).append(BEGINNING, commit, [FERN]);
    return { ...opened, log, stream, append };
  };
}

/** Two events of alice, which the calls are about. May be repeated. */
export async function fill({ append, stream }: Opened): Promise<void> {
  await append();
  await stream().append({ version: 1, commit: 'ours' }, 'second', [OTHER]);
}

/**
 * The calls of a store that must not answer from a server that may be stale, or has another store.
 */
export const CALLS: Readonly<Record<string, (opened: Opened) => Promise<unknown>>> = {
  'a read': ({ stream }) => stream().read({ version: 1, commit: 'ours' }),
  'an append': ({ stream }) => stream().append({ version: 2, commit: 'second' }, 'third', [FERN]),
  'a conflict': ({ stream }) => stream().append({ version: 1, commit: 'ours' }, 'third', [FERN]),
  'a repeated append': ({ stream }) =>
    stream().append({ version: 1, commit: 'ours' }, 'second', [OTHER]),
  'a lost history': ({ stream }) =>
    stream().append({ version: 1, commit: 'lost' }, 'third', [FERN]),
  'a head': ({ index, stream }) => index.head(stream().name),
  'the list of streams': ({ index }) => index.changed(39, { epoch: '', sequence: 0 }, 10),
  'an erasure': ({ index, stream }) => index.erase(stream().name),
  'a snapshot': async ({ snapshots, stream }) => snapshots.load(stream().name),
  'a saved snapshot': ({ snapshots, stream }) =>
    snapshots.save(stream().name, {
      format: 'f',
      head: { version: 2, commit: 'second' },
      chunks: ['a'],
    }),
  'a saved checkpoint': async ({ checkpoints }) =>
    checkpoints('tags').save({
      bucket: 39,
      expectedRevision: 0,
      position: { epoch: 'e', sequence: 1 },
      heads: new Map(),
    }),
  'a check': ({ check }) => check(),
  'a checkpoint': async ({ checkpoints }) => checkpoints('tags').load(39, []),
};
