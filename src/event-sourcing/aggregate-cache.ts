import type { StreamName } from './ports/stream-name';

/** Estimated memory of an aggregate without its state, in bytes. */
const AGGREGATE_BYTES = 2048;

interface Entry<Aggregate> {
  readonly aggregate: Aggregate;
  /** Its estimated memory, with its state. */
  bytes: number;
  /** Whether a request has used it since it was added, or since it was last spared. */
  referenced: boolean;
}

/**
 * The aggregates in memory, of all kinds, bounded in bytes. Beyond the bound, idle ones are evicted and loaded again on
 * their next request. This is CLOCK (second-chance) eviction: an entry that was referenced is spared once. A strict LRU
 * order would have to be updated by every request, and that cost a tenth of the time of a write.
 */
export class AggregateCache<Aggregate extends { readonly isIdle: boolean }> {
  /** In the order in which they are considered for eviction. */
  readonly #entries = new Map<StreamName, Entry<Aggregate>>();
  #bytes = 0;
  #hits = 0;
  #misses = 0;
  #evictions = 0;

  constructor(readonly maxBytes: number) {}

  get usage() {
    return {
      /** Streams in memory, and their estimated bytes. */
      streams: this.#entries.size,
      bytes: this.#bytes,
      maxBytes: this.maxBytes,
      /** Requests so far whose stream was in memory, or being loaded; and those that had to load it. */
      hits: this.#hits,
      misses: this.#misses,
      evictions: this.#evictions,
    };
  }

  find(stream: StreamName): Aggregate | undefined {
    const entry = this.#entries.get(stream);
    if (entry === undefined) return undefined;
    this.#hits++;
    entry.referenced = true;
    return entry.aggregate;
  }

  /** Adds an aggregate that is not in memory, without evicting another one: its first load or write does that. */
  add(stream: StreamName, aggregate: Aggregate): void {
    this.#entries.set(stream, { aggregate, bytes: AGGREGATE_BYTES, referenced: false });
    this.#misses++;
    this.#bytes += AGGREGATE_BYTES;
  }

  /** Sets how much memory the state of an aggregate takes, and evicts others until it fits. False if it does not. */
  resize(stream: StreamName, stateBytes: number): boolean {
    const entry = this.#entries.get(stream);
    if (entry === undefined) return true;
    const bytes = stateBytes + AGGREGATE_BYTES;
    this.#bytes += bytes - entry.bytes;
    entry.bytes = bytes;
    if (this.#bytes > this.maxBytes) this.#evictOthersThan(entry);
    return this.#bytes <= this.maxBytes;
  }

  #evictOthersThan(entry: Entry<Aggregate>): void {
    // A spared entry goes to the end of the map, where this loop meets it again.
    for (const [stream, other] of this.#entries) {
      if (other === entry || !other.aggregate.isIdle) continue;
      this.#entries.delete(stream);
      if (other.referenced) {
        other.referenced = false;
        this.#entries.set(stream, other);
        continue;
      }
      this.#bytes -= other.bytes;
      this.#evictions++;
      if (this.#bytes <= this.maxBytes) return;
    }
  }
}
