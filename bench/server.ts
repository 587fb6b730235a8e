/** A measured server: a separate process on a separate core. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import type { Profiler } from 'node:inspector';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { endWithProcess } from '../test/support/redis/end-with-process';
import { cpuSeconds, pinned } from './machine';
import { PROFILE, type ServerStatus } from './servers/status';

const START_MS = 60_000;

export interface ServerCommand {
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export class RunningServer {
  private constructor(
    readonly url: string,
    private readonly child: ChildProcess,
    private readonly directory: string,
  ) {}

  /** Resolves once it prints its address. Its output goes into a file, as the log of a service may. */
  static async start({ args, env = {} }: ServerCommand, core: string | undefined): Promise<RunningServer> {
    const directory = mkdtempSync(join(tmpdir(), 'plant-store-bench-'));
    const log = join(directory, 'log');
    const output = openSync(log, 'a');
    const [program, all] = pinned(core, [process.execPath, ...args]);
    const child = spawn(program, all, {
      env: { PATH: process.env['PATH'], NODE_ENV: 'production', PORT: '0', ...env },
      // The channel is for servers that report their status.
      stdio: ['ignore', output, output, 'ipc'],
    });
    closeSync(output);
    child.once(
      'exit',
      endWithProcess(() => child.kill('SIGKILL')),
    );
    const began = performance.now();
    while (isRunning(child) && performance.now() - began < START_MS) {
      await delay(20);
      const url = /listens on (\S+)/.exec(readFileSync(log, 'utf8'))?.[1];
      if (url !== undefined) return new RunningServer(url, child, directory);
    }
    child.kill('SIGKILL');
    const said = readFileSync(log, 'utf8');
    rmSync(directory, { recursive: true });
    throw new Error(`${args.join(' ')} did not start:\n${said}`);
  }

  get pid(): number {
    return this.child.pid!;
  }

  /** Requests the status of servers/filled.ts, which then resets its measurement of the event loop. */
  status(): Promise<ServerStatus> {
    return this.#answerTo('?');
  }

  /** Begins a profile of a server with servers/profiled.ts, or ends it and resolves with it. */
  profile(): Promise<Profiler.Profile> {
    return this.#answerTo(PROFILE);
  }

  async #answerTo<Answer>(question: string): Promise<Answer> {
    this.child.send(question);
    return ((await once(this.child, 'message')) as [Answer])[0];
  }

  /** Processor seconds used so far. */
  cpu(): number | undefined {
    return cpuSeconds(this.pid);
  }

  /** It does nothing until {@link resume}, not even for its own housekeeping. */
  pause(): void {
    this.child.kill('SIGSTOP');
  }

  resume(): void {
    this.child.kill('SIGCONT');
  }

  async stop(): Promise<void> {
    if (isRunning(this.child)) {
      const ended = once(this.child, 'exit');
      this.child.kill('SIGKILL');
      await ended;
    }
    rmSync(this.directory, { recursive: true });
  }
}

function isRunning(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null;
}
