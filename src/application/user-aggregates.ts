import {
  Aggregates,
  type AggregatesOptions,
  type AggregatesUsage,
  type Decision,
  type Kind,
  type SnapshotOptions,
  type StateCodec,
  type StreamName,
  type View,
  streamOf,
} from '../event-sourcing';
import { USER_RULE, type User, parseUser } from './user';

/** The options of the engine without those that a kind has. */
export interface UserAggregatesOptions<State = never> extends Omit<
  AggregatesOptions<never, never, State>,
  'codec' | 'footprint' | 'snapshots'
> {
  /** The codec is that of the kind by default. */
  readonly snapshots?:
    (Omit<SnapshotOptions<State>, 'codec'> & { readonly codec?: StateCodec<State> }) | undefined;
}

/** The stream of a user in the category of a kind. */
export function streamOfUser({ category }: { readonly category: string }, user: User): StreamName {
  return streamOf(category, user);
}

/** The aggregates of one kind: each user has one. All methods reject as those of `Aggregates`, and for an invalid user. */
export class UserAggregates<Command, Event, Rejection, State> {
  readonly #all: Aggregates<Command, Event, Rejection, State>;

  constructor(
    private readonly kind: Kind<Command, Event, Rejection, State>,
    { snapshots, ...options }: UserAggregatesOptions<State>,
  ) {
    const { decider, codec, footprint, stateCodec } = kind;
    this.#all = new Aggregates(decider, {
      ...options,
      codec,
      footprint,
      snapshots: snapshots && { codec: stateCodec, ...snapshots },
    });
  }

  execute(user: User, command: Command): Promise<Decision<Event, Rejection>> {
    return this.#with(user, (stream) => this.#all.execute(stream, command));
  }

  query<T>(user: User, view: View<State, T>): Promise<T> {
    return this.#with(user, (stream) => this.#all.query(stream, view));
  }

  get usage(): AggregatesUsage {
    return this.#all.usage;
  }

  #with<T>(user: User, use: (stream: StreamName) => Promise<T>): Promise<T> {
    if (typeof user !== 'string' || parseUser(user) === undefined)
      return Promise.reject(new TypeError(`a user must be ${USER_RULE}`));
    return use(streamOfUser(this.kind, user));
  }
}
