/**
 * Runs commands in this process, with captured streams, on a store of plants and of jars of coins.
 */
import { randomUUID } from 'node:crypto';
import { PassThrough, Readable, Writable } from 'node:stream';
import { run } from '../../../src/adapters/cli';
import type { CliContext } from '../../../src/adapters/cli/context';
import { KINDS, toCliKind } from '../../../src/adapters/cli/kinds';
import { MemoryCheckpoints } from '../../../src/adapters/memory/checkpoints';
import { MemoryEventStore } from '../../../src/adapters/memory/event-store';
import { systemClock } from '../../../src/adapters/system';
import { PlantStore } from '../../../src/application';
import * as engine from '../../../src/event-sourcing';
import { created, deleted, plantStreamOf } from '../../support/given';

/** Members that have the names of those of a line, and an event without members. */
type JarEvent =
  | { readonly type: 'Added'; readonly version: number; readonly stream: string }
  | { readonly type: 'Emptied' };

const jarKind: engine.Kind<never, JarEvent, never, number> = {
  category: 'jars',
  decider: {
    initialState: () => 0,
    decide: (command) => command,
    evolve(coins, event) {
      if (event.type === 'Emptied' && coins === 0) throw new RangeError('the jar is empty');
      return event.type === 'Added' ? coins + event.version : 0;
    },
  },
  codec: engine.jsonCodec<JarEvent>({
    Added: { version: Number.isSafeInteger, stream: (text) => typeof text === 'string' },
    Emptied: {},
  }),
};
const kinds = [...KINDS, toCliKind(jarKind, { items: { name: 'coin', count: (coins) => coins } })];

export const ADDED: JarEvent = { type: 'Added', version: 3, stream: '"x"' };
export const EMPTIED: JarEvent = { type: 'Emptied' };

export const ALICE = plantStreamOf('alice');
export const nameOf = (stream: string) => engine.parseStreamName(stream)!;

/** Appends each of `commits` as one, with the id `<stream>-<first version>`. */
export async function record(
  store: MemoryEventStore,
  stream: string,
  ...commits: object[][]
): Promise<void> {
  const name = nameOf(stream);
  const { codec } = engine.kindOf(kinds, name) ?? jarKind;
  for (const events of commits) {
    const head = (await store.head(name)) ?? engine.BEGINNING;
    const encoded = events.map((event) => codec.encode(event as never));
    const { status } = await store.append(name, head, `${stream}-${head.version + 1}`, encoded);
    if (status !== 'appended') throw new Error(status);
  }
}

/** A store with unusual texts, and commits of one, two and three events; pages of two events. */
export async function aStore(): Promise<MemoryEventStore> {
  const store = new MemoryEventStore(2);
  const cactus = created(2, '\u0000"\ud83c\udf35" \u2028', '');
  await record(store, 'plants/alice', [created(1, 'Fern', 'indoor')], [cactus, deleted(1)]);
  await record(store, 'plants/auth0|{b}', [created(1, 'Moss'), deleted(1), created(1, 'Moss')]);
  await record(store, 'jars/alice', [ADDED, EMPTIED, ADDED]);
  return store;
}

export const exported = async (store: MemoryEventStore, ...typed: string[]) =>
  (await runCli({ store }, 'events export --quiet', ...typed)).out;

export interface CliSetup extends Partial<CliContext> {
  readonly store?: MemoryEventStore;
  readonly snapshots?: engine.SnapshotStore;
  /** The content of standard input. */
  readonly stdin?: string | Uint8Array | Readable;
  /** Whether all three streams are a terminal. */
  readonly isTerminal?: boolean;
  readonly stdout?: Writable;
}

/**
 * Starts a command; `texts` are its output so far. @param command words with spaces between them.
 */
export function startCli(setup: CliSetup, command = '', ...words: string[]) {
  const {
    store = new MemoryEventStore(),
    clock = systemClock,
    isTerminal: isTTY = false,
    stdin,
  } = setup;
  const [out, error] = [captured(), captured()];
  const input = stdin instanceof Readable ? stdin : new PassThrough().end(stdin ?? '');
  // As src/service/process.ts does.
  for (const stream of [setup.stdout ?? out, error]) stream.on('error', () => {});
  const context: CliContext = {
    terminal: {
      stdin: Object.assign(input, { isTTY }),
      stdout: setup.stdout ?? out,
      stderr: Object.assign(error, { isTTY }),
    },
    clock,
    kinds,
    version: '1.2.3',
    tokenFile: undefined,
    variables: [
      { name: 'PORT', meaning: 'port to `listen` on', range: '0 to 65535', fallback: '3000' },
    ],
    newCheckpoint: () => new MemoryCheckpoints(),
    newToken: async (_path, _user, _note, show) => show('plants_secret'),
    serve: async () => {},
    readerGone: () => new Promise(() => {}),
    interrupted: new AbortController().signal,
    openStore: async () => ({
      store,
      index: store,
      snapshots: setup.snapshots,
      timeoutMs: 50,
      close() {},
      plants: new PlantStore({ store, clock, mintCommit: randomUUID, timeoutMs: 2000 }),
      check: async () => ({
        writes: (await store.read(nameOf('a'), engine.BEGINNING)).status === 'read',
      }),
    }),
    ...setup,
  };
  const texts = () => ({ out: out.text, error: error.text });
  const typed = [...command.split(' ').filter(Boolean), ...words];
  return { outcome: run(typed, context).then((code) => ({ code, ...texts() })), texts };
}

export const runCli = (...typed: Parameters<typeof startCli>) => startCli(...typed).outcome;

/** A stream with the `text` that was written to it. */
export function captured() {
  const stream = Object.assign(new PassThrough(), { text: '' });
  return stream.on('data', (chunk: Buffer) => (stream.text += chunk.toString()));
}

/** The rows of a table: a line each, with ` | ` between its cells. */
export function rowsOf(table: string): string[][] {
  const textOf = (cell: string) => JSON.parse(`"${cell.trim().replaceAll('"', '\\"')}"`) as string;
  const rows = table.trim().split('\n');
  return rows.map((row) => row.split('|').map(textOf));
}
