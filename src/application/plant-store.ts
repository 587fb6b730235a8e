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
import {
  Aggregates,
  type AggregatesOptions,
  type AggregatesUsage,
  type SnapshotOptions,
  type StateCodec,
  type StreamName,
  streamOf,
} from '../event-sourcing';
import { type ListQuery, type Listing, Selection, completeQuery } from './listing';
import { plantCodec } from './plant-codec';
import { plantListCodec } from './plant-list-codec';
import { USER_RULE, type User, parseUser } from './user';

/** The options of the engine. The codecs, by default, and the footprint are those of plants. */
export interface PlantStoreOptions extends Omit<
  AggregatesOptions<Command, PlantEvent, PlantList>,
  'codec' | 'footprint' | 'snapshots'
> {
  readonly snapshots?:
    (Omit<SnapshotOptions<PlantList>, 'codec'> & { codec?: StateCodec<PlantList> }) | undefined;
}

/** The category of the streams with plants. */
export const PLANTS = 'plants';

/** The stream of a user's plants. */
export function plantsOf(user: User): StreamName {
  return streamOf(PLANTS, user);
}

/**
 * The use cases, for every transport. The plants of each user have a stream of events.
 *
 * All methods reject at once with TypeError if an argument is invalid, and with `StoreUnavailable` if nothing was
 * written; `create` and `delete` also reject with `OutcomeUnknown`. Any other error is a bug of the store or of `read`.
 */
export class PlantStore {
  readonly #lists: Aggregates<Command, PlantEvent, Rejection, PlantList>;

  constructor({ snapshots, ...options }: PlantStoreOptions) {
    this.#lists = new Aggregates<Command, PlantEvent, Rejection, PlantList>(plantDecider, {
      ...options,
      codec: plantCodec,
      footprint: plantFootprint,
      snapshots: snapshots && { codec: plantListCodec, ...snapshots },
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

  /**
   * The plants that the query selects; all by default.
   * @param read derives another result from the selection. It is called once, synchronously, when the list is known.
   */
  list(user: User, query?: ListQuery): Promise<Listing>;
  list<T>(user: User, query: ListQuery, read: (selection: Selection) => T): Promise<T>;
  async list(
    user: User,
    query: ListQuery = {},
    read: (selection: Selection) => unknown = (selection) => selection.listing(),
  ): Promise<unknown> {
    const complete = completeQuery(query);
    return this.#with(user, (stream) =>
      this.#lists.query(stream, (list, head) => read(new Selection(list, complete, head))),
    );
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
    return this.#with(user, (stream) => this.#lists.execute(stream, command));
  }

  #with<T>(user: User, use: (stream: StreamName) => Promise<T>): Promise<T> {
    if (typeof user !== 'string' || parseUser(user) === undefined)
      return Promise.reject(new TypeError(`a user must be ${USER_RULE}`));
    return use(plantsOf(user));
  }
}
