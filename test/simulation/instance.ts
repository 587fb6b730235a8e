import {
  type AggregateEvent,
  Aggregates,
  type AggregatesOptions,
  type Batch,
  type Clock,
  type EventStore,
  type Projection,
  StoreUnavailable,
  type StreamName,
  project,
} from '../../src/event-sourcing';
import { ReadModel } from '../support/read-model';
import type { Ports } from './network';
import type { RedisModel } from './redis-model';
import { type Write, plantKind } from './requests';

interface InstanceOptions extends Omit<
  AggregatesOptions,
  'clock' | 'store' | 'snapshots' | 'observe'
> {
  readonly snapshotEvery: number;
  /** Whether a failover, a restart or an erasure has removed events of the stream. */
  readonly hasLost: (stream: string) => boolean;
  readonly report: (problem: string) => void;
}

/** A process that serves plants, and may die at any time. It watches the calls of its engine. */
export class Instance {
  alive = true;
  readonly #alarms: (() => void)[] = [];
  /** After the death of the instance no alarm fires. */
  readonly clock: Clock = {
    now: () => this.time.now(),
    after: (ms, action) => {
      const cancel = this.alive ? this.time.after(ms, action) : () => {};
      this.#alarms.push(cancel);
      return cancel;
    },
  };
  readonly aggregates: Aggregates;
  /** Requests of each stream without an answer. */
  readonly pending = new Map<string, number>();
  /** Calls without an outcome, and when the last one failed. */
  unsettled = 0;
  failedAt = -Infinity;
  #isSaving = false;
  /** The append of each stream that has no outcome, and whose round has not failed. */
  readonly #appending = new Map<string, object>();
  /**
   * The data of events that may have been recorded, as far as the callers of their appends know;
   * `lost`: at a lost head.
   */
  readonly doubts = new Map<string, 'pending' | 'unknown' | 'lost'>();

  constructor(
    private readonly time: Clock,
    readonly ports: Ports,
    private readonly options: InstanceOptions,
  ) {
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
    for (const cancel of this.#alarms) cancel();
  }

  /** Reports what is not released although there is no request. */
  checkIdle(): void {
    const { commandBytes, loadsWaiting } = this.aggregates.usage;
    if (commandBytes > 0 || loadsWaiting > 0)
      this.options.report('commands or loads are left over');
  }

  #observe(event: AggregateEvent): void {
    if (event.type === 'fault') this.#appending.delete(event.stream);
    if (event.type === 'lost' && !this.options.hasLost(event.stream))
      this.options.report(`the history of ${event.stream} counts as lost, and is not`);
  }

  #watchedStore(store: EventStore): EventStore {
    const { doubts, options } = this;
    return {
      read: (stream, after) => this.#watched(store.read(stream, after)),
      append: async (stream, expected, commit, events) => {
        if (this.#appending.has(stream)) options.report(`two appends of ${stream} at once`);
        const own = {};
        this.#appending.set(stream, own);
        for (const { type, data } of events) {
          const doubt = doubts.get(data) ?? 'pending';
          // The data of a deletion is not unique.
          if (doubt === 'lost' && type === 'create')
            options.report(`${data} was decided again in doubt`);
          doubts.set(data, doubt);
        }
        try {
          const result = await this.#watched(store.append(stream, expected, commit, events));
          for (const { data } of events)
            if (result.status !== 'reset') doubts.delete(data);
            else if (doubts.get(data) === 'unknown') doubts.set(data, 'lost');
          return result;
        } catch (error) {
          for (const { data } of events)
            if (!(error instanceof StoreUnavailable)) doubts.set(data, 'unknown');
            else if (doubts.get(data) === 'pending') doubts.delete(data);
          throw error;
        } finally {
          if (this.#appending.get(stream) === own) this.#appending.delete(stream);
        }
      },
    };
  }

  async #watched<Result>(call: Promise<Result>): Promise<Result> {
    this.unsettled++;
    try {
      return await call;
    } catch (error) {
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
        if (this.#isSaving) this.options.report('two snapshots are saved at once');
        this.#isSaving = true;
        return save(stream, snapshot).finally(() => (this.#isSaving = false));
      },
    };
  }
}

/** A database, which survives the processes. */
export class Database extends ReadModel<Write> {
  /** Transactions that a process has begun before it died. */
  readonly late: Batch<Write>[] = [];

  commitLate(): void {
    // Most are refused, because another worker has moved the checkpoint.
    for (const batch of this.late.splice(0)) this.transaction(batch).catch(() => {});
  }

  /** How it differs from what is recorded of a stream. */
  difference(stream: StreamName, redis: RedisModel): string | undefined {
    const recorded = redis.history(stream).map(({ commit }) => commit);
    const applied = this.of(stream).map(({ commit }) => commit);
    if (recorded.join() !== applied.join())
      return `${stream} has ${recorded.join()}, a read model ${applied.join()}`;
    const isKnown = this.streams(redis.bucketOf(stream)).includes(stream);
    return isKnown === recorded.length > 0 ? undefined : `a checkpoint is wrong about ${stream}`;
  }
}

/**
 * When a process dies: before a transaction of its projection, after it, or before one that is
 * committed later.
 */
export const CRASHES = ['before', 'after', 'late'] as const;

/** Applies all streams to the read model, in the process of an instance. */
export class Projector {
  crash: (typeof CRASHES)[number] | undefined;
  readonly projection: Projection<Write>;

  constructor(
    { ports, clock }: Instance,
    private readonly model: Database,
    private readonly die: () => void,
  ) {
    const options = { kinds: [plantKind], clock, checkpoint: model, observe: () => {} };
    this.projection = project(ports, { ...options, apply: (batch) => this.#apply(batch) });
  }

  async #apply(batch: Batch<Write>): Promise<void> {
    const { crash, model } = this;
    if (crash === undefined || crash === 'after') await model.transaction(batch);
    if (crash === undefined) return;
    if (crash === 'late') model.late.push(batch);
    this.die();
    // Nothing in a process that died resolves.
    await new Promise<never>(() => {});
  }
}
