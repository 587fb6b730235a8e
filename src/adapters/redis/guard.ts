import { type Cluster, Command, type Redis, ReplyError } from 'ioredis';
import { type Clock, StoreUnavailable } from '../../event-sourcing';
import type { ClientOptions, RedisClient } from './client';
import { RedisConnection } from './connection';
import { type Examination, examineServers } from './examination';
import { type Findings, type ReportFinding, distrustText } from './findings';
import type { Keys } from './keys';
import { type Lineages, emptiedServer } from './lineages';
import { UnexpectedReply } from './error-text';
import { forbidsCommand } from './forbidden-command';
import { findMissingRight } from './rights';
import { type Objection, type Demands, parseObjection } from './script';
import { CHECKS, type Finding, NO_LEASE } from './server-checks';
import { CONNECTION_NAME } from './settings';
import type { StoreId } from './store-id';

export interface GuardOptions extends ClientOptions {
  readonly findings: Findings;
  readonly keys: Keys;
  readonly storeId: StoreId;
  readonly lineages: Lineages;
  /**
   * All guards of the store. The main guard works for all of them: it adopts the store id,
   * remembers lineages, and looks for missing rights. Only the main guard may create an id.
   */
  readonly guards: readonly Guard[];
  readonly isMain: boolean;
  readonly createsId: boolean;
  readonly report: ReportFinding;
  readonly waitReplicas: number;
  readonly examineEveryMs: number;
  readonly clock: Clock;
}

const UNREACHABLE = 'Redis cannot be reached';
/**
 * A server that is distrusted, has not answered or has no store id yet is examined again this soon.
 */
const RETRY_MS = 250;

/**
 * Decides whether calls may use the server of a connection. A server that is not the primary, does
 * not hold our store, or has a finding that stops all calls, is distrusted.
 *
 * The guard examines the server after every connect, because the address may now lead to a
 * different server, and every ten seconds, because an operator may have changed its configuration.
 * Between two examinations each script verifies the server by itself, see {@link Demands}.
 */
