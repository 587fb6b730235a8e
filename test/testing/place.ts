/** Places in memory that stores with all ports share, with or without a fault. */
import { MemoryCheckpoints, MemoryEventStore } from '../../src/adapters/memory';
import {
  BEGINNING,
  BrokenSnapshot,
  type CheckpointStore,
  type EventStore,
  type Head,
  OutcomeUnknown,
  type Snapshot,
  type SnapshotStore,
  StoreUnavailable,
  type StoredEvent,
  type StreamIndex,
  type StreamName,
} from '../../src/event-sourcing';
import { Stream } from '../../src/testing/streams';
import { MemorySnapshots } from '../support/memory-snapshots';

/** Maximum number of events of a page. */
export const PAGE_SIZE = 3;

/** Returns what is wrong with a store. It is called for each store that is opened. */
export type Fault = (place: Place) => {
  readonly store?: Partial<EventStore>;
  readonly index?: Partial<StreamIndex>;
  readonly snapshots?: Partial<SnapshotStore>;
  readonly checkpoints?: (projection: string) => Partial<CheckpointStore>;
  /** Replaces a call to a closed store. */
  readonly closed?: (call: () => unknown) => unknown;
  /** The error of a call whose reply was lost. */
  readonly lost?: Error;
  /** Replaces every result. */
  readonly result?: (result: unknown) => unknown;
};

type Method = (...args: unknown[]) => unknown;

/**
 * The data that outlive the stores on them. Without a fault, the stores satisfy all contracts with
 * all options.
 */
export class Place {
  events = new MemoryEventStore(PAGE_SIZE);
  snapshots = new PlaceSnapshots(this.events);
  readonly #checkpoints = new Map<string, MemoryCheckpoints>();
  #losesReply = false;

  constructor(private readonly fault: Fault = () => ({})) {}

  readonly loseReply = (): void => void (this.#losesReply = true);

  readonly empty = (): void => {
    this.events = new MemoryEventStore(PAGE_SIZE);
    this.snapshots = new PlaceSnapshots(this.events);
    this.#checkpoints.clear();
  };

  /** Opens a store with the same fault on a place of its own, which has a stream already. */
  readonly openBeside = async () => {
    const place = new Place(this.fault);
    await new Stream(place.events).add(BEGINNING, { type: 'Added', data: 'in an earlier run' });
    return place.open();
  };

  checkpoints(projection: string): MemoryCheckpoints {
    const store = this.#checkpoints.get(projection) ?? new MemoryCheckpoints();
    this.#checkpoints.set(projection, store);
    return store;
  }

  history(stream: StreamName): Promise<StoredEvent[]> {
    return new Stream(this.events, stream).history();
  }

  erase(stream: StreamName): Promise<number> {
    this.snapshots.kept.delete(stream);
    return this.events.erase(stream);
  }

  readonly open = () => {
    const { events, snapshots } = this;
    const refused = (): never => {
      throw new StoreUnavailable('it was closed');
    };
    const { closed = refused, lost, result = (value: unknown) => value, ...own } = this.fault(this);
    let isClosed = false;
    const call = (method: Method, isWrite: boolean, args: readonly unknown[]): unknown => {
      if (isClosed) return closed(() => method(...args));
      const value = method(...args);
      if (!(value instanceof Promise)) return result(value);
      if (!this.#losesReply) return value.then(result);
      this.#losesReply = false;
      const fault = lost ?? (isWrite ? new OutcomeUnknown() : new StoreUnavailable());
      return value.then(() => Promise.reject(fault));
    };
    /**
     * The port with the first method of each name. The outcome of `write` is unknown without a
     * reply.
     */
    const portOf = <Port extends object>(
      write: keyof Port | '',
      ...owners: (Partial<Port> | undefined)[]
    ) =>
      new Proxy({} as Port, {
        get(_, name) {
          const owner = owners.find((each) => each && name in each)!;
          const member: unknown = Reflect.get(owner, name);
          if (typeof member !== 'function') return member;
          const method = member.bind(owner) as Method;
          const isFree = name === 'bucketOf' || name === 'notify';
          return isFree ? method : (...args: unknown[]) => call(method, name === write, args);
        },
      });
    const erasing = { erase: (stream: StreamName) => this.erase(stream) };
    return {
      store: portOf<EventStore>('append', own.store, events),
      index: portOf<StreamIndex>('erase', own.index, erasing, events),
      snapshots: portOf<SnapshotStore>('', own.snapshots, snapshots),
      checkpoints: (projection: string) =>
        portOf<CheckpointStore>(
          'save',
          own.checkpoints?.(projection),
          this.checkpoints(projection),
        ),
      close: () => void (isClosed = true),
    };
  };
}

/** Saves one snapshot of a stream at a time, if the stream has its head at the end. */
export class PlaceSnapshots extends MemorySnapshots {
  readonly damaged = new Set<string>();
  readonly #saving = new Set<string>();

  constructor(private readonly events: EventStore) {
    super();
  }

  override async load(stream: string) {
    if (this.damaged.has(stream)) throw new BrokenSnapshot('its checksum differs');
    return super.load(stream);
  }

  override async save(stream: string, snapshot: Snapshot): Promise<boolean> {
    if (this.#saving.has(stream)) return false;
    this.#saving.add(stream);
    this.damaged.delete(stream);
    return super.save(stream, snapshot).finally(() => this.#saving.delete(stream));
  }

  protected override async accepts(stream: string, head: Head): Promise<boolean> {
    return (await this.events.read(stream as StreamName, head)).status === 'read';
  }
}
