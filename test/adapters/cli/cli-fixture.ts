/** Runs commands in-process, with captured streams and a store of the test. */
import { expect } from 'chai';
import { PassThrough, Readable, Writable } from 'node:stream';
import { MemoryCheckpoints } from '../../../src/adapters/memory/checkpoints';
import { MemoryEventStore } from '../../../src/adapters/memory/event-store';
import type { CliStore, CliContext } from '../../../src/adapters/cli/command';
import { run } from '../../../src/adapters/cli/run';
import { Output } from '../../../src/adapters/cli/terminal';
import { systemClock } from '../../../src/adapters/system/clock';
import { PlantStore, plantKind } from '../../../src/application';
import type {
  AnyKind,
  Clock,
  EventStore,
  LeaseStore,
  SnapshotStore,
  StreamArchive,
  StreamCatalogue,
} from '../../../src/event-sourcing';

export interface CliSetup {
  /** Plants by default. */
  readonly kinds?: readonly AnyKind[];
  readonly store?: EventStore;
  readonly catalogue?: StreamCatalogue;
  readonly snapshots?: SnapshotStore;
  readonly archive?: StreamArchive;
  readonly leases?: LeaseStore;
  readonly checkpoints?: CliStore['checkpoints'];
  readonly clock?: Clock;
  readonly environment?: Readonly<Record<string, string>>;
  /** The content of standard input. */
  readonly stdin?: string | Uint8Array | Readable;
  /** Whether all three streams are a terminal. */
  readonly isTerminal?: boolean;
  readonly stdout?: Writable;
  readonly interrupted?: AbortSignal;
  readonly newToken?: CliContext['newToken'];
  readonly serve?: CliContext['serve'];
}

export interface CommandOutcome {
  readonly code: number;
  readonly out: string;
  readonly error: string;
}

/** Starts a command; `out` and `error` are its output so far. @param command words with a space between them. */
export function startCli(setup: CliSetup, command = '', ...words: string[]) {
  const typed = [...(command === '' ? [] : command.split(' ')), ...words];
  const out = new Captured();
  const error = new Captured();
  const { clock = systemClock, isTerminal = false } = setup;
  Object.assign(error, { isTTY: isTerminal, columns: 60 });
  Object.assign(out, { isTTY: isTerminal });
  const opened = setup.stdin instanceof Readable ? setup.stdin : new PassThrough().end(setup.stdin ?? '');
  const context: CliContext = {
    terminal: {
      stdin: Object.assign(opened, { isTTY: isTerminal }),
      stdout: new Output(setup.stdout ?? out),
      stderr: new Output(error),
    },
    environment: setup.environment ?? {},
    clock,
    version: '1.2.3',
    kinds: setup.kinds ?? [plantKind],
    openStore: async () => open(setup, clock),
    newCheckpoint: () => new MemoryCheckpoints(),
    redis() {
      throw new Error('a command of a test has no Redis');
    },
    serve: setup.serve ?? (async () => 0),
    newToken: setup.newToken ?? (async () => 'plants_secret'),
    untilInterrupted: () => setup.interrupted ?? new AbortController().signal,
    untilUnread: () => new AbortController().signal,
  };
  const outcome = run(typed, context).then((code): CommandOutcome => ({
    code,
    out: out.text,
    error: error.text,
  }));
  return { outcome, out: () => out.text, error: () => error.text };
}

export function runCli(...typed: Parameters<typeof startCli>): Promise<CommandOutcome> {
  return startCli(...typed).outcome;
}

function open(
  { store = new MemoryEventStore(), catalogue, snapshots, archive, leases, checkpoints }: CliSetup,
  clock: Clock,
): CliStore {
  return {
    store,
    snapshots,
    archive,
    leases,
    checkpoints,
    catalogue: catalogue ?? (store as EventStore & StreamCatalogue),
    feed: store instanceof MemoryEventStore ? store.feed : undefined,
    plants: new PlantStore({
      store,
      clock,
      mintCommit: () => `commit-${Math.random()}`,
      timeoutMs: 2000,
      maxWaiting: 1,
      cacheMaxItems: 0,
    }),
    timeoutMs: 50,
    close: () => {},
  };
}

export class Captured extends Writable {
  text = '';

  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}

export function expectFits80Columns(text: string): void {
  for (const line of text.split('\n')) expect(line.length, line).to.be.at.most(80);
}
