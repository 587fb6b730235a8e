import {
  type Command,
  type Decision,
  NewPlant,
  type PlantEvent,
  type PlantId,
  type PlantList,
  type Rejection,
  parsePlantId,
  plantDecider,
  plantFootprint,
} from '../domain';
import { Aggregates, type AggregatesOptions, type AggregatesUsage, type View } from '../event-sourcing';
import { type ListQuery, type Listing, completeQuery, pageOf } from './listing';
import type { User } from './user';

export type PlantStoreOptions = Omit<AggregatesOptions<Command, PlantEvent, PlantList>, 'footprint'>;

/** Derives a value from a user's list and its head. */
export type PlantView<T> = View<Pick<PlantList, 'size' | 'has' | 'page' | 'living'>, T>;

/**
 * The use cases, for every transport. Each user has a stream of events.
 *
 * All methods reject at once with TypeError if an argument is invalid, and with `StoreUnavailable` if nothing was
 * written; `create` and `delete` also reject with `OutcomeUnknown`. Any other error is a bug of the store or of `view`.
 */
export class PlantStore {
  readonly #lists: Aggregates<Command, PlantEvent, Rejection, PlantList>;

  constructor(options: PlantStoreOptions) {
    this.#lists = new Aggregates<Command, PlantEvent, Rejection, PlantList>(plantDecider, {
      ...options,
      footprint: plantFootprint,
    });
  }

  create(user: User, plant: NewPlant): Promise<Decision<'CreatePlant'>> {
    if (!NewPlant.is(plant))
      return Promise.reject(new TypeError('a plant to create must come from NewPlant.from'));
    return this.#execute(user, { type: 'CreatePlant', plant });
  }

  delete(user: User, id: PlantId): Promise<Decision<'DeletePlant'>> {
    if (typeof id !== 'string' || parsePlantId(id) === undefined)
      return Promise.reject(new TypeError('the id of a plant must come from parsePlantId'));
    return this.#execute(user, { type: 'DeletePlant', id });
  }

  /** The plants that the query selects; all by default. */
  async list(user: User, query: ListQuery = {}): Promise<Listing> {
    const complete = completeQuery(query);
    return this.query(user, (list, head) => {
      const { plants, next } = pageOf(list, complete);
      return { plants, next, head };
    });
  }

  /** Derives a value from the user's list at a moment after the call. `view` is called once, synchronously. */
  query<T>(user: User, view: PlantView<T>): Promise<T> {
    if (typeof view !== 'function')
      return Promise.reject(new TypeError('a query needs a function of the list'));
    return this.#lists.query(user, view);
  }

  /** Current memory and queue lengths. An aggregate is a user's list, its items are the living plants. */
  get usage(): AggregatesUsage {
    return this.#lists.usage;
  }

  /** Resolves with the decision of `decide` on this command. */
  #execute<Type extends Command['type']>(
    user: User,
    command: Extract<Command, { type: Type }>,
  ): Promise<Decision<Type>> {
    return this.#lists.execute(user, command);
  }
}
