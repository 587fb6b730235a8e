import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { endWithProcess } from './redis/end-with-process';

/** What the service tells of itself when asked. */
export interface ServiceStatus {
  /** Bytes that its objects still hold after a garbage collection; none of them are the test's. */
  readonly heap: number;
  /** How often the store was asked. */
  readonly trips: number;
  /** Log lines that tell of a fault of the service's own, or are not as they must be. */
  readonly faults: readonly string[];
}

/** Asks for the condition, and may say how slow the store is to be from now on. */
export interface StatusRequest {
  readonly storeDelayMs?: number;
}

/**
 * The service on a {@link SlowStore} in a process of its own: for tests that
 * want to know whether it lives, and what it holds on to, whatever they hold
 * on to themselves.
 */
export class IsolatedService {
  private constructor(
    private readonly child: ChildProcess,
    readonly url: string,
  ) {}

  /** Resolves once it listens. */
  static async start(environment: Readonly<Record<string, string>> = {}): Promise<IsolatedService> {
    const child = fork(`${__dirname}/isolated-service.child.ts`, {
      execArgv: ['-r', 'ts-node/register'],
      env: { PATH: process.env['PATH'], ...environment },
    });
    const forgotten = endWithProcess(() => child.kill('SIGKILL'));
    child.once('exit', forgotten);
    const [url] = (await once(child, 'message')) as [string];
    return new IsolatedService(child, url);
  }

  get running(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  async status(request: StatusRequest = {}): Promise<ServiceStatus> {
    this.child.send(request);
    return ((await once(this.child, 'message')) as [ServiceStatus])[0];
  }

  async stop(): Promise<void> {
    const ended = once(this.child, 'exit');
    this.child.disconnect();
    await ended;
  }
}
