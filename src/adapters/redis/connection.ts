import { Cluster, type Redis, ReplyError } from 'ioredis';
import { StoreUnavailable } from '../../event-sourcing';
import { type RedisClient, type ClientOptions, commandTimeout, connect, isTimeout } from './client';
import { type Examined, examine, primariesOf } from './examination';
import { FailoverWatch } from './failover-watch';
import { FindingLog, type ReportFinding, refusalText } from './finding-log';
import { type Script, executeScript } from './script';
import { type Address, Sentinels } from './sentinels';
import { FINDINGS, type Finding, NO_LEASE } from './server-checks';
import { CHECK_PRIMARY, type Doubt, type Proof, doubtOf } from './server-doubt';
import type { StoreIdentity } from './store-identity';

export interface RedisConnectionOptions extends ClientOptions {
  readonly sentinels?: { readonly nodes: readonly Address[]; readonly master: string } | undefined;
  readonly report: ReportFinding;
  /** How many replicas must confirm a write. */
  readonly waitReplicas: number;
  /** The problems of the server, shared by the connections of a store. A new log by default. */
  readonly findings?: FindingLog | undefined;
  /** The id that the store must have, shared by the connections of a store. Not checked by default. */
  readonly identity?: StoreIdentity | undefined;
  /** Whether the connection adopts the id of the store if none is expected yet, or also creates it. */
  readonly adoptsIdentity?: 'existing' | 'or new' | undefined;
  /** How often the server is examined, in ms; {@link EXAMINE_EVERY_MS} by default. */
  readonly examineEveryMs?: number | undefined;
}

