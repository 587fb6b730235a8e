import { type Cluster, Command, type Redis, ReplyError } from 'ioredis';
import { type Clock, StoreUnavailable } from '../../event-sourcing';
import type { ClientOptions, RedisClient } from './client';
import { RedisConnection } from './connection';
import { examine } from './examination';
import { type Findings, type ReportFinding, refusalText } from './findings';
import type { Keys } from './keys';
import { type Lineages, emptiedServer } from './lineages';
import { UnexpectedReply } from './reason';
import { isRefusal } from './refusal';
import { findMissingRight } from './rights';
import { type Doubt, type Proof, doubtOf } from './script';
import { CHECKS, type Finding, NO_LEASE } from './server-checks';
import { CONNECTION_NAME } from './settings';
import type { StoreId } from './store-id';

export interface GuardOptions extends ClientOptions {
  /** Shared by the guards of a store, like the next three. */
  readonly findings: Findings;
  readonly keys: Keys;
  readonly storeId: StoreId;
  readonly lineages: Lineages;
  /** Whether the guard adopts the id of the store if none is expected yet, or also creates it. */
  readonly adoptsId: 'no' | 'existing' | 'or new';
  readonly report: ReportFinding;
  /** How many replicas must confirm a write. */
  readonly waitReplicas: number;
  /** How often the server is examined, in ms. */
  readonly examineEveryMs: number;
  readonly clock: Clock;
}

const UNREACHABLE = 'Redis cannot be reached';
/** Time until a server that is refused, did not answer, or has no id yet is examined again, in ms. */
const RETRY_MS = 250;

/**
 * Decides whether the server of a connection may be used: it is the primary, it has our store, and no finding speaks
 * against it.
 *
 * The server is examined after every (re)connect, because the address may now lead to a different one, and every ten
 * seconds, because an operator may have changed its configuration. Between two examinations each script checks it, see
 * `Proof`.
 */
