import { Cluster, type Redis } from 'ioredis';
import { StoreUnavailable } from '../../application';
import { type Client, type ClientOptions, commandTimeout, connect, isTimeout } from './client';
import { examine, ifForbidden } from './examination';
import { FailoverWatch } from './failover-watch';
import { FindingLog, type Report, refusalText } from './finding-log';
import { FINDINGS, type Finding } from './server-checks';

export interface RedisConnectionOptions extends ClientOptions {
  readonly report: Report;
  /** How many replicas a write has to reach; 0 by default. */
  readonly waitReplicas?: number | undefined;
  /** What is wrong with the server; connections of one store share it. One of its own by default. */
  readonly findings?: FindingLog | undefined;
  /** How often the server is examined, in ms; {@link EXAMINE_EVERY_MS} by default. */
  readonly examineEveryMs?: number | undefined;
}

const UNREACHABLE = 'Redis cannot be reached';
const NO_ERROR = 'the connection was closed';
const LATER_MS = 250;
export const EXAMINE_EVERY_MS = 10_000;

/**
 * One way to Redis. It reconnects by itself, and hands out its client only
 * while the server at its other end is known to be fit. The server is examined
 * after every (re)connect, for the same address may now lead to a replica, and
 * every ten seconds, for an operator may have changed its configuration.
 *
 * ioredis left to itself fails a command only after minutes, sends it after its
 * caller gave up, and sends it again after a reconnect; all of that is off. Yet
 * nothing relies on it for correctness: versions and commit ids do that.
 */
