import type { Codec } from '../codec';
import type { LoadQueue } from '../loading/load-queue';
import type { SaveSlot } from '../loading/save-slot';
import type { SnapshotOptions, SnapshotOutcome } from '../loading/stream-snapshots';
import type { Clock } from '../ports/clock';
import type { EventStore, Head } from '../ports/event-store';
import type { RoundTracer } from '../ports/round-tracer';
import type { StreamName } from '../ports/stream-name';
import type { ByteBudget } from './request-queue';

/** Observes an aggregate. Called synchronously; errors that it throws are ignored. */
export interface AggregateObserver {
  /** A round ended: it had `requests` requests and made `calls` calls to the store. */
  round?(requests: number, calls: number): void;
  appended?(events: number): void;
  /** An append conflicted: another instance wrote newer events. Not called if the aggregate was not loaded yet. */
  conflict?(): void;
  /** The store no longer has the history up to `known`; the aggregate reloads the stream. */
  historyLost?(stream: StreamName, known: Head): void;
  fault?(stream: StreamName, error: unknown): void;
  /** A page of `events` events was read. */
  loaded?(events: number): void;
  /** A long history is loading and has reached `version`. Called about every 100,000 events. */
  loading?(stream: StreamName, version: number): void;
  /** @param cause why it failed or was ignored. */
  snapshot?(stream: StreamName, outcome: SnapshotOutcome, cause?: unknown): void;
  /** The state of `stream` exceeds `limit` bytes: it is not loaded, or does not accept more. */
  tooLarge?(stream: StreamName, limit: number): void;
}

/** Estimates the memory of a domain's states and commands. By default all estimates are 0: then no bound applies. */
export interface Footprint<Command, State> {
  /** Number of items in the state, such as the lines of an order. */
  items(state: State): number;
  /** Memory of the state, in bytes. */
  bytes(state: State): number;
  /** Memory that the command may add to the state, in bytes; 0 if it adds none. */
  bytesAddedBy(command: Command): number;
}

export const NO_FOOTPRINT: Footprint<unknown, unknown> = {
  items: () => 0,
  bytes: () => 0,
  bytesAddedBy: () => 0,
};

export interface AggregateOptions<Command, Event, State> {
  readonly store: EventStore;
  /** Encodes the events of the domain, and decodes them. */
  readonly codec: Codec<Event>;
  readonly clock: Clock;
  /** Returns a new commit id. No two appends at one head of a stream may have the same. */
  readonly mintCommit: () => string;
  /** Deadline of every request, in milliseconds after its arrival. */
  readonly timeoutMs: number;
  /** Queue limit: how many requests may wait for the next round. More are refused. */
  readonly maxWaiting: number;
  readonly footprint?: Footprint<Command, State> | undefined;
  /** Memory limit of the state, in bytes. Unbounded by default. */
  readonly maxBytes?: number;
  /** Memory budget of unsettled commands, shared by several aggregates. Unbounded by default. */
  readonly commandBytes?: ByteBudget;
  /** Queue of loads, shared by several aggregates. By default each aggregate has its own. */
  readonly loads?: LoadQueue;
  /** Restores the state from snapshots, and saves them. By default every load replays the history. */
  readonly snapshots?: SnapshotOptions<State> | undefined;
  /** Admits saves of snapshots, shared by several aggregates. By default each aggregate has its own. */
  readonly saves?: SaveSlot;
  /**
   * Postpones the start of a round, for example to the end of the event loop's turn, so that requests which arrive
   * until then join it. By default a round starts at once.
   */
  readonly gather?: ((start: () => void) => void) | undefined;
  /** One observer, or several, which are notified in this order. */
  readonly observer?: AggregateObserver | readonly AggregateObserver[] | undefined;
  /** By default rounds are not traced. */
  readonly tracer?: RoundTracer | undefined;
}
