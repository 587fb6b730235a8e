import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { endWithProcess } from './redis/end-with-process';

export interface FloodOptions {
  readonly url: string;
  /** The request that each connection repeats as soon as it gets a response. */
  readonly request: string;
  readonly connections: number;
}

/** Many busy connections, from a separate process. */
export class Flood {
  private constructor(private readonly child: ChildProcess) {}

  /** Resolves once each connection has got a response. */
  static async start(options: FloodOptions): Promise<Flood> {
    const child = fork(`${__dirname}/flood.child.ts`, {
      execArgv: ['-r', 'ts-node/register/transpile-only'],
    });
    const forgotten = endWithProcess(() => child.kill('SIGKILL'));
    child.once('exit', forgotten);
    child.send(options);
    await once(child, 'message');
    return new Flood(child);
  }

  /** The number of responses so far. */
  async answers(): Promise<number> {
    this.child.send('answers');
    return ((await once(this.child, 'message')) as [number])[0];
  }

  async stop(): Promise<void> {
    const ended = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await ended;
  }
}
