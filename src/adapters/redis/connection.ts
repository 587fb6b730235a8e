import { Cluster, type Redis, ReplyError } from 'ioredis';
import { StoreUnavailable } from '../../event-sourcing';
import { type Client, type ClientOptions, commandTimeout, connect, isTimeout } from './client';
import { examine, ifForbidden } from './examination';
import { FailoverWatch } from './failover-watch';
import { FindingLog, type Report, refusalText } from './finding-log';
import { FINDINGS, type Finding } from './server-checks';

export interface RedisConnectionOptions extends ClientOptions {
  readonly report: Report;
  /** How many replicas must confirm a write. */
  readonly waitReplicas: number;
  /** The problems of the server, shared by the connections of a store. A new log by default. */
  readonly findings?: FindingLog | undefined;
  /** How often the server is examined, in ms; {@link EXAMINE_EVERY_MS} by default. */
  readonly examineEveryMs?: number | undefined;
}

const UNREACHABLE = 'Redis cannot be reached';
const NO_REASON = 'the connection was closed';
const RETRY_MS = 250;
export const EXAMINE_EVERY_MS = 10_000;

/**
 * A connection to Redis. It reconnects automatically, and provides its client
 * only while the server passes all checks. The server is examined after every
 * (re)connect, because the address may now lead to a replica, and every ten
 * seconds, because an operator may have changed its configuration.
 *
 * By default ioredis fails a command only after minutes, sends it after its
 * caller gave up, and sends it again after a reconnect; all of that is disabled.
 * Correctness does not depend on it: it follows from versions and commit ids.
 */
