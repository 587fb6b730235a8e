import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { endWithProcess } from '../support/redis/end-with-process';
import type { Figures, Workload } from './workload';

/**
 * Plays workloads from a process of its own, so that neither the test nor the
 * service shares an event loop with the clients.
 */
export class LoadGenerator {
  private constructor(private readonly child: ChildProcess) {}

  static async start(): Promise<LoadGenerator> {
    const child = fork(`${__dirname}/generator.child.ts`, { execArgv: ['-r', 'ts-node/register'] });
    const forget = endWithProcess(() => child.kill('SIGKILL'));
    child.once('exit', forget);
    await once(child, 'message');
    return new LoadGenerator(child);
  }

  /** One workload at a time. Rejects if the process ends. */
  async play(workload: Workload): Promise<Figures> {
    const answer = once(this.child, 'message');
    const exit = once(this.child, 'exit').then(([code]) => {
      throw new Error(`the load generator ended with ${String(code)}`);
    });
    exit.catch(() => {});
    this.child.send(workload);
    const [figures] = (await Promise.race([answer, exit])) as [Figures];
    return figures;
  }

  async stop(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const exit = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await exit;
  }
}
