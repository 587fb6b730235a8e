import { type Cluster, Command, type Redis, ReplyError } from 'ioredis';
import { type Clock, StoreUnavailable } from '../../event-sourcing';
import type { ClientOptions, RedisClient } from './client';
import { RedisConnection } from './connection';
import { examine } from './examination';
import { type Findings, type ReportFinding, refusalText } from './findings';
import type { Keys } from './keys';
import { type Lineages, emptiedServer } from './lineages';
import { UnexpectedReply } from './error-text';
import { isRefusedCall } from './refused-call';
import { findMissingRight } from './rights';
import { type Objection, type Proof, parseObjection } from './script';
import { CHECKS, type Finding, NO_LEASE } from './server-checks';
import { CONNECTION_NAME } from './settings';
import type { StoreId } from './store-id';

export interface GuardOptions extends ClientOptions {
  readonly findings: Findings;
  readonly keys: Keys;
  readonly storeId: StoreId;
  readonly lineages: Lineages;
  /**
   * What the guard does while no store id is expected: nothing, or adopt the id that it finds, or
   * also create an id if it finds none.
   */
  readonly adoptsId: 'no' | 'existing' | 'create';
  readonly report: ReportFinding;
  readonly waitReplicas: number;
  readonly examineEveryMs: number;
  readonly clock: Clock;
}

const UNREACHABLE = 'Redis cannot be reached';
/**
 * A server that is refused, has not answered or has no store id yet is examined again this soon.
 */
const RETRY_MS = 250;

/**
 * Decides whether calls may use the server of a connection: it must be the primary, it must hold
 * our store, and no finding may forbid its use.
 *
 * The guard examines the server after every connect, because the address may now lead to a
 * different server, and every ten seconds, because an operator may have changed its configuration.
 * Between two examinations each script verifies the server by itself, see {@link Proof}.
 */
