import type { Decision, NewPlant, PlantId } from '../domain';
import { type CollectionOptions, type ListQuery, type Listing, PlantCollection } from './plant-collection';
import type { User } from './user';

export interface PlantStoreOptions extends Omit<CollectionOptions, 'timeoutMs' | 'maxWaiting'> {
  /** Within how many milliseconds of its arrival every request is answered; 2000 by default. */
  readonly timeoutMs?: number;
  /** How many requests of one user may wait for the next round, more are refused; 1024 by default. */
  readonly maxWaiting?: number;
  /** How many plants may stay in memory between requests, over all users; 1,000,000 by default. */
  readonly cacheMaxPlants?: number;
}

const DEFAULTS = { timeoutMs: 2000, maxWaiting: 1024, cacheMaxPlants: 1_000_000 };

/** What an empty collection weighs beside its plants, in plants (measured: about 1 KB against 120 bytes). */
const COLLECTION_WEIGHT = 10;

interface Entry {
  readonly collection: PlantCollection;
  /** Requests under way: while there are any, the collection stays. */
  pending: number;
  weight: number;
}

/**
 * The use cases: what every transport calls. One collection a user, made when
 * first asked for and kept while memory allows: beyond `cacheMaxPlants` the
 * least recently used ones without work are let go, to be projected anew from
 * their events when asked for again. The one used last always stays.
 *
 * All three reject with `StoreUnavailable` or whatever else the store threw, its
 * own fault (nothing happened), or, the two that write, `OutcomeUnknown`.
 */
export class PlantStore {
  /** Least recently used first. */
  readonly #entries = new Map<User, Entry>();
  #weight = 0;
  readonly #options: CollectionOptions & { readonly cacheMaxPlants: number };

  constructor(options: PlantStoreOptions) {
    this.#options = { ...DEFAULTS, ...options };
  }

  create(user: User, plant: NewPlant): Promise<Decision> {
    return this.#with(user, (plants) => plants.execute({ type: 'CreatePlant', plant }));
  }

  delete(user: User, id: PlantId): Promise<Decision> {
    return this.#with(user, (plants) => plants.execute({ type: 'DeletePlant', id }));
  }

  list(user: User, query: ListQuery): Promise<Listing> {
    return this.#with(user, (plants) => plants.query(query));
  }

  /** How much is in memory now. */
  get held(): { readonly collections: number; readonly plants: number } {
    const collections = this.#entries.size;
    return { collections, plants: this.#weight - collections * COLLECTION_WEIGHT };
  }

  async #with<T>(user: User, use: (plants: PlantCollection) => Promise<T>): Promise<T> {
    const entry = this.#entries.get(user) ?? this.#newEntry(user);
    this.#entries.delete(user);
    this.#entries.set(user, entry);
    entry.pending++;
    try {
      return await use(entry.collection);
    } finally {
      entry.pending--;
      const weight = entry.collection.size + COLLECTION_WEIGHT;
      this.#weight += weight - entry.weight;
      entry.weight = weight;
      if (this.#weight > this.#options.cacheMaxPlants) this.#evict();
    }
  }

  #newEntry(user: User): Entry {
    this.#weight += COLLECTION_WEIGHT;
    return { collection: new PlantCollection(user, this.#options), pending: 0, weight: COLLECTION_WEIGHT };
  }

  #evict(): void {
    let left = this.#entries.size;
    for (const [user, entry] of this.#entries) {
      if (this.#weight <= this.#options.cacheMaxPlants || --left === 0) return;
      if (entry.pending > 0) continue;
      this.#entries.delete(user);
      this.#weight -= entry.weight;
    }
  }
}