export class Guard {
  readonly connection: RedisConnection;
  readonly hasSentinels: boolean;
  /**
   * Half of the deadline of a request, which leaves it time to repeat the call once. A WAIT ends
   * earlier, so that its reply still arrives in time.
   */
  readonly callTimeoutMs: number;
  readonly waitMs: number;
  #state: 'available' | 'distrusted' | 'unreachable' = 'unreachable';
  #why = UNREACHABLE;
  /** In a Cluster, the reason by the address of each distrusted server, if others are available. */
  #distrustedNodes: ReadonlyMap<string, string> = new Map();
  readonly #reported = new Set<string>();
  #demands: Omit<Demands, 'storeId'> = { proof: 'role', lease: NO_LEASE };
  #runId: string | undefined;
  #cancelTimer = (): void => {};
  #isExamining = false;
  #resolveFirst: () => void = () => {};
  /**
   * Resolves once a server has answered a whole examination without an error, even if that has
   * findings.
   */
  readonly firstExamination = new Promise<void>((resolve) => (this.#resolveFirst = resolve));

  constructor(private readonly options: GuardOptions) {
    this.hasSentinels = options.sentinels !== undefined;
    this.callTimeoutMs = Math.ceil(options.timeoutMs / 2);
    this.waitMs = Math.max(1, Math.floor(this.callTimeoutMs * 0.8));
    this.connection = new RedisConnection(options, {
      opened: () => void this.#examine(),
      failed: (reason) => this.#handleFailure(reason),
      closed: (...close) => this.#handleClose(...close),
    });
  }

  /**
   * Returns the client for a call with this key. Throws {@link StoreUnavailable} while the server
   * (in a Cluster, the server of the key) is unreachable or distrusted.
   */
  clientFor(key: string): RedisClient {
    if (this.#state !== 'available') throw this.createFault();
    const { createsId, storeId, findings } = this.options;
    // A service writes nothing before the store has an id, because without one nobody could tell
    // this store from a different one later. A command creates no id, and may write without one: an
    // import fills a new store.
    if (createsId && storeId.expectedValue === undefined) {
      const text = findings.textOf('missing_right') ?? findings.textOf('replicas_missing');
      const why = text ?? 'Redis refuses to create one';
      throw new StoreUnavailable(`the store has no id yet, and ${why}`, {
        reason: 'store_refused',
      });
    }
    if (this.#distrustedNodes.size > 0) {
      const why = this.#distrustedNodes.get(this.#primaryOf(key));
      if (why !== undefined) throw new StoreUnavailable(why, { reason: 'store_refused' });
    }
    return this.connection.client;
  }

  get isAvailable(): boolean {
    return this.#state === 'available';
  }

  createFault(): StoreUnavailable {
    return new StoreUnavailable(this.#why, {
      reason: this.#state === 'unreachable' ? 'store' : 'store_refused',
    });
  }

  get demands(): Demands {
    const { storeId } = this.options;
    // In a Cluster the id is in a different slot than most streams, so no script can read it. Only
    // the examination verifies it there.
    const value = this.connection.isCluster ? undefined : storeId.expectedValue;
    return { ...this.#demands, storeId: value === undefined ? undefined : [storeId.key, value] };
  }

  handleMissingReplicas(): void {
    this.options.findings.noteErrorReply('NOREPLICAS');
  }

  /**
   * Returns the fault for a call that got this error reply, and therefore wrote nothing. If the
   * reply means that the server must not be used, all guards of that server distrust it from now
   * on.
   */
  handleErrorReply(error: Error): StoreUnavailable {
    const objection = parseObjection(error.message);
    if (objection === undefined) return this.#handleRefusedCommand(error);
    if (objection === 'unconfirmed') {
      this.handleMissingReplicas();
      void this.options.sentinels?.ask();
      const why = 'too few replicas confirm that this Redis is still the primary';
      return new StoreUnavailable(why, { reason: 'store_refused' });
    }
    if (this.connection.isCluster) {
      // Once the slot map is up to date, the Cluster redirects calls by itself.
      (this.connection.client as Cluster).refreshSlotsCache();
      return new StoreUnavailable('Redis was made a replica', { reason: 'store_refused' });
    }
    const runId = this.#runId;
    // If INFO is refused, no run id is known, and all guards count as connected to this server.
    for (const guard of this.options.guards)
      if (guard.#runId === runId) guard.#handleObjection(objection);
    return this.createFault();
  }

  close(): void {
    this.#cancelTimer();
    if (this.#state === 'available') this.#distrust('the connection to Redis was closed');
    this.connection.close();
  }

  #handleRefusedCommand(error: Error): StoreUnavailable {
    this.options.findings.noteErrorReply(error.message);
    let why = 'Redis refused the call';
    if (forbidsCommand(error)) {
      const missing = this.options.findings.textOf('missing_right');
      if (missing !== undefined) why += `, ${missing}`;
      else {
        // Its examination finds out which right is missing.
        const main = this.options.guards.find(({ options }) => options.isMain)!;
        void main.#examine();
      }
    }
    return new StoreUnavailable(why, { reason: 'store_refused', cause: error });
  }

  #handleObjection(objection: Exclude<Objection, 'unconfirmed'>): void {
    if (this.#state !== 'available') return;
    this.#distrust(
      objection === 'identity' ? 'Redis holds a different store' : 'Redis was made a replica',
    );
    // A server with a different store is examined on the same connection, because a reconnect would
    // lose the error replies to other calls, and their outcome would be unknown.
    if (objection === 'identity') void this.#examine();
    else this.connection.reconnect();
  }

  /**
   * Examines the server, and schedules the next examination while the connection is open. Any
   * number of error replies cause only one examination at a time.
   */
  async #examine(): Promise<void> {
    if (this.#isExamining) return;
    this.#isExamining = true;
    this.#cancelTimer();
    this.connection.forgetErrors();
    let again = (): void => void this.#examine();
    try {
      this.#judge(await this.#collectFindings());
      this.#resolveFirst();
      // A distrusted server is examined after a reconnect, because the address may lead to a
      // different server by now. It may also be the same server, promoted without closing the
      // connection.
      if (this.#state !== 'available') again = () => this.connection.reconnect();
    } catch (error) {
      // Other errors are not reported: a lost connection is examined after the reconnect, and a
      // server that stays connected was only too busy to answer.
      if (error instanceof ReplyError || error instanceof UnexpectedReply) {
        this.options.findings.noteErrorReply((error as Error).message);
        this.connection.fail(error as Error);
      }
    }
    this.#isExamining = false;
    if (!this.connection.isOpen) return;
    const { createsId, storeId, examineEveryMs, clock } = this.options;
    // The next examination comes soon while the store has no id, because nothing is written before
    // it has one. A replica that confirmed a new id too late may confirm it now.
    const hasId = !createsId || storeId.expectedValue !== undefined;
    const isSettled = this.#state === 'available' && this.#distrustedNodes.size === 0 && hasId;
    this.#cancelTimer = clock.after(
      isSettled ? examineEveryMs : Math.min(RETRY_MS, examineEveryMs),
      again,
    );
  }

  /**
   * Resolves with the findings because of which no user can be served. Rejects if the server does
   * not answer.
   */
  async #collectFindings(): Promise<readonly Finding[]> {
    const { waitReplicas, sentinels, isMain, keys, findings } = this.options;
    void sentinels?.ask();
    const { client, isCluster } = this.connection;
    if (!isCluster) await nameConnection(client as Redis);
    const downAfterMs = sentinels?.downAfterMs;
    const examination = await examineServers(client, { waitReplicas, downAfterMs });
    const { servers, primaryCount, proof, lease } = examination;
    this.#demands = { proof, lease };
    this.#runId = servers[0]?.runId;
    const found = servers.flatMap(({ address, findings: own }) =>
      own.map((finding): LocatedFinding => ({ address, finding })),
    );
    // If all servers are distrusted already, it does not matter what they store.
    if (listDistrusted(found).size < primaryCount)
      found.push(...(await this.#verifyStore(examination, found)));
    const distrusted = listDistrusted(found);
    const all = found.map(({ finding }) => finding);
    const missing = isMain && (await findMissingRight(client, keys, waitReplicas));
    if (missing) all.push(missing);
    findings.noteExamination(this, all);

    // In a Cluster a distrusted server affects only the users of its slots, unless all servers are
    // distrusted.
    const isPart = isCluster && distrusted.size < primaryCount;
    this.#distrustedNodes = new Map(
      isPart ? [...distrusted].map(([address, own]) => [address, distrustText(own)]) : [],
    );
    return isPart ? [] : [...distrusted.values()].flat();
  }

  /**
   * Resolves with a finding for each server that does not hold our store, or not all of its part.
   * If the store is new, the main guard creates its id.
   */
  async #verifyStore(
    { servers, keyCount }: Examination,
    found: readonly LocatedFinding[],
  ): Promise<readonly LocatedFinding[]> {
    const { isMain, createsId, storeId, lineages, keys, waitReplicas } = this.options;
    const { client, isCluster } = this.connection;
    const writes = !found.some(({ finding }) => CHECKS[finding.name].effect === 'no writes');
    const { waitMs } = this;
    const adoption = { creates: createsId && writes, keyCount, waitReplicas, waitMs };
    const verified = storeId.verify(client, isMain ? adoption : undefined);
    const finding = await verified.catch((error: unknown) => {
      // While the node of a Cluster that has the id fails over, the users of all other nodes are
      // still served.
      if (!isCluster || storeId.expectedValue === undefined || error instanceof UnexpectedReply)
        throw error;
      return undefined;
    });
    const { lost, intact } = isCluster
      ? await lineages.compare(client, keys, isMain)
      : { lost: [], intact: 0 };
    // If only the id is missing, the server that had it was emptied, and the others hold our store.
    const isOnlyIdMissing = finding?.isEmptied === true && intact > 0;
    if (finding && !isOnlyIdMissing) return servers.map(({ address }) => ({ address, finding }));
    const emptied = new Set(lost.map((bucket) => this.#primaryOf(keys.index(bucket))));
    if (isOnlyIdMissing) emptied.add(this.#primaryOf(storeId.key));
    return [...emptied].map((address) => ({ address, finding: emptiedServer(address) }));
  }

  #primaryOf(key: string): string {
    return this.connection.primaryOf(new Command('get', [key]).getSlot());
  }

  #judge(findings: readonly Finding[]): void {
    if (findings.length > 0) return this.#distrust(distrustText(findings));
    if (this.#state !== 'available') this.options.report('info', 'Redis is connected');
    this.#state = 'available';
    this.connection.forgetErrors();
    this.#reported.clear();
  }

  #distrust(why: string): void {
    this.#state = 'distrusted';
    this.#why = why;
  }

  #handleFailure(reason: string): void {
    // If an available connection breaks, `#handleClose` reports that. If it stays open although an
    // examination failed, calls go on, and may succeed.
    if (this.#state === 'available') return;
    this.#state = 'unreachable';
    this.#why = `${UNREACHABLE}: ${reason}`;
    // Each new reason is reported, because a wrong password would otherwise look like an
    // unreachable server, but only once in an outage.
    if (this.#reported.has(reason)) return;
    this.#reported.add(reason);
    this.options.report('warn', this.#why);
  }

  #handleClose(reasons: string, isUnexplained: boolean): void {
    this.#cancelTimer();
    // The guard itself closes the connection to a distrusted server.
    if (this.#state === 'distrusted') return;
    if (this.#state === 'unreachable')
      return isUnexplained ? this.#handleFailure(reasons) : undefined;
    this.options.report('warn', `the connection to Redis was lost (${reasons}); reconnecting`);
    this.#state = 'unreachable';
    this.#why = UNREACHABLE;
  }
}

interface LocatedFinding {
  readonly address: string;
  readonly finding: Finding;
}

function listDistrusted(found: readonly LocatedFinding[]): ReadonlyMap<string, readonly Finding[]> {
  const distrusted = new Map<string, Finding[]>();
  for (const { address, finding } of found)
    if (CHECKS[finding.name].effect === 'no calls')
      distrusted.set(address, [...(distrusted.get(address) ?? []), finding]);
  return distrusted;
}

/**
 * Sent first and alone, because a server that accepts no more clients reports that in its first
 * reply, and then closes the connection.
 */
async function nameConnection(client: Redis): Promise<void> {
  await client.client('SETNAME', CONNECTION_NAME).catch((error: unknown) => {
    if (!forbidsCommand(error)) throw error;
  });
}
