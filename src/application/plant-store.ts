import {
  type Command,
  type PlantDecision,
  NewPlant,
  type PlantEvent,
  type PlantId,
  type PlantList,
  type Rejection,
  parsePlantId,
} from '../domain';
import type { AggregatesUsage, StreamName } from '../event-sourcing';
import { type ListQuery, type Listing, Selection, completeQuery } from './listing';
import { plantKind } from './plant-kind';
import type { User } from './user';
import { UserAggregates, type UserAggregatesOptions, streamOfUser } from './user-aggregates';

export type PlantStoreOptions = UserAggregatesOptions<PlantList>;

/** The stream of a user's plants. */
export function plantsOf(user: User): StreamName {
  return streamOfUser(plantKind, user);
}

/**
 * The use cases, for every transport. The plants of each user have a stream of events.
 *
 * All methods reject at once with TypeError if an argument is invalid, and with `StoreUnavailable` if nothing was
 * written; `create` and `delete` also reject with `OutcomeUnknown`. Any other error is a bug of the store or of `read`.
 */
export class PlantStore {
  static readonly kind = plantKind;

  readonly #lists: UserAggregates<Command, PlantEvent, Rejection, PlantList>;

  constructor(options: PlantStoreOptions) {
    this.#lists = new UserAggregates(plantKind, options);
  }

  create(user: User, plant: NewPlant): Promise<PlantDecision<'CreatePlant'>> {
    return this.#execute(user, { type: 'CreatePlant', plant });
  }

  delete(user: User, id: PlantId): Promise<PlantDecision<'DeletePlant'>> {
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
    return this.#lists.query(user, (list, head) => read(new Selection(list, complete, head)));
  }

  /** Current memory and queue lengths. An aggregate is a user's list, its items are the living plants. */
  get usage(): AggregatesUsage {
    return this.#lists.usage;
  }

  /** Resolves with the decision of `decide` on this command. */
  #execute<Type extends Command['type']>(
    user: User,
    command: Extract<Command, { type: Type }>,
  ): Promise<PlantDecision<Type>> {
    const invalid = invalidArgument(command);
    if (invalid !== undefined) return Promise.reject(new TypeError(invalid));
    return this.#lists.execute(user, command);
  }
}

/** What is wrong with the argument of a use case; `undefined` if it is valid. */
function invalidArgument(command: Command): string | undefined {
  if ('plant' in command && !NewPlant.is(command.plant)) return 'a plant must come from NewPlant.from';
  if ('id' in command && !(typeof command.id === 'string' && parsePlantId(command.id) !== undefined))
    return 'the id of a plant must come from parsePlantId';
  return undefined;
}