export class Guard {
  readonly connection: RedisConnection;
  #state: 'available' | 'refused' | 'unreachable' = 'unreachable';
  /** Why the server is not available. */
  #why = UNREACHABLE;
  /** The nodes of a Cluster that are refused, and why. Only the users of their slots notice. */
  #refusedNodes: ReadonlyMap<string, string> = new Map();
  /** The reasons that were reported in this outage. */
  readonly #reported = new Set<string>();
  #proof: Omit<Proof, 'id'> = { proves: 'role', lease: NO_LEASE };
  /** The run id of the server. */
  #server: string | undefined;
  #cancelTimer = (): void => {};
  #isExamining = false;
  #examined: () => void = () => {};
  /** Resolves after the first examination; stays pending while no server answers. */
  readonly examined = new Promise<void>((resolve) => (this.#examined = resolve));
  /** The guards of the other connections of the store. */
  readonly others: Guard[] = [];

  constructor(private readonly options: GuardOptions) {
    this.connection = new RedisConnection(options, {
      opened: () => void this.#examine(),
      failed: (reason) => this.#handleFailure(reason),
      closed: (...close) => this.#handleClose(...close),
    });
  }

  /**
   * The client, for a call with this key. Throws {@link StoreUnavailable} while the server is unreachable or must not be
   * used; in a Cluster, the server of the key.
   */
  clientFor(key: string): RedisClient {
    if (this.#state !== 'available') throw this.#unavailable();
    const { adoptsId, storeId, findings } = this.options;
    // Nobody could tell this store from a different one. The connection that creates the id is the one that writes.
    if (adoptsId === 'or new' && storeId.expected === undefined) {
      const problem = findings.textOf('missing_right') ?? findings.textOf('replicas_missing');
      const why = problem ?? 'Redis refuses to create one';
      throw new StoreUnavailable(`the store has no id yet, and ${why}`, { reason: 'store_refused' });
    }
    if (this.#refusedNodes.size > 0) {
      const why = this.#refusedNodes.get(this.connection.primaryOf(slotOf(key)));
      if (why !== undefined) throw new StoreUnavailable(why, { reason: 'store_refused' });
    }
    return this.connection.client;
  }

  /** Why the server is not available, with the last error if it cannot be reached; `undefined` while it is. */
  get refusal(): string | undefined {
    return this.#state === 'available' ? undefined : this.#why;
  }

  /** Timeout of a call, in ms. */
  get timeoutMs(): number {
    return Math.ceil(this.options.timeoutMs / 2);
  }

  /** Timeout of WAIT, in ms: less than that of its call, so that its reply arrives in time. */
  get waitMs(): number {
    return Math.max(1, Math.floor(this.timeoutMs * 0.8));
  }

  get proof(): Proof {
    const { storeId } = this.options;
    // In a Cluster it is in another slot than most streams, so only the examination checks it.
    const id = this.connection.isCluster ? undefined : storeId.expected;
    return { ...this.#proof, id: id === undefined ? undefined : [storeId.key, id] };
  }

  /** Whether Sentinels may replace the primary. */
  get hasSentinels(): boolean {
    return this.options.sentinels !== undefined;
  }

  /** Too few replicas have confirmed a write, or that the server is the primary. */
  handleMissingReplicas(): void {
    this.options.findings.refused('NOREPLICAS');
  }

  /** Returns the fault of a call that had this error reply. The call wrote nothing. */
  handleRefusal(error: Error): StoreUnavailable {
    const doubt = doubtOf(error.message);
    if (doubt === undefined) return this.#handleRefusedCommand(error);
    if (doubt === 'unconfirmed') {
      this.handleMissingReplicas();
      void this.options.sentinels?.ask();
      const why = 'too few replicas confirm that this Redis is still the primary';
      return new StoreUnavailable(why, { reason: 'store_refused' });
    }
    if (this.connection.isCluster) {
      // It redirects calls by itself once the map of slots is the new one.
      (this.connection.client as Cluster).refreshSlotsCache();
      return new StoreUnavailable('Redis was made a replica', { reason: 'store_refused' });
    }
    const server = this.#server;
    for (const guard of [this, ...this.others]) if (guard.#server === server) guard.#distrust(doubt);
    return this.#unavailable();
  }

  close(): void {
    this.#cancelTimer();
    if (this.#state === 'available') this.#refuse('the connection to Redis was closed');
    this.connection.close();
  }

  #handleRefusedCommand(error: Error): StoreUnavailable {
    this.options.findings.refused(error.message);
    const right = isRefusal(error) && this.options.findings.textOf('missing_right');
    // The examination names the right.
    if (right === undefined) void this.#examine();
    const why = right ? `Redis refused the call, ${right}` : 'Redis refused the call';
    return new StoreUnavailable(why, { reason: 'store_refused', cause: error });
  }

  /** A script has found that the server is not the primary, or does not have our store. */
  #distrust(doubt: Exclude<Doubt, 'unconfirmed'>): void {
    if (this.#state !== 'available') return;
    this.#refuse(doubt === 'identity' ? 'Redis has another store' : 'Redis was made a replica');
    // Not by a reconnect, which would lose the replies of calls that were refused as well.
    if (doubt === 'identity') void this.#examine();
    else this.connection.reconnect();
  }

  /** Examines the server, and again later while the connection is open. Once for all calls that it refuses meanwhile. */
  async #examine(): Promise<void> {
    if (this.#isExamining) return;
    this.#isExamining = true;
    this.#cancelTimer();
    this.connection.forgetErrors();
    let again = (): void => void this.#examine();
    try {
      this.#judge(await this.#findProblems());
      this.#examined();
      // An operator may promote it without closing the connection, or the address may lead elsewhere by now.
      if (this.#state !== 'available') again = () => this.connection.reconnect();
    } catch (error) {
      // A lost connection is examined after the reconnect; a server that is connected was only too busy to answer.
      if (error instanceof ReplyError || error instanceof UnexpectedReply) {
        this.options.findings.refused((error as Error).message);
        this.connection.fail(error as Error);
      }
    }
    this.#isExamining = false;
    if (!this.connection.isOpen) return;
    const { adoptsId, storeId, examineEveryMs, clock } = this.options;
    // Nothing is written before the store has an id: a replica that was late for its first one may confirm it now.
    const hasId = adoptsId !== 'or new' || storeId.expected !== undefined;
    const isSettled = this.#state === 'available' && this.#refusedNodes.size === 0 && hasId;
    this.#cancelTimer = clock.after(isSettled ? examineEveryMs : Math.min(RETRY_MS, examineEveryMs), again);
  }

  /** The findings for which no user may be served. Rejects if the server does not answer. */
  async #findProblems(): Promise<readonly Finding[]> {
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
      ...{ waitReplicas, downAfterMs: sentinels?.downAfterMs },
    });
    this.#proof = proof;
    this.#server = servers[0]?.runId;
    const found = servers.flatMap((server) => server.findings);
    /** By the address of a server: the findings for which it is refused. */
    const refused = new Map<string, Finding[]>();
    const refuse = (address: string, finding: Finding) =>
      isRefused(finding) && refused.set(address, [...(refused.get(address) ?? []), finding]);
    for (const { address, findings: own } of servers) for (const each of own) refuse(address, each);

    // Other findings come first: what a server has is of no interest then.
    if (refused.size < primaries)
      for (const { finding, address } of await this.#findForeignStores(keyCount, found)) {
        found.push(finding);
        if (address !== undefined) refuse(address, finding);
        else for (const server of servers) refuse(server.address, finding);
      }
    const right = adoptsId !== 'no' && (await findMissingRight(client, keys, waitReplicas));
    if (right) found.push(right);
    findings.examined(this, found);

    // In a Cluster a server is refused for its own users only, unless all of them are.
    const isPart = isCluster && refused.size < primaries;
    this.#refusedNodes = new Map(isPart ? [...refused].map(([address, own]) => [address, textOf(own)]) : []);
    return isPart ? [] : [...refused.values()].flat();
  }

  /** The findings about what the servers store, each with the server that it is about; without one it is about all. */
  async #findForeignStores(keyCount: number, found: readonly Finding[]): Promise<readonly Located[]> {
    const { adoptsId, storeId, lineages, keys, waitReplicas } = this.options;
    const { client, isCluster } = this.connection;
    const creation = adoptsId !== 'no' && {
      creates: adoptsId === 'or new' && !found.some(({ name }) => CHECKS[name].effect === 'no writes'),
      ...{ keys: keyCount, waitReplicas, waitMs: this.waitMs },
    };
    const verified = storeId.verify(client, creation || undefined);
    if (!isCluster) return [await verified].flatMap((finding) => (finding ? { finding } : []));
    const finding = await verified.catch((error: unknown) => {
      // During a failover of the node that has the id, the users of the other nodes are served.
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

  /** @param problems for which no user may be served. */
  #judge(problems: readonly Finding[]): void {
    if (problems.length > 0) return this.#refuse(textOf(problems));
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
    // If the connection was in use, its end is reported.
    if (this.#state === 'available') return;
    this.#state = 'unreachable';
    this.#why = `${UNREACHABLE}: ${reason}`;
    // Each reason once in an outage: a wrong password would otherwise look like an unreachable server.
    if (this.#reported.has(reason)) return;
    this.#reported.add(reason);
    this.options.report('warn', this.#why);
  }

  #handleClose(reasons: string, isUnexplained: boolean): void {
    this.#cancelTimer();
    // It is we who close the connection to a server that is refused.
    if (this.#state === 'refused') return;
    if (this.#state === 'unreachable') return isUnexplained ? this.#handleFailure(reasons) : undefined;
    this.options.report('warn', `the connection to Redis was lost (${reasons}); reconnecting`);
    this.#state = 'unreachable';
    this.#why = UNREACHABLE;
  }

  /** A server that answers is refused, or refuses. */
  #unavailable(): StoreUnavailable {
    return new StoreUnavailable(this.#why, {
      reason: this.#state === 'unreachable' ? 'store' : 'store_refused',
    });
  }
}

/** A finding about the server at an address, or about all servers. */
interface Located {
  readonly finding: Finding;
  readonly address?: string;
}

function isRefused({ name }: Finding): boolean {
  return CHECKS[name].effect === 'refuse all';
}

function textOf(findings: readonly Finding[]): string {
  return refusalText(findings.filter(isRefused).map(({ text }) => text));
}

function slotOf(key: string): number {
  return new Command('get', [key]).getSlot();
}

/** First and alone: a server that accepts no more clients says so in its first reply, and closes the connection. */
async function nameConnection(client: Redis): Promise<void> {
  await client.client('SETNAME', CONNECTION_NAME).catch((error: unknown) => {
    if (!isRefusal(error)) throw error;
  });
}