const UNREACHABLE = 'Redis cannot be reached';
const NO_REASON = 'the connection was closed';
const RETRY_MS = 250;
export const EXAMINE_EVERY_MS = 10_000;
/** How long a caller waits at least for the first examination before Redis counts as unreachable. */
export const FIRST_CONTACT_MS = 1500;

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
  readonly #client: RedisClient;
  /** Why the client is not available; `undefined` while it is. */
  #unavailableReason: string | undefined = UNREACHABLE;
  /** The last error of the connection. */
  #lastError = NO_REASON;
  #examined: () => void = () => {};
  #probe = Promise.resolve();
  #queuedProbe: Promise<void> | undefined;
  readonly findings: FindingLog;
  readonly #examinationTimer: NodeJS.Timeout;
  readonly #sentinels: Sentinels | undefined;
  readonly #failovers: FailoverWatch | undefined;
  #lease = NO_LEASE;
  /** Resolves after the first examination; stays pending while no server answers. */
  readonly examined = new Promise<void>((resolve) => (this.#examined = resolve));

  constructor(private readonly options: RedisConnectionOptions) {
    const { examineEveryMs = EXAMINE_EVERY_MS, report } = options;
    this.findings = options.findings ?? new FindingLog(report, examineEveryMs);
    const { sentinels } = options;
    this.#sentinels = sentinels && new Sentinels(sentinels.nodes, sentinels.master);
    this.#client = connect(options, this.#sentinels);
    this.#client.on('error', (error: Error) => this.#failed(error.message));
    this.#client.on('ready', () => void this.#examine());
    this.#client.on('close', () => this.#lost());
    this.#examinationTimer = setInterval(() => {
      // While the client is unavailable, the server is examined repeatedly anyway.
      if (this.#unavailableReason === undefined) void this.#examine();
    }, examineEveryMs).unref();
    this.#failovers =
      this.#sentinels &&
      new FailoverWatch(this.#sentinels, {
        begins: () => this.#suspend(),
        ended: () => this.#resume(),
      });
  }

  /** Throws {@link StoreUnavailable} while the server is unreachable or must not be used. */
  get client(): RedisClient {
    if (this.#unavailableReason !== undefined) throw unavailable(this.#unavailableReason);
    return this.#client;
  }

  get unavailableReason(): string | undefined {
    return this.#unavailableReason;
  }

  /** Timeout of WAIT, in ms: less than the command timeout, so that its reply arrives in time. */
  get waitMs(): number {
    return Math.max(1, Math.floor(this.commandTimeoutMs * 0.8));
  }

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
    while (await this.#check(this.#client as Redis).then(() => false, isTimeout)) continue;
  }

  get proof(): Proof {
    const { identity, clusterNodes } = this.options;
    // In a Cluster it is in another slot than most streams.
    const id = clusterNodes ? undefined : identity?.expected;
    return id === undefined
      ? { keys: [], args: [...this.#lease, ''] }
      : { keys: [identity!.key], args: [...this.#lease, id] };
  }

  /** Why a call is refused whose reply had this doubt. The call wrote nothing. */
  doubted(doubt: Doubt): StoreUnavailable {
    if (doubt === 'unconfirmed') {
      this.findings.tooFewReplicas();
      void this.#failovers?.ask();
      return unavailable('too few replicas confirm that this Redis is still the primary');
    }
    if (doubt === 'identity') {
      // Not by a reconnect, which would lose the replies of appends that were refused as well.
      if (this.#unavailableReason === undefined) {
        this.#unavailableReason = 'Redis has another store';
        void this.#examine();
      }
      return unavailable(this.#unavailableReason);
    }
    if (this.#unavailableReason === undefined) {
      this.#unavailableReason = 'Redis was made a replica';
      this.#client.disconnect(true);
    }
    return unavailable(this.#unavailableReason);
  }

  /**
   * For reads without a script: checks that the server is still the primary. A demoted server keeps its connections and
   * answers stale reads, but in a Cluster it redirects them. Rejects with {@link StoreUnavailable} or an ioredis error.
   */
  async mustBePrimary(): Promise<void> {
    if (!(this.#client instanceof Cluster)) await this.#check(this.#client);
  }

  /**
   * Health check: the server answers reads; in a Cluster, any primary that has not stopped with the Cluster. Rejects
   * with {@link StoreUnavailable} or an ioredis error.
   */
  async check(): Promise<void> {
    const { client } = this;
    const checks = primariesOf(client).map(async (node) => {
      await this.#check(node);
      // A script without keys is answered also then.
      if (client instanceof Cluster && (await node.cluster('INFO')).includes('cluster_state:fail'))
        throw unavailable('the Cluster is down');
    });
    await Promise.any(checks).catch(() => checks[0]);
  }

  async #check(node: Redis): Promise<void> {
    await this.execute(CHECK_PRIMARY, [], [], node);
  }

  /**
   * Executes a script that checks the server first, whose reply is a list: of a doubt, or what it returns. Rejects with
   * {@link StoreUnavailable} or an ioredis error.
   */
  async execute(
    script: Script,
    keys: readonly string[],
    args: readonly (string | number)[],
    client = this.client,
  ): Promise<readonly unknown[]> {
    const { proof } = this;
    return this.#undoubted(
      await executeScript(client, script, [...keys, ...proof.keys], [...proof.args, ...args]),
    );
  }

  /** The same for a script that writes, and of the server checks only the id of the store: a replica refuses its writes. */
  async write(
    script: Script,
    keys: readonly string[],
    args: readonly (string | number)[],
  ): Promise<readonly unknown[]> {
    const { client, proof } = this;
    const id = proof.args.at(-1)!;
    return this.#undoubted(await executeScript(client, script, [...keys, ...proof.keys], [id, ...args]));
  }

  #undoubted(reply: unknown): readonly unknown[] {
    const results = reply as readonly unknown[];
    const doubt = doubtOf(results[0]);
    if (doubt !== undefined) throw this.doubted(doubt);
    return results;
  }

  close(): void {
    clearInterval(this.#examinationTimer);
    this.#failovers?.close();
    this.#unavailableReason ??= 'the connection to Redis was closed';
    this.#client.disconnect();
  }

  async #examine(): Promise<void> {
    try {
      const { waitReplicas, identity } = this.options;
      // Another connection of the store may adopt an id meanwhile, which this one did not read.
      const isKnown = identity?.expected !== undefined;
      const [examined, identified] = await Promise.all([
        examine(this.#client, { waitReplicas, downAfterMs: this.#sentinels?.downAfterMs }),
        identity?.read(this.#client),
      ]);
      const another = await this.#identify(examined, identified, isKnown);
      this.#judge(another ? { ...examined, findings: [...examined.findings, another] } : examined);
      this.#examined();
      // An operator may reconfigure or promote it without closing the connection, or the address may lead elsewhere.
      if (this.#unavailableReason !== undefined) this.#later(() => this.#client.disconnect(true));
    } catch (error) {
      if (error instanceof ReplyError || error instanceof StoreUnavailable)
        this.#failed((error as Error).message);
      // A lost connection is examined after the reconnect; a server that is connected was only too busy to answer.
      if (this.#unavailableReason !== undefined) this.#later(() => void this.#examine());
    }
  }

  /** The problem of a store with this id, or this problem. Other reasons to refuse the server come first. */
  async #identify(
    { findings, keys }: Examined,
    id: string | Finding | undefined,
    isKnown: boolean,
  ): Promise<Finding | undefined> {
    const { identity, adoptsIdentity, waitReplicas } = this.options;
    const effects = findings.map(({ name }) => FINDINGS[name]);
    if (identity === undefined || effects.includes('refuse all')) return undefined;
    if (typeof id === 'object') return id;
    if (isKnown) return identity.judge(id);
    if (adoptsIdentity === undefined) return undefined;
    const creates = adoptsIdentity === 'or new' && !effects.includes('no writes');
    await identity.adopt(this.#client, id, { creates, keys, waitReplicas, waitMs: this.waitMs });
    return undefined;
  }

  #judge({ findings, lease }: Examined): void {
    this.#lease = lease;
    const known = this.#unavailableReason;
    this.#lastError = NO_REASON;
    this.findings.examined(this, findings);
    if (this.#failovers?.inProgress) return;
    const refusals = findings.filter(({ name }) => FINDINGS[name] === 'refuse all');
    this.#unavailableReason =
      refusals.length === 0 ? undefined : refusalText(refusals.map(({ text }) => text));
    if (known !== undefined && this.#unavailableReason === undefined)
      this.options.report('info', 'Redis is connected');
  }

  /** Stops using the old primary, which would acknowledge writes that the new one does not have. */
  #suspend(): void {
    if (this.#unavailableReason !== undefined) return;
    this.#unavailableReason = 'Redis fails over to another primary';
    this.options.report('warn', this.#unavailableReason);
  }

  #resume(): void {
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

/** A server that answers is refused, or refuses. */
function unavailable(why: string): StoreUnavailable {
  return new StoreUnavailable(why, { reason: why === UNREACHABLE ? 'store' : 'store_refused' });
}
