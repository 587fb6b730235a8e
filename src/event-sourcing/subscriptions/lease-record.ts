/** What grants an instance a bucket. */
export interface Lease {
  readonly instance: string;
  /** Each grant of a bucket has a higher number than those before it. */
  readonly term: number;
}

/** Why a bucket has stopped, as its holder reports it. */
export interface ReportedStop {
  readonly stream?: string | undefined;
  readonly version?: number | undefined;
  readonly error: string;
}

/** What an operator wants of the holder of a bucket that has stopped. */
export type BucketOrder = 'retry' | { readonly skip: { readonly stream: string; readonly version: number } };

export interface LeasedBucket extends Lease {
  /** The number of the position in the feed up to which the bucket was applied. */
  readonly position?: number | undefined;
  readonly stop?: ReportedStop | undefined;
  /** The holder removes it with its next renewal, and then does it. */
  readonly order?: BucketOrder | undefined;
}

/** What the instances of a projection agree on. In the store it is JSON. */
export interface LeaseRecord {
  /** The highest term of any bucket so far. */
  readonly term: number;
  /** When the leases of each instance end, in the time of the store. */
  readonly instances: Readonly<Record<string, number>>;
  readonly buckets: Readonly<Record<string, LeasedBucket>>;
}

/** The instance of a bucket that is free. Its position stays, so that the projection does not seem to lack all commits. */
const FREE = '';

function freed({ term, position }: LeasedBucket): LeasedBucket {
  return { instance: FREE, term, position };
}

/** The buckets of a record, of which some become free. */
function withFreed({ buckets }: LeaseRecord, isFree: (lease: Lease, bucket: number) => boolean) {
  const all = Object.entries(buckets).map(
    ([bucket, lease]) => [bucket, isFree(lease, Number(bucket)) ? freed(lease) : lease] as const,
  );
  return Object.fromEntries(all);
}

export function leaseRecordOf(text: string | undefined): LeaseRecord {
  return text === undefined ? { term: 0, instances: {}, buckets: {} } : (JSON.parse(text) as LeaseRecord);
}

/** The instances whose leases have not ended at `now`, and when they end. */
export function livingInstances({ instances }: LeaseRecord, now: number): LeaseRecord['instances'] {
  return Object.fromEntries(Object.entries(instances).filter(([, end]) => end > now));
}

/** How many buckets an instance may have. */
export function shareOf({ instances }: LeaseRecord, buckets: number): number {
  return Math.ceil(buckets / Object.keys(instances).length);
}

/** The buckets of an instance, with their terms. */
export function bucketsOf({ buckets }: LeaseRecord, instance: string): Map<number, number> {
  const own = Object.entries(buckets).filter(([, lease]) => lease.instance === instance);
  return new Map(own.map(([bucket, { term }]) => [Number(bucket), term]));
}

interface Renewal {
  readonly instance: string;
  /** The time of the store, and when the leases of the instance shall end. */
  readonly now: number;
  readonly end: number;
  readonly buckets: number;
  /** Buckets that the instance gives up. */
  readonly released: ReadonlySet<number>;
  /** New terms are above this one. */
  readonly above: number;
  /** What the instance reports of its buckets. */
  readonly report: (bucket: number) => Pick<LeasedBucket, 'position' | 'stop'>;
}

/** The record after an instance has renewed its leases, and has taken free buckets up to its share. */
export function renewed(record: LeaseRecord, renewal: Renewal): LeaseRecord {
  const { instance, now, end, released } = renewal;
  const instances = { ...livingInstances(record, now), [instance]: end };
  const buckets = withFreed(
    record,
    (lease, bucket) =>
      !Object.hasOwn(instances, lease.instance) || (lease.instance === instance && released.has(bucket)),
  );
  let term = Math.max(record.term, renewal.above);
  let free = shareOf({ ...record, instances }, renewal.buckets);
  for (const [bucket, lease] of Object.entries(buckets)) {
    if (lease.instance !== instance) continue;
    const { position, stop } = renewal.report(Number(bucket));
    // A stop may have the name of a stream that was erased with this order.
    buckets[bucket] = { instance, term: lease.term, position, stop: lease.order ? undefined : stop };
    free--;
  }
  for (let bucket = 0; bucket < renewal.buckets && free > 0; bucket++) {
    const { instance: holder = FREE, position } = buckets[bucket] ?? {};
    if (holder !== FREE) continue;
    buckets[bucket] = { instance, term: ++term, position };
    free--;
  }
  return { term, instances, buckets };
}

/** The orders for the buckets of an instance. */
export function ordersFor({ buckets }: LeaseRecord, instance: string): ReadonlyMap<number, BucketOrder> {
  const orders = new Map<number, BucketOrder>();
  for (const [bucket, lease] of Object.entries(buckets))
    if (lease.instance === instance && lease.order) orders.set(Number(bucket), lease.order);
  return orders;
}

/** The record with an order for each stopped bucket that `orderOf` has one for; the same record if there is none. */
export function withOrders(
  record: LeaseRecord,
  orderOf: (stop: ReportedStop) => BucketOrder | undefined,
): LeaseRecord {
  const buckets: Record<string, LeasedBucket> = { ...record.buckets };
  let ordered = false;
  for (const [bucket, { stop, ...lease }] of Object.entries(record.buckets)) {
    const order = stop && orderOf(stop);
    if (order === undefined) continue;
    buckets[bucket] = { ...lease, order };
    ordered = true;
  }
  return ordered ? { ...record, buckets } : record;
}

/** The text of a record without the name of a stream, which was erased; the same text if it does not have it. */
export function withoutStream(text: string, stream: string): string {
  const record = leaseRecordOf(text);
  const without = withOrders(record, (stop) => (stop.stream === stream ? 'retry' : undefined));
  return without === record ? text : JSON.stringify(without);
}

/** The record without an instance: its buckets are free. */
export function withoutInstance(record: LeaseRecord, instance: string): LeaseRecord {
  const instances = Object.entries(record.instances).filter(([name]) => name !== instance);
  return {
    term: record.term,
    instances: Object.fromEntries(instances),
    buckets: withFreed(record, (lease) => lease.instance === instance),
  };
}
