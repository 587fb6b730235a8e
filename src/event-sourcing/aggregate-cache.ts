import type { StreamName } from './ports/stream-name';

/** The estimated memory of an aggregate besides its state. */
export const AGGREGATE_BYTES = 2048;

interface Entry<Aggregate> {
  readonly aggregate: Aggregate;
  bytes: number;
  referenced: boolean;
}

/**
 * The aggregates of all kinds that are in memory, bounded in bytes. If the limit is exceeded, idle
 * aggregates are evicted, and loaded again on their next request. Eviction uses the CLOCK algorithm
 * (second chance): an aggregate that was used since the last pass is spared once. A strict LRU
 * order would have to be updated by every request, which took a tenth of the time of a write.
 */
export class AggregateCache<Aggregate extends { readonly isIdle: boolean }> {
  readonly #entries = new Map<StreamName, Entry<Aggregate>>();
  #bytes = 0;
  #hits = 0;
  #misses = 0;
  #evictions = 0;

  /** The size of the largest state that can be loaded. It fits only if no other is in memory. */
  readonly maxStateBytes: number;

  constructor(readonly maxBytes: number) {
    this.maxStateBytes = maxBytes - AGGREGATE_BYTES;
  }

  get usage() {
    return {
      streams: this.#entries.size,
      bytes: this.#bytes,
      maxBytes: this.maxBytes,
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

  /** Adds an aggregate that has no state yet, and evicts others like `resize`. */
  add(stream: StreamName, aggregate: Aggregate): void {
    this.#misses++;
    this.#entries.set(stream, { aggregate, bytes: 0, referenced: false });
    this.resize(stream, 0);
  }

  /**
   * Sets the memory of an aggregate's state, and evicts other aggregates until all fit into the
   * limit. Returns false if they still do not fit.
   */
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
    // A spared entry moves to the end of the map, where this loop reaches it again.
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
