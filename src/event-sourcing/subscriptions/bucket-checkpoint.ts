import {
  type Checkpoint,
  type CheckpointWrite,
  headKeyOf,
  headOfText,
  partsOfKey,
  textOfHead,
} from '../ports/checkpoint';
import type { Head } from '../ports/event-store';
import type { Feed, FeedPosition, FeedTrail } from '../ports/feed';
import type { StreamName } from '../ports/stream-name';
import type { Lease } from './lease-record';

/** What is stored of a bucket, as JSON. */
interface BucketValue {
  /** Number of writes so far. */
  readonly revision: number;
  /** Whether all streams have been read once. */
  readonly started: boolean;
  /** The position in the feed; absent while all streams have to be read. */
  readonly trail?: FeedTrail | undefined;
  /** No applied commit has a higher position than this one. Absent if that holds for the position of `trail`. */
  readonly bound?: FeedPosition | undefined;
  /**
   * Set while all streams of the checkpoint are compared with the store, because the feed had lost or trimmed a position.
   * A failover meanwhile does not end this: the feed may have the position again, and not what was applied since.
   */
  readonly comparing?: true | undefined;
  /** The lease of the instance that wrote it; absent if instances do not share the buckets. */
  readonly lease?: Lease | undefined;
}

const UNKNOWN: BucketValue = { revision: 0, started: false };

/** The part of a checkpoint that one bucket has, as one instance knows it. */
export class BucketCheckpoint {
  readonly #key: string;
  #stored: string | undefined;
  #value = UNKNOWN;

  constructor(
    private readonly bucket: number,
    private readonly checkpoint: Checkpoint,
    private readonly lease?: Lease,
  ) {
    this.#key = String(bucket);
  }

  get trail(): FeedTrail | undefined {
    return this.#value.trail;
  }

  get bound(): FeedPosition | undefined {
    return this.#value.bound;
  }

  get comparing(): true | undefined {
    return this.#value.comparing;
  }

  get started(): boolean {
    return this.#value.started;
  }

  async load(): Promise<void> {
    [this.#stored] = await this.checkpoint.load([this.#key]);
    this.#value = valueOf(this.#stored);
  }

  /**
   * How the lease that wrote the checkpoint compares with that of this instance:
   * - `claimed`: it is the same, so the writes of all earlier ones are refused.
   * - `unclaimed`: it is an earlier one.
   * - a number: it is a later one, with this term.
   */
  get standing(): 'claimed' | 'unclaimed' | number {
    const { lease = { term: 0, instance: '' } } = this.#value;
    const { term, instance } = this.lease ?? lease;
    if (lease.term < term) return 'unclaimed';
    // A store that has lost the record of a lease may give its term again.
    return lease.term === term && lease.instance === instance ? 'claimed' : lease.term;
  }

  /** Changes the position, which is not stored before the next write. */
  set(change: Partial<Pick<BucketValue, 'trail' | 'bound' | 'comparing'>>): void {
    this.#value = { ...this.#value, ...change };
  }

  /** Notes that commits up to a position are applied before the position moves to it. */
  raiseBound(position: FeedPosition): void {
    if (!(this.bound && this.bound.sequence >= position.sequence)) this.set({ bound: position });
  }

  /** The head up to which the events of each stream were applied. */
  async heads(streams: readonly StreamName[]): Promise<Head[]> {
    if (streams.length === 0) return [];
    const texts = await this.checkpoint.load(streams.map((stream) => headKeyOf(this.bucket, stream)));
    return streams.map((_, index) => headOfText(texts[index]));
  }

  /** All streams that have a head. */
  async streams(): Promise<StreamName[]> {
    const streams: StreamName[] = [];
    for await (const key of this.checkpoint.keys(headKeyOf(this.bucket, '')))
      streams.push(partsOfKey(key).stream!);
    return streams;
  }

  /** Passes the write of a position and of heads to `store`. If that resolves, this is the checkpoint. */
  async move(
    trail: FeedTrail | undefined,
    heads: readonly { readonly stream: StreamName; readonly head: Head }[],
    store: (write: CheckpointWrite) => Promise<void> | void,
  ): Promise<void> {
    const { revision, started, comparing } = this.#value;
    const lease = this.lease ?? this.#value.lease;
    // A position that stays may be one that the feed has lost.
    const passed = trail && trail !== this.trail && this.bound && trail[0].sequence >= this.bound.sequence;
    const bound = passed ? undefined : this.bound;
    const value = {
      revision: revision + 1,
      started: started || trail !== undefined,
      trail,
      bound,
      comparing,
      lease,
    };
    const text = JSON.stringify(value);
    const values = heads.map(
      ({ stream, head }) => [headKeyOf(this.bucket, stream), textOfHead(head)] as const,
    );
    await store({
      key: this.#key,
      expected: this.#stored,
      values: new Map<string, string | undefined>([[this.#key, text], ...values]),
    });
    this.#stored = text;
    this.#value = value;
  }
}

/**
 * Whether a bucket has been applied up to a sequence number, and has applied nothing that is lost: the feed has its position
 * and its bound, and no stream is to be read or compared.
 */
export async function isAppliedUpTo(
  feed: Feed,
  bucket: number,
  text: string | undefined,
  sequence: number,
): Promise<boolean> {
  const { trail, bound, comparing } = valueOf(text);
  if (comparing || trail === undefined || trail[0].sequence < sequence) return false;
  const positions = bound ? [trail[0], bound] : [trail[0]];
  const read = await Promise.all(positions.map((position) => feed.read(bucket, [position], 1)));
  return read.every(({ status }) => status === 'read');
}

function valueOf(text: string | undefined): BucketValue {
  return text === undefined ? UNKNOWN : (JSON.parse(text) as BucketValue);
}