export class RedisConnection {
  readonly #client: Client;
  /** Why nothing is let through; `undefined` while the server is fit. */
  #trouble: string | undefined = UNREACHABLE;
  /** Why there is no connection, as far as that was told. */
  #lastError = NO_ERROR;
  #examined: () => void = () => {};
  #probe = Promise.resolve();
  #nextProbe: Promise<void> | undefined;
  readonly findings: FindingLog;
  readonly #examinations: NodeJS.Timeout;
  readonly #failovers: FailoverWatch | undefined;
  /** While its Sentinels replace the primary. */
  #failsOver = false;
  /** Settles once the first server that answered has been examined; stays pending while none answers. */
  readonly examined = new Promise<void>((resolve) => (this.#examined = resolve));

  constructor(private readonly options: RedisConnectionOptions) {
    const { examineEveryMs = EXAMINE_EVERY_MS, report } = options;
    this.findings = options.findings ?? new FindingLog(report, examineEveryMs);
    this.#client = connect(options);
    this.#client.on('error', (error: Error) => this.#failed(error.message));
    this.#client.on('ready', () => void this.#examine());
    this.#client.on('close', () => this.#lost());
    this.#examinations = setInterval(() => {
      // While it is in trouble it is examined over and over anyway.
      if (this.#trouble === undefined) void this.#examine();
    }, examineEveryMs).unref();
    const { sentinels } = options;
    this.#failovers =
      sentinels &&
      new FailoverWatch(sentinels.nodes, sentinels.master, {
        begins: () => this.#suspend(),
        ended: () => this.#resume(),
      });
  }

  /** Throws {@link StoreUnavailable} while the server is away or unfit. */
  get client(): Client {
    if (this.#trouble !== undefined) throw new StoreUnavailable(this.#trouble);
    return this.#client;
  }

  get trouble(): string | undefined {
    return this.#trouble;
  }

  /** For how long replicas may take to confirm, in ms: less than the command may, so that its answer is heard. */
  get waitMs(): number {
    return Math.max(1, Math.floor(this.commandTimeoutMs * 0.8));
  }

  /** For how long the answer to a command is waited for, in ms. */
  get commandTimeoutMs(): number {
    return commandTimeout(this.options);
  }

  /**
   * Resolves once Redis has answered all that was sent by now, also where its time was over, or once the connection has
   * ended. Redis answers in order, so the answer to one more command shows it. (Not of a cluster, which has many
   * connections.)
   */
  untilAnswered(): Promise<void> {
    if (this.#client instanceof Cluster) return Promise.resolve();
    // One probe at a time, sent after each caller's own commands.
    return (this.#nextProbe ??= this.#probe.then(() => {
      this.#probe = this.#nextProbe!;
      this.#nextProbe = undefined;
      return this.#probeUntilAnswered();
    }));
  }

  async #probeUntilAnswered(): Promise<void> {
    while (await (this.#client as Redis).role().then(() => false, isTimeout)) continue;
  }

  /**
   * Goes along with every read, for a server that is made a replica keeps its
   * connections and goes on answering reads, from the past. (Writes it refuses
   * by itself, and in a cluster reads as well.) Rejects with {@link StoreUnavailable}.
   */
  async mustBePrimary(): Promise<void> {
    if (this.#client instanceof Cluster) return;
    const [role] = await this.#client.role().catch(ifForbidden(['master']));
    if (role === 'master') return;
    if (this.#trouble === undefined) {
      this.#trouble = 'Redis was made a replica';
      this.#client.disconnect(true);
    }
    throw new StoreUnavailable(this.#trouble);
  }

  /**
   * Asks whether the server answers, and is the primary still; of a cluster, whether any node does. By ROLE and not by
   * PING, which the service would have to be allowed. Rejects where it does not, or with {@link StoreUnavailable}.
   */
  async check(): Promise<void> {
    const { client } = this;
    if (!(client instanceof Cluster)) return this.mustBePrimary();
    await Promise.any(client.nodes('master').map((node) => node.role().catch(ifForbidden(undefined))));
  }

  close(): void {
    clearInterval(this.#examinations);
    this.#failovers?.close();
    this.#trouble ??= 'the connection to Redis was closed';
    this.#client.disconnect();
  }

  async #examine(): Promise<void> {
    try {
      this.#judge(await examine(this.#client, this.options.waitReplicas ?? 0));
      this.#examined();
      // An operator may mend it, or promote it, and break no connection; or the address may lead elsewhere by now.
      if (this.#trouble !== undefined) this.#later(() => this.#client.disconnect(true));
    } catch {
      // A connection that broke is examined when it is back; one that is up was only too busy to answer.
      if (this.#trouble !== undefined) this.#later(() => void this.#examine());
    }
  }

  #judge(findings: readonly Finding[]): void {
    const known = this.#trouble;
    this.#lastError = NO_ERROR;
    this.findings.examined(this, findings);
    if (this.#failsOver) return;
    const refusals = findings.filter(({ name }) => FINDINGS[name] === 'refuse all');
    this.#trouble = refusals.length === 0 ? undefined : refusalText(refusals.map(({ text }) => text));
    if (known !== undefined && this.#trouble === undefined) this.options.report('info', 'Redis is connected');
  }

  /** The old primary would acknowledge what the new one will not have. */
  #suspend(): void {
    if (this.#trouble !== undefined) return;
    this.#failsOver = true;
    this.#trouble = 'Redis fails over to another primary';
    this.options.report('warn', this.#trouble);
  }

  #resume(): void {
    this.#failsOver = false;
    const reconnect = () => this.#client.disconnect(true);
    if (this.#client.status === 'ready') reconnect();
    // Disconnected while it connects, ioredis would end for good. The address that it connects to may be the old one.
    else this.#client.once('ready', reconnect);
  }

  #later(action: () => void): void {
    setTimeout(() => this.#client.status === 'ready' && action(), LATER_MS).unref();
  }

  /** A wrong password looks like a server that is away, unless its word is passed on. Once: it is tried again and again. */
  #failed(why: string): void {
    if (this.#trouble === UNREACHABLE && why !== this.#lastError)
      this.options.report('warn', `${UNREACHABLE}: ${why}`);
    this.#lastError = why;
  }

  #lost(): void {
    if (this.#trouble === undefined)
      this.options.report('warn', `Redis is gone (${this.#lastError}); reconnecting`);
    this.#trouble ??= UNREACHABLE;
  }
}
