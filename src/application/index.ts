/** The public face of the application: the use cases, and the ports that adapters implement. */
export { type Authenticator, AuthenticationUnavailable } from './authenticator';
export type { Clock } from './clock';
export {
  type AppendResult,
  type EventStore,
  type Head,
  type HistoryLost,
  type NewerEvents,
  type ReadResult,
  type RecordedEvent,
  BEGINNING,
  OutcomeUnknown,
  StoreUnavailable,
  type UnavailableOptions,
  UnreadableHistory,
  headOf,
} from './event-store';
export type { CollectionObserver, CollectionOptions } from './collection-options';
export type { ListQuery, Listing } from './listing';
export { PlantCollection } from './plant-collection';
export type { View } from './projection';
export { type PlantStoreOptions, type StoreUsage, PlantStore } from './plant-store';
export { HistoryChanged, replay } from './replay';
export type { CataloguedStream, ForeignObject, StreamCatalogue } from './stream-catalogue';
export { type User, USER_RULE, parseUser } from './user';
