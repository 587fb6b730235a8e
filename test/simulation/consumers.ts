/** What follows streams: subscribers, and projections into a read model. */
import { MemoryCheckpoints } from '../../src/adapters/memory';
import {
  BEGINNING,
  type Batch,
  type EventStore,
  HistoryChanged,
  type Projection,
  type RecordedEvent,
  type StreamName,
  headOf,
  isSameHead,
  project,
  subscribe,
} from '../../src/event-sourcing';
import type { Instance } from './instance';
import { type Write, plantKind } from './plant-kind';
import type { RedisModel } from './redis-model';

type Subscription = AsyncIterableIterator<RecordedEvent<Write>>;

/** A client that follows a stream through one instance after the other. */
export class Subscriber {
  #head = BEGINNING;
  #subscription: Subscription | undefined;
  instance: Instance | undefined;
  /** Subscriptions of living instances that were ended, and have not ended. */
  unended = 0;

  /** @param hasLost whether the stream has ever lost events. */
  constructor(
    private readonly stream: StreamName,
    private readonly redis: RedisModel,
    private readonly hasLost: (stream: string) => boolean,
    private readonly report: (problem: string) => void,
  ) {}

  get isCurrent(): boolean {
    return isSameHead(this.#head, this.redis.history(this.stream).at(-1) ?? BEGINNING);
  }

  /** Goes on after its last event through this instance. */
  follow(instance: Instance): void {
    this.end();
    const { clock, ports } = instance;
    const store: EventStore = {
      ...ports.store,
      read: (stream, after) => {
        const isNext = isSameHead(after, this.#head);
        if (!isNext) this.report('a subscription reads before it has passed on its page');
        return ports.store.read(stream, after);
      },
    };
    const options = { codec: plantKind.codec, clock };
    this.instance = instance;
    this.#subscription = subscribe({ store, index: ports.index }, this.stream, this.#head, options);
    void this.#take(this.#subscription, instance);
  }

  end(): void {
    const ended = this.#subscription;
    this.#subscription = undefined;
    // Nothing ends in a process that died.
    if (!ended || !this.instance!.alive) return;
    this.unended++;
    void ended.return!().then(() => this.unended--);
  }

  async #take(subscription: Subscription, instance: Instance): Promise<void> {
    try {
      for await (const event of subscription) {
        if (subscription !== this.#subscription) return;
        if (event.version !== this.#head.version + 1)
          this.report(`a subscriber takes event ${event.version} after ${this.#head.version}`);
        this.#head = headOf(event);
      }
    } catch (error) {
      if (subscription !== this.#subscription) return;
      this.#subscription = undefined;
      // A TypeError is a bug of the store.
      if (error instanceof HistoryChanged && this.hasLost(this.stream)) this.#head = BEGINNING;
      else if (!(error instanceof TypeError)) this.report(`a subscription failed: ${String(error)}`);
      this.follow(instance);
    }
  }
}

/** A database with the commits that were applied. It has transactions, and survives the processes. */
export class ReadModel extends MemoryCheckpoints {
  readonly #applied = new Map<string, readonly string[]>();
  /** Transactions that a process has begun before it died. */
  readonly late: (() => Promise<void>)[] = [];

  constructor(private readonly report: (problem: string) => void) {
    super();
  }

  async commit({ slices, checkpoint }: Batch<Write>): Promise<void> {
    await this.save(checkpoint);
    for (const { stream, restarts, events } of slices) {
      const applied = restarts ? [] : [...(this.#applied.get(stream) ?? [])];
      for (const { version, commit } of events)
        if (applied.push(commit) !== version)
          this.report(`a read model applies event ${version} of ${stream} as number ${applied.length}`);
      this.#applied.set(stream, applied);
    }
  }

  commitLate(): void {
    // Most are refused, because another worker has moved the checkpoint.
    for (const commit of this.late.splice(0)) commit().catch(() => {});
  }

  /** How it differs from what is recorded of a stream. */
  difference(stream: string, redis: RedisModel): string | undefined {
    const recorded = redis.history(stream).map(({ commit }) => commit);
    const applied = this.#applied.get(stream) ?? [];
    if (recorded.join() !== applied.join())
      return `${stream} has ${recorded.join()}, a read model ${applied.join()}`;
    const isKnown = this.keys(`${redis.bucketOf(stream)}/`).some((key) =>
      key.endsWith(encodeURIComponent(stream)),
    );
    return isKnown === recorded.length > 0 ? undefined : `a checkpoint is wrong about ${stream}`;
  }
}

/** When a process dies: before a transaction of its projection, after it, or before one that is committed later. */
export const CRASHES = ['before', 'after', 'late'] as const;

/** Applies all streams to the read model, in the process of an instance. */
export class Projector {
  crash: (typeof CRASHES)[number] | undefined;
  readonly projection: Projection<Write>;

  constructor(
    { ports, clock }: Instance,
    private readonly model: ReadModel,
    private readonly die: () => void,
  ) {
    const apply = (batch: Batch<Write>) => this.#apply(batch);
    this.projection = project(ports, {
      kinds: [plantKind],
      clock,
      checkpoint: model,
      apply,
      observe: () => {},
    });
  }

  async #apply(batch: Batch<Write>): Promise<void> {
    const { crash, model } = this;
    if (crash === undefined || crash === 'after') await model.commit(batch);
    if (crash === undefined) return;
    if (crash === 'late') model.late.push(() => model.commit(batch));
    this.die();
    // Of a process that died, nothing resolves.
    await new Promise<never>(() => {});
  }
}
