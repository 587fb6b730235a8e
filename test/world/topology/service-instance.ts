import { setTimeout as pause } from 'node:timers/promises';
import { metricOf } from '../../support/metrics';
import { unhurried } from '../../support/patience';
import { freePort } from '../../support/redis/free-port';
import { ServiceProcess } from '../../support/service-process';
import { tokenOf } from '../../support/token';
import { type Host, THIS_MACHINE } from './network';

/** The time of a whole request. */
export const STORE_TIMEOUT_MS = unhurried(1000);
/** On a host of its own. */
const PORT = 3000;
const PROBE_EVERY_MS = 300;
const PROBE_TIMEOUT_MS = 8 * STORE_TIMEOUT_MS;

/** From `from` to `to`, the instance was ended or frozen. */
export interface Interruption {
  readonly from: number;
  to: number;
}

/** A response of `/health/ready`. */
export interface Probe {
  readonly asked: number;
  readonly answered: number;
  readonly ready: boolean;
  readonly writes: boolean;
}

/** A loss of history that an instance logged. */
export interface ReportedLoss {
  /** On the clock of `performance.now()`. */
  readonly at: number;
  /** The hash of the user. */
  readonly user: string;
}

/** An instance of the service that keeps its port when it is started again. Its readiness is probed all the time. */
export class ServiceInstance {
  readonly interruptions: Interruption[] = [];
  readonly probes: Probe[] = [];
  readonly #processes: ServiceProcess[] = [];
  #probing = true;
  readonly #probed: Promise<void>;

  private constructor(
    readonly host: Host,
    private readonly port: number,
    private readonly environment: Readonly<Record<string, string>>,
  ) {
    this.#probed = this.#probeRepeatedly();
  }

  static async start(
    environment: Readonly<Record<string, string>>,
    users: readonly string[],
    host = THIS_MACHINE,
  ): Promise<ServiceInstance> {
    const port = host === THIS_MACHINE ? await freePort() : PORT;
    const instance = new ServiceInstance(host, port, {
      ...environment,
      EVENT_STORE: 'redis',
      HOST: host.address,
      PORT: String(port),
      STORE_TIMEOUT_MS: String(STORE_TIMEOUT_MS),
      AUTH_TOKENS: users.map((user) => `${user}:${tokenOf(user)}`).join(),
      LOG_LEVEL: 'warn',
    });
    await instance.run();
    return instance;
  }

  get url(): string {
    return `http://${this.host.address}:${this.port}`;
  }

  async run(): Promise<void> {
    this.#processes.push(await ServiceProcess.start(this.environment, this.host.enter));
    const interruption = this.interruptions.at(-1);
    if (interruption) interruption.to = performance.now();
  }

  async kill(): Promise<void> {
    this.#interrupted();
    await this.#process!.kill();
  }

  /** SIGTERM. Resolves with the exit code. */
  async end(): Promise<number | null> {
    this.#interrupted();
    this.#process!.signal('SIGTERM');
    return this.#process!.exitCode();
  }

  async freeze(ms: number): Promise<void> {
    const interruption = this.#interrupted();
    this.#process!.signal('SIGSTOP');
    await pause(ms);
    this.#process!.signal('SIGCONT');
    interruption.to = performance.now();
  }

  /** Ends it and its probes. Resolves with the exit code. */
  async stop(): Promise<number | null> {
    this.#probing = false;
    await this.#probed;
    return this.#process?.running ? this.end() : null;
  }

  /** Whether it was ended or frozen at any time from `from` to `to`. */
  wasInterrupted(from: number, to: number): boolean {
    return this.interruptions.some((interruption) => interruption.from <= to && from <= interruption.to);
  }

  get losses(): ReportedLoss[] {
    return this.#processes
      .flatMap(({ output }) => output.split('\n'))
      .filter((line) => line.includes('lost history that was served before'))
      .map((line) => JSON.parse(line) as { time: number; user: string })
      .map(({ time, user }) => ({ at: time - performance.timeOrigin, user }));
  }

  /** Whether a finding is present, as the metric says it. */
  async hasFinding(name: string): Promise<boolean> {
    return (await metricOf(this.url, `plant_store_redis_finding{finding="${name}"}`)) === 1;
  }

  get #process(): ServiceProcess | undefined {
    return this.#processes.at(-1);
  }

  #interrupted(): Interruption {
    const last = this.interruptions.at(-1);
    if (last?.to === Infinity) return last;
    const interruption = { from: performance.now(), to: Infinity };
    this.interruptions.push(interruption);
    return interruption;
  }

  async #probeRepeatedly(): Promise<void> {
    while (this.#probing) {
      const asked = performance.now();
      await fetch(`${this.url}/health/ready`, { signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) })
        .then(async (response) => {
          const { writes } = (await response.json()) as { writes?: boolean };
          const ready = response.status === 200;
          this.probes.push({ asked, answered: performance.now(), ready, writes: ready && writes === true });
        })
        // It was ended or frozen: the attempts of the clients show whether at another time.
        .catch(() => {});
      await pause(PROBE_EVERY_MS);
    }
  }
}
