import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { endWithProcess } from '../../support/redis/end-with-process';
import type { Figures, Workload } from './workload';

/**
 * Plays workloads from a separate process, so that neither the test nor the
 * service shares an event loop with the clients.
 */
export class LoadGenerator {
  #playing: Promise<unknown> = Promise.resolve();

  private constructor(private readonly child: ChildProcess) {}

  static async start(): Promise<LoadGenerator> {
    const child = fork(`${__dirname}/generator.child.ts`, { execArgv: ['-r', 'ts-node/register'] });
    const forget = endWithProcess(() => child.kill('SIGKILL'));
    child.once('exit', forget);
    await once(child, 'message');
    return new LoadGenerator(child);
  }

  /** Plays a workload after the earlier ones. Rejects if the process ends. */
  play(workload: Workload): Promise<Figures> {
    const figures = this.#playing.then(() => this.#playNow(workload));
    this.#playing = figures.catch(() => {});
    return figures;
  }

  async #playNow(workload: Workload): Promise<Figures> {
    const settled = new AbortController();
    const { signal } = settled;
    this.child.send(workload);
    try {
      return await Promise.race([
        once(this.child, 'message', { signal }).then(([figures]) => figures as Figures),
        once(this.child, 'exit', { signal }).then(([code]) => {
          throw new Error(`the load generator ended with ${String(code)}`);
        }),
      ]);
    } finally {
      settled.abort();
    }
  }

  async stop(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const exit = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await exit;
  }
}
