/** The public interface of the engine: event sourcing for any domain, on any store. */
export type { Clock } from './ports/clock';
export { type Codec, type RecordedEvent, type StateCodec, type StateReader, recordedEvent } from './codec';
export { type EventChecks, type MemberChecks, jsonCodec, parseJsonObject } from './json-codec';
export { type Decider, type Decision, decideAll } from './decider';
export { type AnyKind, type ExportedData, type Kind, kindOf } from './kind';
export {
  type AppendResult,
  type EncodedEvent,
  type EventPage,
  type EventStore,
  type Head,
  type HistoryArchived,
  type HistoryLost,
  type Notify,
  type ReadResult,
  type StoredEvent,
  BEGINNING,
  headOf,
  isSameHead,
} from './ports/event-store';
export {
  OutcomeUnknown,
  StoreUnavailable,
  UNAVAILABLE_REASONS,
  type UnavailableOptions,
  type UnavailableReason,
  UnreadableHistory,
  isTransient,
} from './ports/faults';
export type { EventStoreOptions, OpenEventStore, StoreStatus } from './ports/open-event-store';
export { type StreamName, STREAM_NAME_RULE, parseStreamName, partsOf, streamOf } from './ports/stream-name';
export type { CataloguedStream, ForeignObject, StreamCatalogue } from './ports/stream-catalogue';
export {
  type Base,
  type Snapshot,
  type SnapshotStore,
  type StoredBase,
  type StoredSnapshot,
  BrokenSnapshot,
} from './ports/snapshot-store';
export {
  type Feed,
  type FeedEntry,
  type FeedPosition,
  type FeedReadResult,
  type FeedTrail,
  FEED_BEGINNING,
} from './ports/feed';
export {
  type Checkpoint,
  type CheckpointStore,
  type CheckpointWrite,
  CheckpointConflict,
  headKeyOf,
  headOfText,
  partsOfKey,
  textOfHead,
} from './ports/checkpoint';
export type { LeaseStore } from './ports/lease-store';
export type { StreamArchive } from './ports/stream-archive';
export { ArchivedHistory, HistoryChanged, replay } from './loading/replay';
export { ReplayedState } from './loading/replayed-state';
export { type SubscribeOptions, subscribe } from './subscriptions/subscribe';
export { type ProjectedStore, Projection, atLeastOnce, project } from './subscriptions/project';
export {
  type Batch,
  type LeaseOptions,
  type LostTail,
  type ProjectionObserver,
  type ProjectionOptions,
  type ProjectionStop,
  type Slice,
  FeedReset,
} from './subscriptions/projection-options';
export {
  type BucketOrder,
  type LeaseRecord,
  type ReportedStop,
  leaseRecordOf,
  livingInstances,
  withOrders,
  withoutStream,
} from './subscriptions/lease-record';
export { type ProjectionState, projectionState } from './subscriptions/projection-state';
export { positionOf, withPosition } from './subscriptions/feed-trail';
export type { CancelSignal } from './subscriptions/cancellation';
export {
  type SnapshotOptions,
  type SnapshotOutcome,
  SNAPSHOT_EVERY,
  UNUSABLE_BASE,
} from './loading/stream-snapshots';
export { type AggregateObserver, type AggregateOptions, type Footprint } from './aggregate/aggregate-options';
export type { RoundTracer } from './ports/round-tracer';
export { Aggregate, type View } from './aggregate/aggregate';
export { type AggregatesOptions, Aggregates } from './aggregate/aggregates';
export {
  type AggregatesUsage,
  Capacity,
  type CapacityOptions,
  DEFAULT_TIMEOUT_MS,
} from './aggregate/capacity';
