import { OutcomeUnknown, StoreUnavailable } from '../../event-sourcing';
import { isTimeout } from './client';
import type { RedisConnection } from './connection';
import { APPEND, type Doubt, type PackedPage, isUnknownScript } from './scripts';

export type AppendReply =
  readonly ['appended' | 'archived' | 'reset' | 'unreadable' | Doubt] | readonly ['conflict', PackedPage];

/** Queue limit of a writer: appends without a reply, sent or not. */
export interface AppendBounds {
  readonly appends: number;
  readonly bytes: number;
}

export const APPEND_BOUNDS: AppendBounds = { appends: 10_000, bytes: 64 * 1024 * 1024 };

/** Maximum size of a batch, which one WAIT confirms. */
const BATCH: AppendBounds = { appends: 1000, bytes: 8 * 1024 * 1024 };

export interface AppendWriterOptions {
  /** How many replicas must confirm an append before it is acknowledged; 0 or more. */
  readonly waitReplicas: number;
  readonly bounds?: AppendBounds | undefined;
}

/** The queue of a writer, and the number of appends that it refused. */
export interface AppendLoad {
  readonly appends: number;
  readonly bytes: number;
  readonly refused: number;
}

interface Append {
  readonly keys: readonly string[];
  readonly args: readonly (string | number)[];
  readonly bytes: number;
  readonly resolve: (reply: AppendReply) => void;
  readonly reject: (error: unknown) => void;
  /** Whether the script itself is sent instead of its digest, because Redis answered NOSCRIPT. */
  sendsScript: boolean;
  /** Rejects the append if it is not sent in time. */
  expiry?: NodeJS.Timeout;
  /** Whether it was rejected because it was not sent in time. */
  expired?: true;
}

/**
 * Executes the append script, and confirms its writes with WAIT if replicas are required.
 *
 * WAIT covers all earlier writes of its connection, and blocks the connection. So there is one WAIT at a time:
 * appends that arrive meanwhile are queued and sent as one batch, followed by one WAIT (group commit). If no replicas
 * are required, appends are sent at once. The queue is bounded in both cases.
 */
export class AppendWriter {
  #unsent = new Set<Append>();
  #batchInFlight = false;
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

  /** Rejects with {@link StoreUnavailable} if it was not sent; else with {@link OutcomeUnknown} or an ioredis error. */
  execute(keys: readonly string[], args: readonly (string | number)[]): Promise<AppendReply> {
    const bytes = sizeOf(keys) + sizeOf(args);
    if (!fits({ appends: this.#appends, bytes: this.#bytes }, bytes, this.#bounds)) {
      this.#refused++;
      const message = 'too many appends are waiting for Redis';
      return Promise.reject(new StoreUnavailable(message, { reason: 'waiting_appends' }));
    }
    this.#appends++;
    this.#bytes += bytes;
    return new Promise((resolve, reject) => {
      const append: Append = { keys, args, bytes, resolve, reject, sendsScript: false };
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
    if (this.#batchInFlight || this.#unsent.size === 0) return;
    this.#batchInFlight = this.options.waitReplicas > 0;
    void this.#send(this.#takeBatch()).then((withoutScript) => {
      this.#batchInFlight = false;
      // In their order, and before later appends, which may expect their heads.
      const unsent = withoutScript.filter(({ expired }) => !expired);
      this.#unsent = new Set([...unsent, ...this.#unsent]);
      this.#sendNext();
    });
  }

  #expire(append: Append): NodeJS.Timeout {
    return setTimeout(() => {
      append.expired = true;
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

  /** Sends a batch. Resolves after all replies with the appends that got NOSCRIPT. Never rejects. */
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
    // All in one turn of the event loop, so that no reconnect comes between a script and its WAIT.
    const replies = batch.map(({ keys, args, sendsScript }) =>
      (sendsScript
        ? client.callBuffer('eval', APPEND.text, keys.length, ...keys, ...args)
        : client.callBuffer('evalsha', APPEND.sha1, keys.length, ...keys, ...args)
      ).then(appendReply),
    );
    const { waitReplicas } = this.options;
    const replicaCount = waitReplicas > 0 ? client.wait(waitReplicas, this.connection.waitMs) : 0;
    const confirmed = this.#confirm(replicaCount);

    const withoutScript = new Set<Append>();
    batch.forEach((append, index) => {
      confirmedReply(replies[index]!, confirmed).then(append.resolve, (error: unknown) => {
        if (isUnknownScript(error) && !append.sendsScript) {
          // It waits until the connection is free again: until the WAIT of this batch is answered.
          append.sendsScript = true;
          append.expiry = this.#expire(append);
          withoutScript.add(append);
        } else {
          this.connection.findings.appendFailed(error);
          append.reject(error);
        }
      });
    });
    const outcomes = await Promise.allSettled([...replies, replicaCount]);
    if (outcomes.some((outcome) => outcome.status === 'rejected' && isTimeout(outcome.reason)))
      await this.connection.untilAnswered();
    for (const append of batch) if (!withoutScript.has(append)) this.#release(append);
    return [...withoutScript];
  }

  /** Rejects with {@link OutcomeUnknown} if too few replicas have confirmed the earlier writes. */
  #confirm(replicaCount: Promise<number> | number): Promise<void> {
    const { waitReplicas } = this.options;
    const confirmed = Promise.resolve(replicaCount)
      // A rejection is treated as a reply: passed on, it would look like an error of the script, which may have run.
      .catch((error: unknown) => error)
      .then((answer) => {
        if (typeof answer === 'number' && answer >= waitReplicas) return;
        if (typeof answer === 'number') this.connection.findings.tooFewReplicas();
        throw new OutcomeUnknown(`WAIT for ${waitReplicas} replicas was answered: ${String(answer)}`);
      });
    // It is not awaited if no append was recorded.
    confirmed.catch(() => {});
    return confirmed;
  }
}

function appendReply(reply: unknown): AppendReply {
  const [status, ...page] = reply as [Buffer, ...unknown[]];
  return [String(status), page] as unknown as AppendReply;
}

async function confirmedReply(replied: Promise<AppendReply>, confirmed: Promise<void>): Promise<AppendReply> {
  const reply = await replied;
  if (reply[0] === 'appended') await confirmed;
  return reply;
}

/** Whether an append of `bytes` fits. A single append always fits. */
function fits(held: AppendBounds, bytes: number, bounds: AppendBounds): boolean {
  return held.appends === 0 || (held.appends < bounds.appends && held.bytes + bytes <= bounds.bytes);
}

function sizeOf(texts: readonly (string | number)[]): number {
  return texts.reduce<number>((bytes, text) => bytes + Buffer.byteLength(String(text)), 0);
}
