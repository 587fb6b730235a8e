import {
  type AggregateObserver,
  type AppendResult,
  type EncodedEvent,
  type EventStore,
  type ReadResult,
  type SnapshotStore,
  StoreUnavailable,
  type StreamName,
} from '../../../src/event-sourcing';

type Result = ReadResult | AppendResult;

/** What is known of the appends with one event. */
interface CheckedWrite {
  /** Appends without an outcome. */
  pending: number;
  /** Whether one of them may have been recorded, as far as the caller knows. */
  inDoubt: boolean;
}

/** Watches the calls of one process to the store: whether each has a reason, and what its caller may know of it. */
export class CallChecks {
  readonly problems = new Set<string>();
  /** Streams of which a snapshot is being saved. */
  readonly saving = new Set<string>();
  /** Calls without an outcome. */
  unsettled = 0;
  /** When the last call failed. */
  failedAt = -Infinity;
  #made = 0;
  /** Calls that had a reason: one for each round, and one after each result that leads to another call. */
  #allowed = 0;
  /** Streams whose last page said that there are more events. */
  readonly #incomplete = new Set<StreamName>();
  /** The append of each stream that has no outcome, and whose round has not failed. */
  readonly #appending = new Map<StreamName, object>();
  /** By the name that the event gives a plant. */
  readonly #writes = new Map<string, CheckedWrite>();

  /** @param hasLost whether a failover or a restart has lost events of the stream. */
  constructor(
    private readonly now: () => number,
    private readonly hasLost: (stream: string) => boolean,
  ) {}

  /** The observer of the engine of the process. */
  get observer(): AggregateObserver {
    return {
      round: () => {
        this.#allowed++;
      },
      fault: (stream) => void this.#appending.delete(stream),
      historyLost: (stream) => {
        if (!this.hasLost(stream)) this.problems.add(`the history of ${stream} counts as lost, and is not`);
      },
      snapshot: (_, outcome) => {
        if (outcome === 'restored') this.#allowed++;
      },
    };
  }

  /** The store, as the engine of the process calls it. */
  watch(store: EventStore): EventStore {
    return {
      ...store,
      read: (stream, after) => this.#call(stream, store.read(stream, after)),
      append: (stream, expected, commit, events) =>
        this.#append(stream, events, store.append(stream, expected, commit, events)),
    };
  }

  watchSnapshots(store: SnapshotStore): SnapshotStore {
    return {
      load: (stream) => store.load(stream),
      loadBase: async (stream) => {
        this.#allowed++;
        return store.loadBase?.(stream);
      },
      save: async (stream, snapshot) => {
        if (this.saving.size > 0) this.problems.add('two snapshots are saved at once');
        this.saving.add(stream);
        return store.save(stream, snapshot).finally(() => this.saving.delete(stream));
      },
    };
  }

  /** Whether the append that gives a plant this name may have been recorded. */
  mayBeRecorded(name: string): boolean {
    const write = this.#writes.get(name);
    return write !== undefined && (write.inDoubt || write.pending > 0);
  }

  /** Calls without a reason, once the process is idle. */
  wasted(): string[] {
    return this.#made > this.#allowed
      ? [`${this.#made} calls to the store, of which ${this.#allowed} had a reason`]
      : [];
  }

  async #call<T extends Result>(stream: StreamName, call: Promise<T>): Promise<T> {
    this.#made++;
    this.unsettled++;
    try {
      const result = await call;
      // An empty page leads on, too, if it ends a load whose last events were lost meanwhile.
      const wasIncomplete = this.#incomplete.delete(stream);
      if ('more' in result && result.more) this.#incomplete.add(stream);
      const leadsOn =
        result.status === 'read' ? wasIncomplete || result.events.length > 0 : result.status !== 'appended';
      if (leadsOn) this.#allowed++;
      return result;
    } catch (error) {
      this.#allowed++;
      this.failedAt = this.now();
      throw error;
    } finally {
      this.unsettled--;
    }
  }

  async #append(
    stream: StreamName,
    events: readonly EncodedEvent[],
    appended: Promise<AppendResult>,
  ): Promise<AppendResult> {
    if (this.#appending.has(stream)) this.problems.add(`two appends of ${stream} at once`);
    const append = {};
    this.#appending.set(stream, append);
    const writes: CheckedWrite[] = [];
    for (const { data } of events) {
      const { name } = JSON.parse(data) as { name?: string };
      if (name !== undefined) writes.push(this.#writeOf(name));
    }
    for (const write of writes) write.pending++;
    try {
      const result = await this.#call(stream, appended);
      if (result.status === 'appended' || result.status === 'conflict')
        for (const write of writes) write.inDoubt = false;
      return result;
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) for (const write of writes) write.inDoubt = true;
      throw error;
    } finally {
      for (const write of writes) write.pending--;
      if (this.#appending.get(stream) === append) this.#appending.delete(stream);
    }
  }

  #writeOf(name: string): CheckedWrite {
    const write = this.#writes.get(name) ?? { pending: 0, inDoubt: false };
    this.#writes.set(name, write);
    return write;
  }
}
