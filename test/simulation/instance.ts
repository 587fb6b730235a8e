import {
  type AggregateEvent,
  Aggregates,
  type AggregatesOptions,
  type AppendResult,
  type Clock,
  type EventStore,
  type ReadResult,
  StoreUnavailable,
} from '../../src/event-sourcing';
import type { Ports } from './network';

/** The clock of a process: fast or slow, and without alarms after the death of the process. */
class InstanceClock implements Clock {
  readonly #cancels: (() => void)[] = [];
  #stopped = false;

  /** @param rate speed; the correct one is 1. */
  constructor(
    private readonly time: Clock,
    private readonly rate: number,
  ) {}

  now(): number {
    return this.time.now() * this.rate;
  }

  after(ms: number, action: () => void): () => void {
    if (this.#stopped) return () => {};
    const cancel = this.time.after(ms / this.rate, action);
    this.#cancels.push(cancel);
    return cancel;
  }

  stop(): void {
    this.#stopped = true;
    for (const cancel of this.#cancels) cancel();
  }
}

interface InstanceOptions extends Omit<AggregatesOptions, 'clock' | 'store' | 'snapshots' | 'observe'> {
  readonly maxBytes: number;
  readonly snapshotEvery: number;
  /** Whether a failover, a restart or an erasure has removed events of the stream. */
  readonly hasLost: (stream: string) => boolean;
  readonly report: (problem: string) => void;
}

/**
 * A process that serves plants, and may die at any time. It watches the calls of its engine: whether each has a reason, and
 * what its caller may know of it.
 */
export class Instance {
  alive = true;
  readonly clock: InstanceClock;
  readonly aggregates: Aggregates;
  /** Requests of each stream without an answer. */
  readonly pending = new Map<string, number>();
  /** Calls without an outcome, and when the last one failed. */
  unsettled = 0;
  failedAt = -Infinity;
  #requests = 0;
  #requestsOfRounds = 0;
  #calls = 0;
  /** Calls that had a reason: one for each round, and one after each result that leads to another call. */
  #allowed = 0;
  #saving = '';
  /** Streams whose last page said that there are more events. */
  readonly #incomplete = new Set<string>();
  /** The append of each stream that has no outcome, and whose round has not failed. */
  readonly #appending = new Map<string, object>();
  /** The data of events that may have been recorded, as far as the callers of their appends know. */
  readonly #doubts = new Map<string, 'pending' | 'unknown'>();

  constructor(
    private readonly time: Clock,
    readonly clockRate: number,
    readonly ports: Ports,
    private readonly options: InstanceOptions,
  ) {
    this.clock = new InstanceClock(time, clockRate);
    this.aggregates = new Aggregates({
      ...options,
      clock: this.clock,
      store: this.#watchedStore(ports.store),
      snapshots: { store: this.#watchedSnapshots(ports.snapshots), every: options.snapshotEvery },
      observe: (event) => this.#observe(event),
    });
  }

  die(): void {
    this.alive = false;
    this.clock.stop();
  }

  /** Whether an append with this event may have been recorded. */
  mayBeRecorded(data: string): boolean {
    return this.#doubts.has(data);
  }

  /** Sends a request of a stream: a state that is in use must not have been evicted. */
  send<T>(stream: string, send: () => T): T {
    const pending = this.pending.get(stream) ?? 0;
    const { misses } = this.aggregates.usage;
    const sent = send();
    this.#requests++;
    this.pending.set(stream, pending + 1);
    const { usage } = this.aggregates;
    const isUsed = pending > 0 || this.#saving === stream;
    if (isUsed && usage.misses > misses) this.options.report(`the state of ${stream} was evicted in use`);
    if (usage.commandBytes > usage.maxCommandBytes) this.options.report('the commands exceed their limit');
    return sent;
  }

  /** Reports what is not released although there is no request, and calls and rounds without a reason. */
  checkIdle(): void {
    const { report, maxBytes } = this.options;
    const { commandBytes, loadsWaiting, bytes } = this.aggregates.usage;
    if (commandBytes > 0 || loadsWaiting > 0) report('commands or loads are left over');
    if (bytes > maxBytes) report(`${bytes} bytes are in memory, at most ${maxBytes}`);
    if (this.#calls > this.#allowed) report(`${this.#calls} calls, of which ${this.#allowed} had a reason`);
    if (this.#requestsOfRounds > this.#requests) report('a request was in two rounds');
  }

  #observe(event: AggregateEvent): void {
    if (event.type === 'round') this.#requestsOfRounds += event.requests;
    // The head of a snapshot that was found is looked for in the history.
    const isFound =
      event.type === 'snapshot' && (event.outcome === 'restored' || event.outcome === 'ignored');
    if (event.type === 'round' || isFound) this.#allowed++;
    if (event.type === 'fault') this.#appending.delete(event.stream);
    if (event.type === 'lost' && !this.options.hasLost(event.stream))
      this.options.report(`the history of ${event.stream} counts as lost, and is not`);
  }

  #watchedStore(store: EventStore): EventStore {
    return {
      read: (stream, after) => this.#watched(stream, store.read(stream, after)),
      append: async (stream, expected, commit, events) => {
        if (this.#appending.has(stream)) this.options.report(`two appends of ${stream} at once`);
        const own = {};
        this.#appending.set(stream, own);
        for (const { data } of events) this.#doubts.set(data, this.#doubts.get(data) ?? 'pending');
        try {
          const result = await this.#watched(stream, store.append(stream, expected, commit, events));
          if (result.status !== 'reset') for (const { data } of events) this.#doubts.delete(data);
          return result;
        } catch (error) {
          const isUnavailable = error instanceof StoreUnavailable;
          for (const { data } of events)
            if (!isUnavailable) this.#doubts.set(data, 'unknown');
            else if (this.#doubts.get(data) === 'pending') this.#doubts.delete(data);
          throw error;
        } finally {
          if (this.#appending.get(stream) === own) this.#appending.delete(stream);
        }
      },
    };
  }

  async #watched<Result extends ReadResult | AppendResult>(
    stream: string,
    call: Promise<Result>,
  ): Promise<Result> {
    this.#calls++;
    this.unsettled++;
    try {
      const result = await call;
      // An empty page leads on, too, if it ends a load whose last events were lost meanwhile.
      const wasIncomplete = this.#incomplete.delete(stream);
      if ('more' in result && result.more) this.#incomplete.add(stream);
      const isNew = result.status !== 'read' || wasIncomplete || result.events.length > 0;
      if (isNew && result.status !== 'appended') this.#allowed++;
      return result;
    } catch (error) {
      this.#allowed++;
      this.failedAt = this.time.now();
      throw error;
    } finally {
      this.unsettled--;
    }
  }

  #watchedSnapshots({ load, save }: Ports['snapshots']): Ports['snapshots'] {
    return {
      load,
      save: async (stream, snapshot) => {
        if (this.#saving !== '') this.options.report('two snapshots are saved at once');
        this.#saving = stream;
        return save(stream, snapshot).finally(() => (this.#saving = ''));
      },
    };
  }
}
