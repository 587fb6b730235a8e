/** A command line whose terminal is three streams of the test, on a store of its choice. */
import { PassThrough, Readable, Writable } from 'node:stream';
import { MemoryEventStore } from '../../../src/adapters/memory/event-store';
import type { OpenStore, World } from '../../../src/adapters/cli/command';
import { run } from '../../../src/adapters/cli/run';
import { Output } from '../../../src/adapters/cli/terminal';
import { systemClock } from '../../../src/adapters/system/clock';
import { type Clock, type EventStore, PlantStore, type StreamCatalogue } from '../../../src/application';

export interface Setting {
  readonly store?: EventStore;
  readonly catalogue?: StreamCatalogue;
  readonly clock?: Clock;
  readonly environment?: Readonly<Record<string, string>>;
  /** What is typed, or handed in. */
  readonly stdin?: string | Uint8Array | Readable;
  /** Whether all three are a terminal. */
  readonly isTerminal?: boolean;
  readonly stdout?: Writable;
  readonly interrupted?: AbortSignal;
  readonly newToken?: World['newToken'];
  readonly serve?: World['serve'];
}

export interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly error: string;
}

/** Carries a command out; `told` shows what it has said so far while it is under way. */
export function start(setting: Setting, ...typed: string[]) {
  const out = new Captured();
  const error = new Captured();
  const { clock = systemClock, isTerminal = false } = setting;
  Object.assign(error, { isTTY: isTerminal, columns: 60 });
  Object.assign(out, { isTTY: isTerminal });
  const opened =
    setting.stdin instanceof Readable ? setting.stdin : new PassThrough().end(setting.stdin ?? '');
  const world: World = {
    terminal: {
      stdin: Object.assign(opened, { isTTY: isTerminal }),
      stdout: new Output(setting.stdout ?? out),
      stderr: new Output(error),
    },
    environment: setting.environment ?? {},
    clock,
    version: '1.2.3',
    openStore: async () => open(setting, clock),
    serve: setting.serve ?? (async () => 0),
    newToken: setting.newToken ?? (async () => 'plants_secret'),
    untilInterrupted: () => setting.interrupted ?? new AbortController().signal,
  };
  const outcome = run(typed, world).then((code): Outcome => ({ code, out: out.text, error: error.text }));
  return { outcome, out: () => out.text, error: () => error.text };
}

export function carryOut(setting: Setting, ...typed: string[]): Promise<Outcome> {
  return start(setting, ...typed).outcome;
}

function open({ store = new MemoryEventStore(), catalogue }: Setting, clock: Clock): OpenStore {
  return {
    store,
    catalogue: catalogue ?? (store as EventStore & StreamCatalogue),
    plants: new PlantStore({
      store,
      clock,
      mintCommit: () => `commit-${Math.random()}`,
      timeoutMs: 2000,
      maxWaiting: 1,
      cacheMaxPlants: 0,
    }),
    timeoutMs: 50,
    close: () => {},
  };
}

class Captured extends Writable {
  text = '';

  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}
