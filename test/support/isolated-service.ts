import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { endWithProcess } from './redis/end-with-process';

/** The status of the service. */
export interface ServiceStatus {
  /** Bytes of the objects of the service after a garbage collection, without those of the test. */
  readonly heap: number;
  /** The number of calls to the store. */
  readonly trips: number;
  /** Log lines that report a fault of the service, or are malformed. */
  readonly faults: readonly string[];
}

/** Requests the status, and can set the delay of the store. */
export interface StatusRequest {
  readonly storeDelayMs?: number;
}

/**
 * The service on a {@link SlowStore} in a separate process, for tests that
 * check whether it runs and how much memory it uses, without the memory of the
 * test.
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
