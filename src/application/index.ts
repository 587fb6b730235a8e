/** The public interface of the application: use cases, ports, and the codec of plant events. */
export { KINDS, type Stores, openStores } from './aggregates';
export {
  type Authenticator,
  AuthenticationUnavailable,
  TOKEN_FAULTS,
  type TokenFault,
} from './authenticator';
export { JsonNumber, parseJson } from './exact-json';
export { FAILURES, type Problem, REJECTED, failureOf } from './failures';
export { type ListQuery, type Listing, Selection, WHOLE_LIST } from './listing';
export type { RequestReport, RequestTrace, RequestTracer, SentRequest } from './observed-requests';
export { type Upcaster, plantCodec, plantCodecWith } from './plant-codec';
export { plantListCodec } from './plant-list-codec';
export { plantKind } from './plant-kind';
export { type PlantStoreOptions, PlantStore, plantsOf } from './plant-store';
export { type User, USER_RULE, parseUser } from './user';
export { UserAggregates, type UserAggregatesOptions, streamOfUser } from './user-aggregates';
