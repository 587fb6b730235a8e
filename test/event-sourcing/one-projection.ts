/** A read model in memory, and a store whose buckets can lose their end. */
import { MemoryCheckpoints, MemoryEventStore } from '../../src/adapters/memory';
import {
  BEGINNING,
  type Batch,
  type CheckpointWrite,
  type Codec,
  type EncodedEvent,
  type EventStore,
  type Feed,
  type Head,
  type ProjectedStore,
  type Projection,
  type ProjectionOptions,
  type StreamCatalogue,
  type StreamName,
  project,
} from '../../src/event-sourcing';
import { ManualClock } from '../support/manual-clock';

/** Events are their texts. */
export const textCodec: Codec<string> = {
  encode: (data) => ({ type: 'Noted', data }),
  decode: ({ type, data }) => (type === 'Noted' ? data : undefined),
};

export const note = (data: string): EncodedEvent => textCodec.encode(data);

/** Has the events of each stream, with the checkpoint: a transaction changes both, or none of them. */
export class ReadModel extends MemoryCheckpoints {
  readonly streams = new Map<StreamName, readonly (Head & { readonly event: string })[]>();
  /** Events that were applied after another one than that before them. */
  readonly violations: string[] = [];
  batches = 0;

  /** What was applied of a stream. */
  of(stream: StreamName): readonly string[] {
    return (this.streams.get(stream) ?? []).map(({ event }) => event);
  }

  async transaction({ slices, checkpoint }: Batch<string, string>): Promise<void> {
    await super.save(checkpoint);
    this.batches++;
    for (const { stream, restarts, base, events } of slices) {
      const applied = restarts ? [] : [...(this.streams.get(stream) ?? [])];
      if (base !== undefined) {
        const [version, commit, event] = JSON.parse(base) as [number, string, string];
        applied.push({ version, commit, event });
      }
      for (const { version, commit, event } of events) {
        const last = applied.at(-1)?.version ?? 0;
        if (version !== last + 1) this.violations.push(`${stream}: event ${version} after ${last}`);
        applied.push({ version, commit, event });
      }
      this.streams.set(stream, applied);
    }
  }

  override save(write: CheckpointWrite): Promise<void> {
    return this.transaction({ slices: [], checkpoint: write });
  }
}

export function projectInto(
  store: ProjectedStore,
  model: ReadModel,
  options: Partial<ProjectionOptions<string, string>> = {},
): Projection<string, string> {
  return project<string, string>(store, {
    codec: textCodec,
    clock: new ManualClock(),
    checkpoint: model,
    apply: (batch) => model.transaction(batch),
    ...options,
  });
}

interface Commit {
  readonly stream: StreamName;
  readonly expected: Head;
  readonly commit: string;
  readonly events: readonly EncodedEvent[];
}

/** A store in memory with several buckets. */
export class BucketedStore {
  readonly #stores: MemoryEventStore[];
  /** The commits of each bucket. */
  readonly #logs: Commit[][];
  readonly #waiting = new Set<() => void>();
  #commits = 0;
  readonly feed: Feed;

  constructor(
    readonly buckets = 4,
    private readonly feedLength?: number,
  ) {
    this.#stores = Array.from({ length: buckets }, () => this.#emptyStore());
    this.#logs = this.#stores.map(() => []);
    this.feed = {
      buckets,
      bucketOf: (stream) => this.bucketOf(stream),
      read: async (bucket, trail, limit) => this.#stores[bucket]!.feed.read(0, trail, limit),
      end: async (bucket) => this.#stores[bucket]!.feed.end(),
      notify: (bucket, after, changed) => {
        const cancel = this.#stores[bucket]!.feed.notify(0, after, changed);
        this.#waiting.add(changed);
        return () => {
          this.#waiting.delete(changed);
          cancel();
        };
      },
    };
  }

  #emptyStore(): MemoryEventStore {
    return new MemoryEventStore(2, this.feedLength);
  }

  /** The bucket of a stream: its name ends with the number. */
  bucketOf(stream: StreamName): number {
    return Number(/\d+$/.exec(stream)?.[0]) % this.buckets;
  }

  storeOf(stream: StreamName): MemoryEventStore {
    return this.#stores[this.bucketOf(stream)]!;
  }

  readonly store: EventStore = {
    read: async (stream, after) => this.storeOf(stream).read(stream, after),
    append: async (stream, expected, commit, events) => {
      const result = await this.storeOf(stream).append(stream, expected, commit, events);
      if (result.status === 'appended')
        this.#logs[this.bucketOf(stream)]!.push({ stream, expected, commit, events });
      return result;
    },
  };

  readonly catalogue: StreamCatalogue = {
    streams: () => this.#streams(),
    find: (stream) => this.storeOf(stream).find(stream),
    erase: (stream) => this.storeOf(stream).erase(stream),
  };

  async *#streams() {
    for (const store of this.#stores) yield* store.streams();
  }

  /** Appends events at the end of a stream, as one commit. */
  async add(stream: StreamName, ...texts: string[]): Promise<Head> {
    const expected = (await this.history(stream)).at(-1) ?? BEGINNING;
    const result = await this.store.append(stream, expected, `commit-${++this.#commits}`, texts.map(note));
    if (result.status !== 'appended') throw new Error('another writer was faster');
    return result.head;
  }

  async history(stream: StreamName): Promise<(Head & { readonly event: string })[]> {
    return historyOf(this.store, stream);
  }

  /** A failover to a replica without the last commits of a bucket. Resolves with their ids. */
  async loseCommits(bucket: number, count: number): Promise<Set<string>> {
    const log = this.#logs[bucket]!;
    const lost = log.splice(-count).map(({ commit }) => commit);
    const store = (this.#stores[bucket] = this.#emptyStore());
    for (const { stream, expected, commit, events } of log)
      await store.append(stream, expected, commit, events);
    for (const changed of [...this.#waiting]) changed();
    return new Set(lost);
  }
}

export async function historyOf(
  store: EventStore,
  stream: StreamName,
): Promise<(Head & { readonly event: string })[]> {
  const history: (Head & { readonly event: string })[] = [];
  for (let more = true; more;) {
    const page = await store.read(stream, history.at(-1) ?? BEGINNING);
    if (page.status !== 'read') throw new Error(`the result is ${page.status}`);
    history.push(...page.events.map(({ version, commit, data }) => ({ version, commit, event: data })));
    more = page.more;
  }
  return history;
}