export class RedisConnection {
  readonly #client: Client;
  /** Why the client is not available; `undefined` while it is. */
  #unavailableReason: string | undefined = UNREACHABLE;
  /** The last error of the connection. */
  #lastError = NO_REASON;
  #examined: () => void = () => {};
  #probe = Promise.resolve();
  #queuedProbe: Promise<void> | undefined;
  readonly findings: FindingLog;
  readonly #examinationTimer: NodeJS.Timeout;
  readonly #failovers: FailoverWatch | undefined;
  /** Whether the Sentinels are replacing the primary. */
  #failingOver = false;
  /** Resolves after the first examination; stays pending while no server answers. */
  readonly examined = new Promise<void>((resolve) => (this.#examined = resolve));

  constructor(private readonly options: RedisConnectionOptions) {
    const { examineEveryMs = EXAMINE_EVERY_MS, report } = options;
    this.findings = options.findings ?? new FindingLog(report, examineEveryMs);
    this.#client = connect(options);
    this.#client.on('error', (error: Error) => this.#failed(error.message));
    this.#client.on('ready', () => void this.#examine());
    this.#client.on('close', () => this.#lost());
    this.#examinationTimer = setInterval(() => {
      // While the client is unavailable, the server is examined repeatedly anyway.
      if (this.#unavailableReason === undefined) void this.#examine();
    }, examineEveryMs).unref();
    const { sentinels } = options;
    this.#failovers =
      sentinels &&
      new FailoverWatch(sentinels.nodes, sentinels.master, {
        begins: () => this.#suspend(),
        ended: () => this.#resume(),
      });
  }

  /** Throws {@link StoreUnavailable} while the server is unreachable or must not be used. */
  get client(): Client {
    if (this.#unavailableReason !== undefined) throw new StoreUnavailable(this.#unavailableReason);
    return this.#client;
  }

  get unavailableReason(): string | undefined {
    return this.#unavailableReason;
  }

  /** Timeout of WAIT, in ms: less than the command timeout, so that its reply arrives in time. */
  get waitMs(): number {
    return Math.max(1, Math.floor(this.commandTimeoutMs * 0.8));
  }

  /** Timeout of a single command, in ms. */
  get commandTimeoutMs(): number {
    return commandTimeout(this.options);
  }

  /**
   * Resolves when Redis has answered all commands sent so far, including those that timed out, or when the connection
   * has ended. Redis answers in order, so a reply to one more command proves it. On a cluster, which has several
   * connections, it resolves at once.
   */
  untilAnswered(): Promise<void> {
    if (this.#client instanceof Cluster) return Promise.resolve();
    // One probe at a time, sent after each caller's own commands.
    return (this.#queuedProbe ??= this.#probe.then(() => {
      this.#probe = this.#queuedProbe!;
      this.#queuedProbe = undefined;
      return this.#probeUntilAnswered();
    }));
  }

  async #probeUntilAnswered(): Promise<void> {
    while (await (this.#client as Redis).role().then(() => false, isTimeout)) continue;
  }

  /**
   * Checks with every read that the server is still the primary: a demoted server
   * keeps its connections and answers stale reads. (It refuses writes itself, and
   * in a cluster reads, too.) Rejects with {@link StoreUnavailable}.
   */
  async mustBePrimary(): Promise<void> {
    if (this.#client instanceof Cluster) return;
    const [role] = await this.#client.role().catch(ifForbidden(['master']));
    if (role === 'master') return;
    if (this.#unavailableReason === undefined) {
      this.#unavailableReason = 'Redis was made a replica';
      this.#client.disconnect(true);
    }
    throw new StoreUnavailable(this.#unavailableReason);
  }

  /**
   * Health check: the server answers and is the primary; in a cluster, any node answers. Uses ROLE instead of PING,
   * which would need one more command in the ACL. Rejects with {@link StoreUnavailable} or an ioredis error.
   */
  async check(): Promise<void> {
    const { client } = this;
    if (!(client instanceof Cluster)) return this.mustBePrimary();
    await Promise.any(client.nodes('master').map((node) => node.role().catch(ifForbidden(undefined))));
  }

  close(): void {
    clearInterval(this.#examinationTimer);
    this.#failovers?.close();
    this.#unavailableReason ??= 'the connection to Redis was closed';
    this.#client.disconnect();
  }

  async #examine(): Promise<void> {
    try {
      this.#judge(await examine(this.#client, this.options.waitReplicas));
      this.#examined();
      // An operator may reconfigure or promote it without closing the connection, or the address may lead elsewhere.
      if (this.#unavailableReason !== undefined) this.#later(() => this.#client.disconnect(true));
    } catch (error) {
      if (error instanceof ReplyError) this.#failed((error as Error).message);
      // A lost connection is examined after the reconnect; a server that is connected was only too busy to answer.
      if (this.#unavailableReason !== undefined) this.#later(() => void this.#examine());
    }
  }

  #judge(findings: readonly Finding[]): void {
    const known = this.#unavailableReason;
    this.#lastError = NO_REASON;
    this.findings.examined(this, findings);
    if (this.#failingOver) return;
    const refusals = findings.filter(({ name }) => FINDINGS[name] === 'refuse all');
    this.#unavailableReason =
      refusals.length === 0 ? undefined : refusalText(refusals.map(({ text }) => text));
    if (known !== undefined && this.#unavailableReason === undefined)
      this.options.report('info', 'Redis is connected');
  }

  /** Stops using the old primary, which would acknowledge writes that the new one does not have. */
  #suspend(): void {
    this.#failingOver = true;
    if (this.#unavailableReason !== undefined) return;
    this.#unavailableReason = 'Redis fails over to another primary';
    this.options.report('warn', this.#unavailableReason);
  }

  #resume(): void {
    this.#failingOver = false;
    const reconnect = () => this.#client.disconnect(true);
    if (this.#client.status === 'ready') reconnect();
    // Not while it connects: ioredis would then never reconnect. The address that it connects to may be the old one.
    else this.#client.once('ready', reconnect);
  }

  #later(action: () => void): void {
    setTimeout(() => this.#client.status === 'ready' && action(), RETRY_MS).unref();
  }

  /** Reports an error once: a wrong password would otherwise look like an unreachable server. */
  #failed(why: string): void {
    if (this.#unavailableReason === UNREACHABLE && why !== this.#lastError)
      this.options.report('warn', `${UNREACHABLE}: ${why}`);
    this.#lastError = why;
  }

  #lost(): void {
    if (this.#unavailableReason === undefined)
      this.options.report('warn', `the connection to Redis was lost (${this.#lastError}); reconnecting`);
    this.#unavailableReason ??= UNREACHABLE;
  }
}
