import type { Clock } from '../ports/clock';
import { StoreUnavailable, isTransient } from '../ports/faults';
import type { BucketProjection } from './bucket-projection';
import { Cancellation } from './cancellation';
import {
  type BucketOrder,
  type Lease,
  type LeaseRecord,
  bucketsOf,
  leaseRecordOf,
  ordersFor,
  renewed,
  shareOf,
  withoutInstance,
} from './lease-record';
import type { LeaseOptions } from './projection-options';
import { StoreReader } from './store-reader';

/** Default of {@link LeaseOptions.takeOverMs}. */
const TAKE_OVER_MS = 10_000;

interface Running<Event, State> {
  readonly lease: Lease;
  readonly projection: BucketProjection<Event, State>;
}

/**
 * The buckets that one of several instances works on: those that it has a lease of. It renews its leases four times in
 * the time of a take-over, and they last three quarters of it.
 */
export class LeasedBuckets<Event, State> {
  readonly #running = new Map<number, Running<Event, State>>();
  /** Resolve when the last calls of `apply` for each bucket have ended. */
  readonly #ended = new Map<number, Promise<unknown>>();
  /** Buckets above the share of this instance, which are being stopped. */
  readonly #leaving = new Set<number>();
  readonly #released = new Set<number>();
  /** The highest term that this instance has found in a checkpoint. */
  #above = 0;
  readonly #cancellation = new Cancellation(undefined);
  readonly #reader: StoreReader;
  readonly #ms: number;
  #renewing: Promise<unknown> = Promise.resolve();
  #cancelExpiry = () => {};
  #wake = () => {};
  readonly #left: Promise<void>;

  constructor(
    private readonly options: LeaseOptions,
    private readonly buckets: number,
    private readonly clock: Clock,
    unavailable: ((error: StoreUnavailable) => void) | undefined,
    private readonly open: (bucket: number, lease: Lease) => BucketProjection<Event, State>,
  ) {
    // The record has the empty name for no instance.
    if (options.instance === '') throw new TypeError('the name of an instance must not be empty');
    this.#ms = options.takeOverMs ?? TAKE_OVER_MS;
    this.#reader = new StoreReader(clock, this.#cancellation, unavailable);
    this.#left = this.#run();
  }

  get running(): readonly BucketProjection<Event, State>[] {
    return [...this.#running.values()].map(({ projection }) => projection);
  }

  /** Resolves when the last calls of `apply` have ended, and others can take the buckets. */
  async close(): Promise<void> {
    this.#cancellation.cancel();
    await this.#left;
  }

  async #run(): Promise<void> {
    while (!this.#cancellation.isCancelled()) {
      const record = await this.#reader.read(() => this.#renew());
      if (record === undefined) continue;
      this.#follow(record);
      if (this.#released.size > 0) continue;
      await this.#reader.wait(this.#ms / 4, (end) => {
        this.#wake = end;
      });
    }
    this.#stopAll();
    await Promise.all(this.#ended.values());
    await this.#leave();
  }

  #renew(): Promise<LeaseRecord> {
    let orders: ReadonlyMap<number, BucketOrder> = new Map();
    const renewal = this.#change((record, now) => {
      orders = ordersFor(record, this.options.instance);
      const end = now + 0.75 * this.#ms;
      const { buckets } = this;
      const { instance } = this.options;
      return renewed(record, {
        ...{ instance, now, end, buckets },
        ...{ released: this.#released, above: this.#above },
        report: (bucket) => this.#running.get(bucket)?.projection.report ?? {},
      });
    });
    const renewing = renewal.then((record) => {
      for (const [bucket, order] of orders) this.#running.get(bucket)?.projection.obey(order);
      return record;
    });
    this.#renewing = renewing.catch(() => {});
    return renewing;
  }

  /** Replaces the record. Rejects with StoreUnavailable. */
  async #change(change: (record: LeaseRecord, now: number) => LeaseRecord): Promise<LeaseRecord> {
    const { store, projection } = this.options;
    try {
      for (;;) {
        const sentAt = this.clock.now();
        const { text, now } = await store.load(projection);
        const released = [...this.#released];
        const record = change(leaseRecordOf(text), now);
        if (!(await store.save(projection, text, JSON.stringify(record)))) continue;
        for (const bucket of released) this.#released.delete(bucket);
        this.#expireAt(sentAt + 0.75 * this.#ms);
        return record;
      }
    } catch (error) {
      if (isTransient(error)) throw error;
      throw new StoreUnavailable('the leases cannot be renewed', { cause: error });
    }
  }

  /** Stops all buckets at this time, unless the leases are renewed before. */
  #expireAt(time: number): void {
    this.#cancelExpiry();
    if (this.#cancellation.isCancelled()) return;
    this.#cancelExpiry = this.clock.after(time - this.clock.now(), () => this.#stopAll());
  }

  /** Works on the buckets that the record gives this instance. */
  #follow(record: LeaseRecord): void {
    const own = bucketsOf(record, this.options.instance);
    for (const [bucket, { lease }] of this.#running) if (own.get(bucket) !== lease.term) this.#stop(bucket);
    for (const [bucket, term] of own)
      if (!this.#running.has(bucket) && !this.#leaving.has(bucket) && !this.#released.has(bucket))
        this.#start(bucket, { instance: this.options.instance, term });
    const excess = own.size - this.#leaving.size - shareOf(record, this.buckets);
    for (const bucket of [...this.#running.keys()].slice(0, Math.max(0, excess))) {
      this.#leaving.add(bucket);
      this.#stop(bucket);
      void this.#ended.get(bucket)!.then(() => {
        this.#leaving.delete(bucket);
        this.#release(bucket);
      });
    }
  }

  #start(bucket: number, lease: Lease): void {
    const projection = this.open(bucket, lease);
    const before = this.#ended.get(bucket) ?? Promise.resolve();
    const ended = before.then(async () => {
      const term = await projection.run();
      if (term === undefined) return;
      // Another instance has a later lease, or the store has lost the record of one.
      this.#above = Math.max(this.#above, term);
      this.#running.delete(bucket);
      this.#release(bucket);
    });
    this.#ended.set(bucket, ended);
    this.#running.set(bucket, { lease, projection });
  }

  #release(bucket: number): void {
    this.#released.add(bucket);
    this.#wake();
  }

  #stop(bucket: number): void {
    this.#running.get(bucket)?.projection.cancel();
    this.#running.delete(bucket);
  }

  #stopAll(): void {
    for (const bucket of [...this.#running.keys()]) this.#stop(bucket);
  }

  /** Frees the buckets for the other instances. If that fails, they take them once the leases have ended. */
  async #leave(): Promise<void> {
    this.#cancelExpiry();
    const leaving = new StoreReader(this.clock, new Cancellation(undefined), undefined);
    await leaving.read(async () => {
      // Otherwise a renewal that is late would take the buckets again.
      await this.#renewing;
      return this.#change((record) => withoutInstance(record, this.options.instance));
    });
  }
}
