import { setTimeout as delay } from 'node:timers/promises';
import { type FeedPosition, type Head, type StreamName, StoreUnavailable } from '../../event-sourcing';
import type { RedisConnection } from './connection';
import { feedKeys, isFeedKey, streamKey } from './stream-key';

/** Longest time of a blocking read, in ms. It is for the subscribers at its start; later ones wait for the next read. */
const BLOCK_MS = 100;
/** The same after a change: its subscribers read, and soon wait for the next one. */
const BLOCK_AFTER_CHANGE_MS = 10;
/** After a failure, all subscribers are notified after this time, in ms, so that they read. */
const RETRY_MS = 200;
/** How long the connection stays open without a subscriber that waits, in ms. */
const LINGER_MS = 1000;

interface Waiter {
  /** A version, or a sequence number of a feed. */
  readonly after: number;
  readonly changed: () => void;
}

/**
 * Notifies all subscribers of a store by blocking reads, on a connection of its own: one read waits for all streams.
 * Not for a Cluster, where one read can only wait for the streams of one hash slot.
 */
export class ChangeNotifier {
  /** By the key of their stream. */
  readonly #waiting = new Map<string, Set<Waiter>>();
  #running = false;
  #blockMs = BLOCK_MS;
  #connection: RedisConnection | undefined;
  #linger: NodeJS.Timeout | undefined;
  /** Why it reads no more: it is closed, or the Redis user has no right to. */
  #ended: string | undefined;

  constructor(
    private readonly connect: () => RedisConnection,
    private readonly keyPrefix: string,
  ) {}

  /** Implements `EventStore.notify`. */
  notify(stream: StreamName, { version }: Head, changed: () => void): () => void {
    return this.#wait(streamKey(this.keyPrefix, stream), { after: version, changed });
  }

  /** Implements `Feed.notify`. */
  notifyOfFeed(bucket: number, { sequence }: FeedPosition, changed: () => void): () => void {
    const [key] = feedKeys(this.keyPrefix, bucket);
    return this.#wait(key, { after: sequence, changed });
  }

  #wait(key: string, waiter: Waiter): () => void {
    const waiters = this.#waiting.get(key) ?? new Set();
    this.#waiting.set(key, waiters.add(waiter));
    if (!this.#running) void this.#run();
    return () => {
      waiters.delete(waiter);
      if (waiters.size === 0 && this.#waiting.get(key) === waiters) this.#waiting.delete(key);
    };
  }

  close(): void {
    this.#ended = 'the store was closed';
    this.#disconnect();
  }

  /** Reads while any subscriber waits. */
  async #run(): Promise<void> {
    this.#running = true;
    clearTimeout(this.#linger);
    while (this.#waiting.size > 0) {
      try {
        for (const key of await this.#changedKeys()) this.#changed(key);
      } catch (error) {
        if (isForbidden(error)) this.#ended = 'XREAD is forbidden';
        await delay(RETRY_MS, undefined, { ref: false });
        for (const key of [...this.#waiting.keys()]) this.#changed(key);
      }
    }
    this.#running = false;
    this.#linger = setTimeout(() => this.#disconnect(), LINGER_MS).unref();
  }

  #changed(key: string): void {
    const waiters = this.#waiting.get(key) ?? [];
    this.#waiting.delete(key);
    for (const { changed } of waiters) changed();
  }

  /** The keys of the streams that have newer events, after at most {@link BLOCK_MS}. A replica may lag behind. */
  async #changedKeys(): Promise<string[]> {
    const connection = await this.#connected();
    const { client, waitMs } = connection;
    // All may have been cancelled meanwhile.
    if (this.#waiting.size === 0) return [];
    const ids = [...this.#waiting].map(([key, waiters]) => {
      const oldest = Math.min(...[...waiters].map(({ after }) => after));
      return isFeedKey(key) ? `0-${oldest}` : `${oldest}-0`;
    });
    // It must end before the command timeout.
    const blockMs = Math.min(this.#blockMs, waitMs);
    const keys = this.#waiting.keys();
    const [, streams] = await Promise.all([
      connection.mustBePrimary(),
      client.xread('COUNT', 1, 'BLOCK', blockMs, 'STREAMS', ...keys, ...ids),
    ]);
    this.#blockMs = streams === null ? BLOCK_MS : BLOCK_AFTER_CHANGE_MS;
    return (streams ?? []).map(([key]) => key);
  }

  async #connected(): Promise<RedisConnection> {
    if (this.#ended !== undefined) throw new StoreUnavailable(this.#ended);
    if (this.#connection === undefined) {
      this.#connection = this.connect();
      await Promise.race([this.#connection.examined, delay(RETRY_MS, undefined, { ref: false })]);
    }
    return this.#connection;
  }

  #disconnect(): void {
    clearTimeout(this.#linger);
    this.#connection?.close();
    this.#connection = undefined;
  }
}

function isForbidden(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOPERM');
}
