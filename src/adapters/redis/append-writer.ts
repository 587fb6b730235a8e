import { OutcomeUnknown, StoreUnavailable } from '../../application';
import { APPEND, APPEND_SHA1 } from './append-script';
import { isTimeout } from './client';
import type { RedisConnection } from './connection';
import type { Entry } from './storage-format';

export type AppendReply =
  readonly ['appended'] | readonly ['reset'] | readonly ['conflict', readonly Entry[]];

/** How much a writer holds at most: appends that Redis has not answered, whether sent or not. */
export interface AppendBounds {
  readonly appends: number;
  readonly bytes: number;
}

export const APPEND_BOUNDS: AppendBounds = { appends: 10_000, bytes: 64 * 1024 * 1024 };

/** How much one WAIT confirms at most. */
const BATCH: AppendBounds = { appends: 1000, bytes: 8 * 1024 * 1024 };

export interface AppendWriterOptions {
  /** How many replicas must hold an append before it is acknowledged; 0 or more. */
  readonly waitReplicas: number;
  readonly bounds?: AppendBounds | undefined;
}

/** What a writer holds, and how many appends it refused because it held too much. */
export interface AppendLoad {
  readonly appends: number;
  readonly bytes: number;
  readonly refused: number;
}

interface Append {
  readonly key: string;
  readonly args: readonly (string | number)[];
  readonly bytes: number;
  readonly resolve: (reply: AppendReply) => void;
  readonly reject: (error: unknown) => void;
  /** Whether Redis is sent the script itself, since it does not know the digest. */
  whole: boolean;
  /** Ends the wait for being sent. */
  expiry?: NodeJS.Timeout;
}

/**
 * Executes the append script, and confirms its writes by WAIT where replicas are asked for.
 *
 * WAIT covers all that its connection wrote before, and blocks the connection. So there is one WAIT at a time: what
 * arrives meanwhile is held back, and is then sent as one batch with the next WAIT behind it (group commit). Without
 * replicas to wait for, appends are sent at once. Either way a bounded number of them is held.
 */
export class AppendWriter {
  #unsent = new Set<Append>();
  #batchUnderWay = false;
  #appends = 0;
  #bytes = 0;
  #refused = 0;
  readonly #bounds: AppendBounds;

  constructor(
    private readonly connection: RedisConnection,
    private readonly options: AppendWriterOptions,
  ) {
    this.#bounds = options.bounds ?? APPEND_BOUNDS;
  }

  get load(): AppendLoad {
    return { appends: this.#appends, bytes: this.#bytes, refused: this.#refused };
  }

  /** Rejects with {@link StoreUnavailable} where it was not sent; else with {@link OutcomeUnknown}, or as ioredis does. */
  execute(key: string, args: readonly (string | number)[]): Promise<AppendReply> {
    const bytes = sizeOf(key, args);
    if (!fits({ appends: this.#appends, bytes: this.#bytes }, bytes, this.#bounds)) {
      this.#refused++;
      return Promise.reject(new StoreUnavailable('too many appends are waiting for Redis'));
    }
    this.#appends++;
    this.#bytes += bytes;
    return new Promise((resolve, reject) => {
      const append: Append = { key, args, bytes, resolve, reject, whole: false };
      this.#unsent.add(append);
      this.#sendNext();
      if (this.#unsent.has(append)) append.expiry = this.#expire(append);
    });
  }

  #release({ bytes }: Append): void {
    this.#appends--;
    this.#bytes -= bytes;
  }

  #sendNext(): void {
    if (this.#batchUnderWay || this.#unsent.size === 0) return;
    this.#batchUnderWay = this.options.waitReplicas > 0;
    void this.#send(this.#takeBatch()).then((unknownToRedis) => {
      this.#batchUnderWay = false;
      // In their order, and before later ones, which may build on them.
      for (const append of unknownToRedis) append.whole = true;
      this.#unsent = new Set([...unknownToRedis, ...this.#unsent]);
      this.#sendNext();
    });
  }

  #expire(append: Append): NodeJS.Timeout {
    return setTimeout(() => {
      this.#unsent.delete(append);
      this.#release(append);
      append.reject(new StoreUnavailable('the append could not be sent to Redis in time'));
    }, this.connection.commandTimeoutMs);
  }

  #takeBatch(): Append[] {
    const batch: Append[] = [];
    let bytes = 0;
    for (const append of this.#unsent) {
      if (!fits({ appends: batch.length, bytes }, append.bytes, BATCH)) break;
      bytes += append.bytes;
      clearTimeout(append.expiry);
      this.#unsent.delete(append);
      batch.push(append);
    }
    return batch;
  }

  /** Resolves once Redis has answered all of it, to those appends whose script it does not know. Never rejects. */
  async #send(batch: readonly Append[]): Promise<readonly Append[]> {
    let client: RedisConnection['client'];
    try {
      client = this.connection.client;
    } catch (error) {
      for (const append of batch) {
        this.#release(append);
        append.reject(error);
      }
      return [];
    }
    // All in one turn, so that no reconnect comes between a script and its WAIT.
    const replies = batch.map(({ key, args, whole }) =>
      whole ? client.eval(APPEND, 1, key, ...args) : client.evalsha(APPEND_SHA1, 1, key, ...args),
    ) as Promise<AppendReply>[];
    const { waitReplicas } = this.options;
    const holders = waitReplicas > 0 ? client.wait(waitReplicas, this.connection.waitMs) : 0;
    const confirmed = this.#confirmed(holders);

    const unknownToRedis = new Set<Append>();
    batch.forEach((append, index) => {
      confirmedReply(replies[index]!, confirmed).then(append.resolve, (error: unknown) => {
        if (isUnknownScript(error) && !append.whole) unknownToRedis.add(append);
        else {
          this.connection.findings.appendFailed(error);
          append.reject(error);
        }
      });
    });
    const outcomes = await Promise.allSettled([...replies, holders]);
    if (outcomes.some((outcome) => outcome.status === 'rejected' && isTimeout(outcome.reason)))
      await this.connection.untilAnswered();
    for (const append of batch) if (!unknownToRedis.has(append)) this.#release(append);
    return [...unknownToRedis];
  }

  /** Rejects with {@link OutcomeUnknown} where too few replicas hold what was sent before. */
  #confirmed(holders: Promise<number> | number): Promise<void> {
    const { waitReplicas } = this.options;
    const confirmed = Promise.resolve(holders)
      // Its failure is an answer like others: rejected as it is, it would pass for the script's, which may have run.
      .catch((error: unknown) => error)
      .then((answer) => {
        if (typeof answer === 'number' && answer >= waitReplicas) return;
        if (typeof answer === 'number') this.connection.findings.tooFewReplicas();
        throw new OutcomeUnknown(`WAIT for ${waitReplicas} replicas was answered: ${String(answer)}`);
      });
    // Where no append was recorded, nothing asks for it.
    confirmed.catch(() => {});
    return confirmed;
  }
}

async function confirmedReply(replied: Promise<AppendReply>, confirmed: Promise<void>): Promise<AppendReply> {
  const reply = await replied;
  if (reply[0] === 'appended') await confirmed;
  return reply;
}

/** Whether one more of `bytes` may be held. One alone always may, however large. */
function fits(held: AppendBounds, bytes: number, bounds: AppendBounds): boolean {
  return held.appends === 0 || (held.appends < bounds.appends && held.bytes + bytes <= bounds.bytes);
}

function sizeOf(key: string, args: readonly (string | number)[]): number {
  return args.reduce<number>((bytes, arg) => bytes + Buffer.byteLength(String(arg)), key.length);
}

function isUnknownScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT');
}
