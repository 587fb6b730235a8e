import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { pinned } from '../../../bench/machine';
import { endWithProcess } from '../../support/redis/end-with-process';
import type { Figures, Workload } from './workload';

/** From the child: the figures of one window, or those at the end. */
interface Message {
  readonly window?: Figures;
  readonly figures?: Figures;
}

/**
 * Plays workloads from a separate process, so that neither the test nor the
 * service shares an event loop with the clients.
 */
export class LoadGenerator {
  #playing: Promise<unknown> = Promise.resolve();

  private constructor(private readonly child: ChildProcess) {}

  /** @param core as of taskset; absent: any. */
  static async start(core?: string): Promise<LoadGenerator> {
    const script = `${__dirname}/generator.child.ts`;
    const [program, args] = pinned(core, [process.execPath, '-r', 'ts-node/register', script]);
    const child = spawn(program, args, { stdio: ['inherit', 'inherit', 'inherit', 'ipc'] });
    const forget = endWithProcess(() => child.kill('SIGKILL'));
    child.once('exit', forget);
    await once(child, 'message');
    return new LoadGenerator(child);
  }

  /** Plays a workload after the earlier ones. Rejects if the process ends. */
  play(workload: Workload, onWindow: (window: Figures) => void = () => {}): Promise<Figures> {
    const figures = this.#playing.then(() => this.#playNow(workload, onWindow));
    this.#playing = figures.catch(() => {});
    return figures;
  }

  #playNow(workload: Workload, onWindow: (window: Figures) => void): Promise<Figures> {
    const { child } = this;
    return new Promise<Figures>((resolve, reject) => {
      const onExit = (code: number | null) => reject(new Error(`the load generator ended with ${code}`));
      child.once('exit', onExit);
      child.on('message', ({ window, figures }: Message) => {
        if (window !== undefined) return onWindow(window);
        child.removeAllListeners('message').off('exit', onExit);
        resolve(figures!);
      });
      child.send(workload);
    });
  }

  async stop(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const exit = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await exit;
  }
}
