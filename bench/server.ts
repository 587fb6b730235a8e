/** A server under measurement: a process of its own, on a core of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { cpuSeconds, pinned } from './machine';
import type { Condition } from './servers/condition';

const START_MS = 60_000;

export interface Command {
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export class RunningServer {
  private constructor(
    readonly url: string,
    private readonly child: ChildProcess,
    private readonly directory: string,
  ) {}

  /** Resolves once it says where it listens. What it prints goes into a file, as the log of a service may. */
  static async start({ args, env = {} }: Command, core: string | undefined): Promise<RunningServer> {
    const directory = mkdtempSync(join(tmpdir(), 'plant-store-bench-'));
    const log = join(directory, 'log');
    const output = openSync(log, 'a');
    const [program, all] = pinned(core, [process.execPath, ...args]);
    const child = spawn(program, all, {
      env: { PATH: process.env['PATH'], NODE_ENV: 'production', PORT: '0', ...env },
      // The channel is for those that tell of themselves.
      stdio: ['ignore', output, output, 'ipc'],
    });
    closeSync(output);
    const kill = () => child.kill('SIGKILL');
    process.once('exit', kill);
    child.once('exit', () => process.off('exit', kill));
    const began = performance.now();
    while (lives(child) && performance.now() - began < START_MS) {
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

  /** Asks servers/filled.ts how it is, and has it begin to watch anew. */
  async condition(): Promise<Condition> {
    this.child.send('?');
    return ((await once(this.child, 'message')) as [Condition])[0];
  }

  /** Processor seconds used so far. */
  cpu(): number | undefined {
    return cpuSeconds(this.pid);
  }

  async stop(): Promise<void> {
    if (lives(this.child)) {
      const ended = once(this.child, 'exit');
      this.child.kill('SIGKILL');
      await ended;
    }
    rmSync(this.directory, { recursive: true });
  }
}

function lives(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null;
}
