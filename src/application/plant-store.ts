import { type Decision, NewPlant, type PlantId, parsePlantId } from '../domain';
import { ByteBudget } from './byte-budget';
import { CollectionCache } from './collection-cache';
import type { CollectionOptions } from './collection-options';
import type { ListQuery, Listing } from './listing';
import { LoadQueue } from './load-queue';
import { PlantCollection } from './plant-collection';
import type { View } from './projection';
import { SafeObserver } from './safe-observer';
import { USER_RULE, type User, parseUser } from './user';

export interface PlantStoreOptions extends Pick<
  CollectionOptions,
  'store' | 'clock' | 'mintCommit' | 'gather' | 'observer'
> {
  /** Within how many milliseconds of its arrival every request is answered; 2000 by default. */
  readonly timeoutMs?: number | undefined;
  /** How many requests of one user may wait for the next round, more are refused; 1024 by default. */
  readonly maxWaiting?: number | undefined;
  /**
   * About how much memory plants may take, in bytes; 256 MiB by default. One user may take all of it. Requests that
   * wait to be recorded may take a quarter as much besides.
   */
  readonly cacheMaxBytes?: number | undefined;
  /** How many plants may stay in memory between requests, each user counted as ten more; unbounded by default. */
  readonly cacheMaxPlants?: number | undefined;
}

/** How much a store holds, and has to do, at one moment. */
export interface StoreUsage {
  /** Users in memory, their plants, and about how many bytes those take. */
  readonly collections: number;
  readonly plants: number;
  readonly bytes: number;
  readonly maxBytes: number;
  /** What the commands that are not answered yet take, in bytes. */
  readonly commandBytes: number;
  readonly maxCommandBytes: number;
  /** Pages of histories requested from the event store, and such that wait for their turn. */
  readonly pagesReading: number;
  readonly pagesWaiting: number;
  /** Users dropped from memory so far. */
  readonly evictions: number;
}

const COMMANDS_SHARE = 1 / 4;

/**
 * The use cases: what every transport calls. Each user has a collection of their own, loaded on the first request
 * and kept while memory allows.
 *
 * All reject with TypeError, at once and for this caller only, where an argument is wrong; with `StoreUnavailable`
 * or any other error of the store, its own fault (nothing happened); `create` and `delete` also with `OutcomeUnknown`.
 */
export class PlantStore {
  readonly #cache: CollectionCache;
  readonly #loads: LoadQueue;
  readonly #commandBytes: ByteBudget;

  constructor(options: PlantStoreOptions) {
    const { timeoutMs = 2000, maxWaiting = 1024 } = options;
    const { cacheMaxBytes = 256 * 2 ** 20, cacheMaxPlants = Infinity } = options;
    this.#loads = new LoadQueue(options.clock, 2 * timeoutMs);
    this.#commandBytes = new ByteBudget(cacheMaxBytes * COMMANDS_SHARE);
    const collectionOptions: CollectionOptions = {
      ...options,
      timeoutMs,
      maxWaiting,
      maxBytes: cacheMaxBytes,
      loads: this.#loads,
      commandBytes: this.#commandBytes,
      observer: SafeObserver.of(options.observer),
    };
    this.#cache = new CollectionCache(
      { maxBytes: cacheMaxBytes, maxPlants: cacheMaxPlants },
      (user, memory) => new PlantCollection(user, collectionOptions, memory),
    );
  }

  create(user: User, plant: NewPlant): Promise<Decision> {
    if (!NewPlant.is(plant))
      return Promise.reject(new TypeError('a plant to create must come from NewPlant.from'));
    return this.#with(user, (collection) => collection.execute({ type: 'CreatePlant', plant }));
  }

  delete(user: User, id: PlantId): Promise<Decision> {
    if (typeof id !== 'string' || parsePlantId(id) === undefined)
      return Promise.reject(new TypeError('the id of a plant must come from parsePlantId'));
    return this.#with(user, (collection) => collection.execute({ type: 'DeletePlant', id }));
  }

  /** Up to `limit` plants (all by default) from `after` (a listing's `next`; the beginning by default). */
  async list(user: User, { limit = Infinity, after = 0 }: ListQuery = {}): Promise<Listing> {
    if (!(limit >= 0)) throw new TypeError('limit must be a number of plants, 0 or more');
    if (!(after >= 0)) throw new TypeError("after must be a listing's next, or 0");
    return this.query(user, (list, head) => {
      const { plants, next } = list.page(limit, after);
      return { plants, next, head };
    });
  }

  /** What `view` makes of the user's list, as of a moment after the call. Called once, synchronously. */
  query<T>(user: User, view: View<T>): Promise<T> {
    if (typeof view !== 'function')
      return Promise.reject(new TypeError('a query needs a function of the list'));
    return this.#with(user, (collection) => collection.query(view));
  }

  #with<T>(user: User, use: (collection: PlantCollection) => Promise<T>): Promise<T> {
    if (!this.#cache.has(user) && !isUser(user))
      return Promise.reject(new TypeError(`a user must come from parseUser: ${USER_RULE}`));
    return use(this.#cache.get(user));
  }

  get usage(): StoreUsage {
    return {
      ...this.#cache.usage,
      commandBytes: this.#commandBytes.used,
      maxCommandBytes: this.#commandBytes.max,
      pagesReading: this.#loads.reading,
      pagesWaiting: this.#loads.waiting,
    };
  }
}

function isUser(user: unknown): boolean {
  return typeof user === 'string' && parseUser(user) !== undefined;
}
