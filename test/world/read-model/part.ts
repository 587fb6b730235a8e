import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { RedisOptions } from '../../../src/adapters/redis';
import { endWithProcess } from '../../support/redis/end-with-process';
import type { Appended } from './appenders';

/** Of one commit: a commit of a service has as many if a round has as many commands. */
export const MOST_EVENTS = 100;
/** From one commit of a writer to the next. */
export const PAUSE_MS = 40;
export const TAKE_OVER_MS = 4000;

export interface PartOptions {
  readonly environment: Pick<RedisOptions, 'url' | 'clusterNodes' | 'timeoutMs' | 'feedLength'>;
  /** Of the writers; a consumer has none. */
  readonly seed?: number;
  readonly auditPort: number;
}

/** A process of the scenario, see part.child.ts. */
export class Part {
  #child!: ChildProcess;

  private constructor(private readonly options: PartOptions) {}

  static async start(options: PartOptions): Promise<Part> {
    const part = new Part(options);
    await part.run();
    return part;
  }

  async run(): Promise<void> {
    const script = `${__dirname}/part.child.ts`;
    const child = spawn(process.execPath, ['-r', 'ts-node/register', script, JSON.stringify(this.options)], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      env: { ...process.env, TS_NODE_TRANSPILE_ONLY: 'true' },
    });
    this.#child = child;
    child.once(
      'exit',
      endWithProcess(() => child.kill('SIGKILL')),
    );
    const ended = once(child, 'exit').then(([code, signal]) => {
      throw new Error(`a process of the scenario ended with ${String(code ?? signal)}`);
    });
    ended.catch(() => {});
    await Promise.race([once(child, 'message'), ended]);
  }

  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#child.kill(signal);
  }

  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exit = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exit;
  }

  /** Ends the writers. Rejects if their process has ended. */
  async stopWriting(): Promise<Appended> {
    const child = this.#child;
    const ended = once(child, 'exit').then(([code]) => {
      throw new Error(`the writers ended with ${String(code)}`);
    });
    ended.catch(() => {});
    child.send('stop');
    const [appended] = (await Promise.race([once(child, 'message'), ended])) as [Appended];
    await this.kill();
    return appended;
  }
}