export class Guard {
  readonly connection: RedisConnection;
  readonly hasSentinels: boolean;
  /** A call gets half of the deadline, which leaves the request time to repeat it once. */
  readonly timeoutMs: number;
  /** In ms. WAIT ends before its call times out, so that its reply still arrives in time. */
  readonly waitMs: number;
  #state: 'available' | 'refused' | 'unreachable' = 'unreachable';
  #why = UNREACHABLE;
  #refusedNodes: ReadonlyMap<string, string> = new Map();
  readonly #reported = new Set<string>();
  #proof: Omit<Proof, 'id'> = { proves: 'role', lease: NO_LEASE };
  /** The `run_id` in INFO, by which two guards know that they use the same server. */
  #server: string | undefined;
  #cancelTimer = (): void => {};
  #isExamining = false;
  #examined: () => void = () => {};
  /**
   * Resolves after the first examination, whatever it finds. Stays pending while no server answers.
   */
  readonly examined = new Promise<void>((resolve) => (this.#examined = resolve));
  /**
   * The guards of the store's other connections, which also stop using a server that this one
   * refuses.
   */
  readonly others: Guard[] = [];

  constructor(private readonly options: GuardOptions) {
    this.hasSentinels = options.sentinels !== undefined;
    this.timeoutMs = Math.ceil(options.timeoutMs / 2);
    this.waitMs = Math.max(1, Math.floor(this.timeoutMs * 0.8));
    this.connection = new RedisConnection(options, {
      opened: () => void this.#examine(),
      failed: (reason) => this.#handleFailure(reason),
      closed: (...close) => this.#handleClose(...close),
    });
  }

  /**
   * Returns the client for a call with this key. Throws {@link StoreUnavailable} while the server
   * (in a Cluster, the server of the key) is unreachable or refused.
   */
  clientFor(key: string): RedisClient {
    if (this.#state !== 'available') throw this.toFault();
    const { adoptsId, storeId, findings } = this.options;
    // A service writes nothing before the store has an id, because without one nobody could tell
    // this store from a different one later. A command creates no id, and may write without one: an
    // import fills a new store.
    if (adoptsId === 'create' && storeId.expected === undefined) {
      const text = findings.textOf('missing_right') ?? findings.textOf('replicas_missing');
      const why = text ?? 'Redis refuses to create one';
      throw new StoreUnavailable(`the store has no id yet, and ${why}`, {
        reason: 'store_refused',
      });
    }
    if (this.#refusedNodes.size > 0) {
      const why = this.#refusedNodes.get(this.connection.primaryOf(slotOf(key)));
      if (why !== undefined) throw new StoreUnavailable(why, { reason: 'store_refused' });
    }
    return this.connection.client;
  }

  get refusal(): string | undefined {
    return this.#state === 'available' ? undefined : this.#why;
  }

  /** Returns the fault of a call while the server is refused or unreachable. */
  toFault(): StoreUnavailable {
    return new StoreUnavailable(this.#why, {
      reason: this.#state === 'unreachable' ? 'store' : 'store_refused',
    });
  }

  get proof(): Proof {
    const { storeId } = this.options;
    // In a Cluster the id is in a different slot than most streams, so no script can read it. Only
    // the examination verifies it there.
    const id = this.connection.isCluster ? undefined : storeId.expected;
    return { ...this.#proof, id: id === undefined ? undefined : [storeId.key, id] };
  }

  handleMissingReplicas(): void {
    this.options.findings.noteRefusal('NOREPLICAS');
  }

  /**
   * Returns the fault for a call that got this error reply, and therefore wrote nothing. If the
   * reply means that the server must not be used, all guards of that server refuse it from now on.
   */
  handleRefusal(error: Error): StoreUnavailable {
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
    const server = this.#server;
    for (const guard of [this, ...this.others])
      if (guard.#server === server) guard.#distrust(objection);
    return this.toFault();
  }

  close(): void {
    this.#cancelTimer();
    if (this.#state === 'available') this.#refuse('the connection to Redis was closed');
    this.connection.close();
  }

  #handleRefusedCommand(error: Error): StoreUnavailable {
    this.options.findings.noteRefusal(error.message);
    let why = 'Redis refused the call';
    if (isRefusedCall(error)) {
      const missing = this.options.findings.textOf('missing_right');
      if (missing !== undefined) why += `, ${missing}`;
      // The examination by the guard that adopts ids finds out which right is missing.
      else
        for (const guard of [this, ...this.others])
          if (guard.options.adoptsId !== 'no') void guard.#examine();
    }
    return new StoreUnavailable(why, { reason: 'store_refused', cause: error });
  }

  #distrust(objection: Exclude<Objection, 'unconfirmed'>): void {
    if (this.#state !== 'available') return;
    this.#refuse(
      objection === 'identity' ? 'Redis holds a different store' : 'Redis was made a replica',
    );
    // A server with a different store is examined on the same connection, because a reconnect would
    // lose the replies to the other calls that were refused, and their outcome would be unknown.
    if (objection === 'identity') void this.#examine();
    else this.connection.reconnect();
  }

  /**
   * Examines the server, and schedules the next examination while the connection is open. Any
   * number of refused calls cause only one examination at a time.
   */
  async #examine(): Promise<void> {
    if (this.#isExamining) return;
    this.#isExamining = true;
    this.#cancelTimer();
    this.connection.forgetErrors();
    let again = (): void => void this.#examine();
    try {
      this.#judge(await this.#collectFindings());
      this.#examined();
      // A refused server is examined after a reconnect, because the address may lead to a different
      // server by now. It may also be the same server, promoted without closing the connection.
      if (this.#state !== 'available') again = () => this.connection.reconnect();
    } catch (error) {
      // No other error is reported: a lost connection is examined after the reconnect, and a server
      // that stays connected was only too busy to answer.
      if (error instanceof ReplyError || error instanceof UnexpectedReply) {
        this.options.findings.noteRefusal((error as Error).message);
        this.connection.fail(error as Error);
      }
    }
    this.#isExamining = false;
    if (!this.connection.isOpen) return;
    const { adoptsId, storeId, examineEveryMs, clock } = this.options;
    // The next examination comes soon while the store has no id, because nothing is written before
    // it has one. A replica that confirmed a new id too late may confirm it now.
    const hasId = adoptsId !== 'create' || storeId.expected !== undefined;
    const isSettled = this.#state === 'available' && this.#refusedNodes.size === 0 && hasId;
    this.#cancelTimer = clock.after(
      isSettled ? examineEveryMs : Math.min(RETRY_MS, examineEveryMs),
      again,
    );
  }

  /**
   * Resolves with the findings that forbid serving any user. Rejects if the server does not answer.
   */
  async #collectFindings(): Promise<readonly Finding[]> {
    const { waitReplicas, sentinels, adoptsId, keys, findings } = this.options;
    void sentinels?.ask();
    const { client, isCluster } = this.connection;
    if (!isCluster) await nameConnection(client as Redis);
    const {
      servers,
      primaries,
      keys: keyCount,
      ...proof
    } = await examine(client, {
      waitReplicas,
      downAfterMs: sentinels?.downAfterMs,
    });
    this.#proof = proof;
    this.#server = servers[0]?.runId;
    const found = servers.flatMap((server) => server.findings);
    // The findings because of which a server is refused, by its address.
    const refused = new Map<string, Finding[]>();
    const refuse = (address: string, finding: Finding) =>
      isRefused(finding) && refused.set(address, [...(refused.get(address) ?? []), finding]);
    for (const { address, findings: own } of servers) for (const each of own) refuse(address, each);

    // If all servers are refused already, it does not matter what they store.
    if (refused.size < primaries)
      for (const { finding, address } of await this.#findForeignStores(keyCount, found)) {
        found.push(finding);
        if (address !== undefined) refuse(address, finding);
        else for (const server of servers) refuse(server.address, finding);
      }
    const right = adoptsId !== 'no' && (await findMissingRight(client, keys, waitReplicas));
    if (right) found.push(right);
    findings.noteExamination(this, found);

    // In a Cluster a refused server affects only the users of its slots, unless all servers are
    // refused.
    const isPart = isCluster && refused.size < primaries;
    this.#refusedNodes = new Map(
      isPart ? [...refused].map(([address, own]) => [address, describeFindings(own)]) : [],
    );
    return isPart ? [] : [...refused.values()].flat();
  }

  async #findForeignStores(
    keyCount: number,
    found: readonly Finding[],
  ): Promise<readonly Located[]> {
    const { adoptsId, storeId, lineages, keys, waitReplicas } = this.options;
    const { client, isCluster } = this.connection;
    const creation = adoptsId !== 'no' && {
      creates:
        adoptsId === 'create' && !found.some(({ name }) => CHECKS[name].effect === 'no writes'),
      keys: keyCount,
      waitReplicas,
      waitMs: this.waitMs,
    };
    const verified = storeId.verify(client, creation || undefined);
    if (!isCluster) return [await verified].flatMap((finding) => (finding ? { finding } : []));
    const finding = await verified.catch((error: unknown) => {
      // While the node that has the id fails over, the users of all other nodes are still served.
      if (storeId.expected === undefined || error instanceof UnexpectedReply) throw error;
      return undefined;
    });
    const { lost, intact } = await lineages.compare(client, keys, adoptsId !== 'no');
    if (finding && !(finding.isEmptied && intact > 0)) return [{ finding }];
    const emptied = new Set(lost.map((bucket) => this.#addressOf(keys.index(bucket))));
    if (finding) emptied.add(this.#addressOf(storeId.key));
    return [...emptied].map((address) => ({ address, finding: emptiedServer(address) }));
  }

  #addressOf(key: string): string {
    return this.connection.primaryOf(slotOf(key));
  }

  #judge(findings: readonly Finding[]): void {
    if (findings.length > 0) return this.#refuse(describeFindings(findings));
    if (this.#state !== 'available') this.options.report('info', 'Redis is connected');
    this.#state = 'available';
    this.connection.forgetErrors();
    this.#reported.clear();
  }

  #refuse(why: string): void {
    this.#state = 'refused';
    this.#why = why;
  }

  #handleFailure(reason: string): void {
    // If the connection was available until now, `#handleClose` reports its end.
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
    // The guard itself closes the connection to a refused server.
    if (this.#state === 'refused') return;
    if (this.#state === 'unreachable')
      return isUnexplained ? this.#handleFailure(reasons) : undefined;
    this.options.report('warn', `the connection to Redis was lost (${reasons}); reconnecting`);
    this.#state = 'unreachable';
    this.#why = UNREACHABLE;
  }
}

/** A finding about the server at `address`, or about all servers if that is absent. */
interface Located {
  readonly finding: Finding;
  readonly address?: string;
}

function isRefused({ name }: Finding): boolean {
  return CHECKS[name].effect === 'refuse all';
}

function describeFindings(findings: readonly Finding[]): string {
  return refusalText(findings.filter(isRefused).map(({ text }) => text));
}

function slotOf(key: string): number {
  return new Command('get', [key]).getSlot();
}

/**
 * Sent first and alone, because a server that accepts no more clients reports that in its first
 * reply, and then closes the connection.
 */
async function nameConnection(client: Redis): Promise<void> {
  await client.client('SETNAME', CONNECTION_NAME).catch((error: unknown) => {
    if (!isRefusedCall(error)) throw error;
  });
}
