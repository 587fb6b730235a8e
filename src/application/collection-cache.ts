import type { CollectionMemory, PlantCollection } from './plant-collection';
import type { User } from './user';

export interface CacheLimits {
  /** About how much memory all collections may take, in bytes. */
  readonly maxBytes: number;
  /** How many plants they may hold, each collection counted as ten more. */
  readonly maxPlants: number;
}

/** What a collection takes beside its plants, in bytes. */
const COLLECTION_BYTES = 2048;
/** The same, counted in plants. */
const COLLECTION_PLANTS = 10;

interface Entry {
  readonly collection: PlantCollection;
  bytes: number;
  plants: number;
}

/**
 * The collections in memory: an LRU cache bounded by what they hold. Beyond a limit the least recently used
 * evictable ones are dropped, to be loaded again on their next request. The one used last stays, unless its memory is
 * needed to load another.
 */
export class CollectionCache {
  /** Least recently used first. */
  readonly #entries = new Map<User, Entry>();
  /** The one used last. */
  #latest: Entry | undefined;
  #bytes = 0;
  #plants = 0;
  #evictions = 0;

  constructor(
    private readonly limits: CacheLimits,
    private readonly open: (user: User, memory: CollectionMemory) => PlantCollection,
  ) {}

  /** What is held, and how many collections were dropped so far. */
  get usage() {
    const collections = this.#entries.size;
    return {
      collections,
      plants: this.#plants - collections * COLLECTION_PLANTS,
      bytes: this.#bytes,
      maxBytes: this.limits.maxBytes,
      evictions: this.#evictions,
    };
  }

  has(user: User): boolean {
    return this.#entries.has(user);
  }

  /** The user's collection, from now on the one used last. */
  get(user: User): PlantCollection {
    const entry = this.#entries.get(user) ?? this.#add(user);
    if (entry !== this.#latest) {
      this.#entries.delete(user);
      this.#entries.set(user, entry);
      this.#latest = entry;
    }
    return entry.collection;
  }

  #add(user: User): Entry {
    const memory: CollectionMemory = { fits: () => this.#fits(entry) };
    const entry: Entry = { collection: this.open(user, memory), bytes: 0, plants: 0 };
    this.#count(entry);
    return entry;
  }

  /** Counts the entry anew, and makes room for it. False where the rest is in use, and takes the memory it needs. */
  #fits(entry: Entry): boolean {
    this.#count(entry);
    if (this.#exceeds()) this.#evict((other) => other !== this.#latest);
    // A load is not held up by a list that is at rest, however recently it was used.
    if (this.#bytes > this.limits.maxBytes) this.#evict((other) => other !== entry);
    return this.#bytes <= this.limits.maxBytes;
  }

  #count(entry: Entry): void {
    const bytes = entry.collection.bytes + COLLECTION_BYTES;
    const plants = entry.collection.size + COLLECTION_PLANTS;
    this.#bytes += bytes - entry.bytes;
    this.#plants += plants - entry.plants;
    entry.bytes = bytes;
    entry.plants = plants;
  }

  #exceeds(): boolean {
    return this.#bytes > this.limits.maxBytes || this.#plants > this.limits.maxPlants;
  }

  #evict(mayGo: (entry: Entry) => boolean): void {
    for (const [user, entry] of this.#entries) {
      if (!this.#exceeds()) return;
      if (!mayGo(entry) || !entry.collection.evictable) continue;
      this.#entries.delete(user);
      this.#bytes -= entry.bytes;
      this.#plants -= entry.plants;
      this.#evictions++;
    }
  }
}
