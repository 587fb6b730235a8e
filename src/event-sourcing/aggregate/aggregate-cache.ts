import type { StreamName } from '../ports/stream-name';
import type { Aggregate } from './aggregate';
import type { AggregateMemory } from './stream-state';

interface CacheLimits {
  /** Memory limit of all aggregates, in bytes (estimated). */
  readonly maxBytes: number;
  /** Limit of items; each aggregate counts as ten more. */
  readonly maxItems: number;
}

/** Cost of an aggregate without its state, in bytes. */
const AGGREGATE_BYTES = 2048;
/** Cost of an aggregate without its state, in items. */
const AGGREGATE_ITEMS = 10;

/** The part of an {@link Aggregate} that the cache uses. */
export type Cacheable = Pick<Aggregate<never, never, never, never>, 'bytes' | 'items' | 'evictable'>;

type Open<Opened> = (stream: StreamName, memory: AggregateMemory) => Opened;

interface CacheEntry<Cached> {
  readonly aggregate: Cached;
  bytes: number;
  items: number;
}

/**
 * The aggregates in memory: an LRU cache, bounded in bytes and items. Beyond a limit, the least recently used
 * evictable aggregates are evicted, and loaded again on their next request. The most recently used one is evicted
 * only if another one needs its memory to load.
 */
export class AggregateCache<Cached extends Cacheable> {
  /** Least recently used first. */
  readonly #entries = new Map<StreamName, CacheEntry<Cached>>();
  /** The most recently used one. */
  #latest: CacheEntry<Cached> | undefined;
  #bytes = 0;
  #items = 0;
  #hits = 0;
  #misses = 0;
  #evictions = 0;

  constructor(private readonly limits: CacheLimits) {}

  /** Current cost, and numbers of hits, misses and evictions so far. */
  get usage() {
    const aggregates = this.#entries.size;
    return {
      aggregates,
      items: this.#items - aggregates * AGGREGATE_ITEMS,
      bytes: this.#bytes,
      maxBytes: this.limits.maxBytes,
      hits: this.#hits,
      misses: this.#misses,
      evictions: this.#evictions,
    };
  }

  *aggregates(): Generator<Cached> {
    for (const { aggregate } of this.#entries.values()) yield aggregate;
  }

  has(stream: StreamName): boolean {
    return this.#entries.has(stream);
  }

  /** The stream's aggregate, which is always opened by the same function; makes it the most recently used one. */
  get<Opened extends Cached>(stream: StreamName, open: Open<Opened>): Opened {
    const known = this.#entries.get(stream);
    if (known) this.#hits++;
    else this.#misses++;
    const entry = known ?? this.#add(stream, open);
    if (entry !== this.#latest) {
      this.#entries.delete(stream);
      this.#entries.set(stream, entry);
      this.#latest = entry;
    }
    return entry.aggregate as Opened;
  }

  #add(stream: StreamName, open: Open<Cached>): CacheEntry<Cached> {
    const memory: AggregateMemory = { makeRoom: () => this.#makeRoom(entry) };
    const entry: CacheEntry<Cached> = { aggregate: open(stream, memory), bytes: 0, items: 0 };
    this.#count(entry);
    return entry;
  }

  /** Updates the cost of the entry, and evicts others. False if the memory is still exceeded. */
  #makeRoom(entry: CacheEntry<Cached>): boolean {
    this.#count(entry);
    this.#evict((other) => other !== this.#latest);
    // A load may evict even the most recently used aggregate, if that one is idle.
    if (this.#bytes > this.limits.maxBytes) this.#evict((other) => other !== entry);
    return this.#bytes <= this.limits.maxBytes;
  }

  #count(entry: CacheEntry<Cached>): void {
    const bytes = entry.aggregate.bytes + AGGREGATE_BYTES;
    const items = entry.aggregate.items + AGGREGATE_ITEMS;
    this.#bytes += bytes - entry.bytes;
    this.#items += items - entry.items;
    entry.bytes = bytes;
    entry.items = items;
  }

  #exceeds(): boolean {
    return this.#bytes > this.limits.maxBytes || this.#items > this.limits.maxItems;
  }

  /** Evicts the least recently used of these until the limits are kept. */
  #evict(mayEvict: (entry: CacheEntry<Cached>) => boolean): void {
    // An iterator first skips the places of all streams that were used since the table was last rehashed.
    if (!this.#exceeds()) return;
    for (const [stream, entry] of this.#entries) {
      if (!mayEvict(entry) || !entry.aggregate.evictable) continue;
      this.#entries.delete(stream);
      this.#bytes -= entry.bytes;
      this.#items -= entry.items;
      this.#evictions++;
      if (!this.#exceeds()) return;
    }
  }
}
