import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { compiledMain } from './compiled';
import { endWithProcess } from './redis/end-with-process';
import { noteOutput } from './suite-log';
import { TOKENS } from './watched-service';

/** The service as a separate process, to which a test can send signals. */
export class ServiceProcess {
  #output = '';
  #url: string | undefined;
  readonly #ended: Promise<unknown[]>;

  private constructor(private readonly child: ChildProcess) {
    const forgotten = endWithProcess(() => child.kill('SIGKILL'));
    this.#ended = once(child, 'close').finally(() => {
      forgotten();
      noteOutput(this.#output);
    });
    const note = (some: Buffer) => (this.#output += some.toString());
    child.stdout!.on('data', note);
    child.stderr!.on('data', note);
  }

  /**
   * Resolves once it listens. Logs at all levels.
   *
   * @param enter begins its command line.
   */
  static async start(
    environment: Readonly<Record<string, string>> = {},
    enter: readonly string[] = [],
  ): Promise<ServiceProcess> {
    const [command, ...args] = [...enter, process.execPath, compiledMain()];
    const child = spawn(command, args, {
      env: {
        ...process.env,
        // That of the suites: a service in memory refuses it.
        REDIS_URL: '',
        PORT: '0',
        LOG_LEVEL: 'trace',
        AUTH_TOKENS: `alice:${TOKENS.alice}`,
        ...environment,
      },
    });
    const service = new ServiceProcess(child);
    await Promise.race([service.#listens(), service.#ended]);
    if (service.#url === undefined) throw new Error(`the service did not start:\n${service.#output}`);
    return service;
  }

  get url(): string {
    return this.#url!;
  }

  get pid(): number {
    return this.child.pid!;
  }

  get running(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  /** Its output so far. */
  get output(): string {
    return this.#output;
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** Its exit code, once it has ended. */
  async exitCode(): Promise<number | null> {
    await this.#ended;
    return this.child.exitCode;
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.#ended;
  }

  async #listens(): Promise<void> {
    while (this.#url === undefined) {
      await once(this.child.stdout!, 'data');
      this.#url = /listens on (\S+)/.exec(this.#output)?.[1];
    }
  }
}
