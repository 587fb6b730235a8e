import type { Decision, NewPlant, PlantId } from '../domain';
import type { CollectionOptions } from './collection-options';
import type { ListQuery, Listing } from './listing';
import { PlantCollection } from './plant-collection';
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
  weight: number;
}

/**
 * The use cases: what every transport calls. One collection a user, made when
 * first asked for and kept while memory allows: beyond `cacheMaxPlants` the
 * least recently used idle ones are let go, to be projected anew from
 * their events when asked for again. The one used last always stays.
 *
 * All three reject with `StoreUnavailable` or whatever else the store threw, its
 * own fault (nothing happened), or, the two that write, `OutcomeUnknown`.
 */
export class PlantStore {
  /** Least recently used first. */
  readonly #entries = new Map<User, Entry>();
  /** The one used last. */
  #latest: Entry | undefined;
  #weight = 0;
  readonly #options: CollectionOptions & { readonly cacheMaxPlants: number };

  constructor(options: PlantStoreOptions) {
    this.#options = { ...DEFAULTS, ...options };
  }

  create(user: User, plant: NewPlant): Promise<Decision> {
    return this.#of(user).execute({ type: 'CreatePlant', plant });
  }

  delete(user: User, id: PlantId): Promise<Decision> {
    return this.#of(user).execute({ type: 'DeletePlant', id });
  }

  list(user: User, query: ListQuery): Promise<Listing> {
    return this.#of(user).query(query);
  }

  /** How much is in memory now. */
  get held(): { readonly collections: number; readonly plants: number } {
    const collections = this.#entries.size;
    return { collections, plants: this.#weight - collections * COLLECTION_WEIGHT };
  }

  #of(user: User): PlantCollection {
    const entry = this.#entries.get(user) ?? this.#newEntry(user);
    if (entry !== this.#latest) {
      this.#entries.delete(user);
      this.#entries.set(user, entry);
      this.#latest = entry;
    }
    return entry.collection;
  }

  #newEntry(user: User): Entry {
    const weighAnew = () => this.#weigh(entry);
    const entry: Entry = {
      collection: new PlantCollection(user, this.#options, weighAnew),
      weight: COLLECTION_WEIGHT,
    };
    this.#weight += COLLECTION_WEIGHT;
    return entry;
  }

  #weigh(entry: Entry): void {
    const weight = entry.collection.size + COLLECTION_WEIGHT;
    this.#weight += weight - entry.weight;
    entry.weight = weight;
    if (this.#weight > this.#options.cacheMaxPlants) this.#evict();
  }

  #evict(): void {
    let left = this.#entries.size;
    for (const [user, entry] of this.#entries) {
      if (this.#weight <= this.#options.cacheMaxPlants || --left === 0) return;
      if (entry.collection.busy) continue;
      this.#entries.delete(user);
      this.#weight -= entry.weight;
    }
  }
}
