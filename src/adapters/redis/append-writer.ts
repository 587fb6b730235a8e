import { Cluster } from 'ioredis';
import { StoreUnavailable } from '../../event-sourcing';
import { isTimeout } from './client';
import type { RedisConnection } from './connection';
import { waitFault } from './faults';
import { type Call, inOneExecution } from './many-calls';
import { isUnknownScript } from './script';
import type { Doubt } from './server-doubt';
import { APPEND, type PackedPage } from './stream-scripts';

export type AppendReply =
  readonly ['appended' | 'archived' | 'reset' | 'unreadable' | Doubt] | readonly ['conflict', PackedPage];

/** Queue limit of a writer: appends without a reply, sent or not. */
export interface AppendBounds {
  readonly appends: number;
  readonly bytes: number;
}

export const APPEND_BOUNDS: AppendBounds = { appends: 10_000, bytes: 64 * 1024 * 1024 };

/** Maximum size of a batch. Redis serves no other client while it executes one, about 2 ms. */
const BATCH: AppendBounds = { appends: 128, bytes: 1024 * 1024 };

interface AppendWriterOptions {
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

interface Append extends Call {
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
 * The appends of one turn of the event loop are a batch: one command, except on a Cluster, where their streams are in
 * several slots. If the outcome of the command is unknown, it is unknown for each of them.
 *
 * WAIT covers all earlier writes of its connection, and blocks the connection. So there is one WAIT at a time, after one
 * batch: appends that arrive meanwhile are the next one (group commit). The queue is bounded, also without replicas.
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

  /** Rejects with {@link StoreUnavailable} if it was not sent; else with `OutcomeUnknown` or an ioredis error. */
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
      if (this.#batchInFlight) append.expiry = this.#expire(append);
      else if (this.#unsent.size === 1) process.nextTick(() => this.#sendAll());
    });
  }

  #release({ bytes }: Append): void {
    this.#appends--;
    this.#bytes -= bytes;
  }

  /** Sends all batches; if replicas are required, only one. */
  #sendAll(): void {
    while (!this.#batchInFlight && this.#unsent.size > 0) {
      this.#batchInFlight = this.options.waitReplicas > 0;
      void this.#send(this.#takeBatch()).then((withoutScript) => {
        this.#batchInFlight = false;
        // In their order, and before later appends, which may expect their heads.
        const unsent = withoutScript.filter(({ expired }) => !expired);
        this.#unsent = new Set([...unsent, ...this.#unsent]);
        this.#sendAll();
      });
    }
    for (const append of this.#unsent) append.expiry ??= this.#expire(append);
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
    const executions = client instanceof Cluster ? batch.map((append) => [append]) : [batch];
    // All in one turn of the event loop, so that no reconnect comes between a script and its WAIT.
    const replies = executions.map((appends) => this.#execute(client, appends));
    const { waitReplicas } = this.options;
    const replicaCount = waitReplicas > 0 ? client.wait(waitReplicas, this.connection.waitMs) : undefined;
    const confirmed = replicaCount && this.#confirm(replicaCount);

    const withoutScript = new Set<Append>();
    executions.forEach((appends, index) => {
      replies[index]!.then(
        (reply) => appends.forEach((append, place) => this.#settle(append, reply[place], confirmed)),
        (error: unknown) => {
          for (const append of appends)
            if (isUnknownScript(error) && !append.sendsScript) {
              // It waits until the connection is free again: until the WAIT of this batch is answered.
              append.sendsScript = true;
              append.expiry = this.#expire(append);
              withoutScript.add(append);
            } else this.#fail(append, error);
        },
      );
    });
    const outcomes = await Promise.allSettled([...replies, replicaCount]);
    if (outcomes.some((outcome) => outcome.status === 'rejected' && isTimeout(outcome.reason)))
      await this.connection.untilAnswered();
    for (const append of batch) if (!withoutScript.has(append)) this.#release(append);
    return [...withoutScript];
  }

  #execute(client: RedisConnection['client'], appends: readonly Append[]): Promise<readonly unknown[]> {
    const [keys, args] = inOneExecution(appends, this.connection.proof);
    const sendsScript = appends.some((append) => append.sendsScript);
    const [command, script] = sendsScript ? ['eval', APPEND.text] : ['evalsha', APPEND.sha1];
    const reply = client.callBuffer(command, [script, keys.length, ...keys, ...args]);
    return reply as Promise<readonly unknown[]>;
  }

  /** @param confirmed resolves when enough replicas have confirmed the append, if any must. */
  #settle(append: Append, reply: unknown, confirmed: Promise<void> | undefined): void {
    if (reply instanceof Error) return this.#fail(append, reply);
    const [status, ...page] = reply as [Buffer, ...unknown[]];
    const result = [String(status), page] as unknown as AppendReply;
    // A result without a write needs no confirmation.
    if (confirmed === undefined || result[0] !== 'appended') append.resolve(result);
    else
      confirmed.then(
        () => append.resolve(result),
        (error: unknown) => this.#fail(append, error),
      );
  }

  #fail(append: Append, error: unknown): void {
    this.connection.findings.appendFailed(error);
    append.reject(error);
  }

  /** Rejects with `OutcomeUnknown` if too few replicas have confirmed the earlier writes. */
  #confirm(replicaCount: Promise<number>): Promise<void> {
    const { waitReplicas } = this.options;
    const confirmed = replicaCount
      // A rejection is treated as a reply: passed on, it would look like an error of the script, which may have run.
      .catch((error: unknown) => error)
      .then((answer) => {
        if (typeof answer === 'number' && answer >= waitReplicas) return;
        if (typeof answer === 'number') this.connection.findings.tooFewReplicas();
        throw waitFault(waitReplicas, answer);
      });
    // It is not awaited if no append was recorded.
    confirmed.catch(() => {});
    return confirmed;
  }
}

/** Whether an append of `bytes` fits. A single append always fits. */
function fits(held: AppendBounds, bytes: number, bounds: AppendBounds): boolean {
  return held.appends === 0 || (held.appends < bounds.appends && held.bytes + bytes <= bounds.bytes);
}

function sizeOf(texts: readonly (string | number)[]): number {
  let bytes = 0;
  for (const text of texts) bytes += typeof text === 'string' ? Buffer.byteLength(text) : String(text).length;
  return bytes;
}
