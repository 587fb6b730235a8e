/** What grants an instance a bucket. */
export interface Lease {
  readonly instance: string;
  /** Each grant of a bucket has a higher number than those before it. */
  readonly term: number;
}

/** What the instances of a projection agree on. In the store it is JSON. */
export interface LeaseRecord {
  /** The highest term of any bucket so far. */
  readonly term: number;
  /** When the leases of each instance end, in the time of the store. */
  readonly instances: Readonly<Record<string, number>>;
  readonly buckets: Readonly<Record<string, Lease>>;
}

export function leaseRecordOf(text: string | undefined): LeaseRecord {
  return text === undefined ? { term: 0, instances: {}, buckets: {} } : (JSON.parse(text) as LeaseRecord);
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

export interface Renewal {
  readonly instance: string;
  /** The time of the store, and when the leases of the instance shall end. */
  readonly now: number;
  readonly end: number;
  readonly buckets: number;
  /** Buckets that the instance gives up. */
  readonly released: ReadonlySet<number>;
  /** New terms are above this one. */
  readonly above: number;
}

/** The record after an instance has renewed its leases, and has taken free buckets up to its share. */
export function renewed(record: LeaseRecord, renewal: Renewal): LeaseRecord {
  const { instance, now, end, released } = renewal;
  const living = Object.entries(record.instances).filter(([, lastUntil]) => lastUntil > now);
  const instances = { ...Object.fromEntries(living), [instance]: end };
  const isHeld = ([bucket, lease]: [string, Lease]) =>
    Object.hasOwn(instances, lease.instance) &&
    !(lease.instance === instance && released.has(Number(bucket)));
  const buckets = Object.fromEntries(Object.entries(record.buckets).filter(isHeld));
  let term = Math.max(record.term, renewal.above);
  let free = shareOf({ ...record, instances }, renewal.buckets);
  for (const lease of Object.values(buckets)) if (lease.instance === instance) free--;
  for (let bucket = 0; bucket < renewal.buckets && free > 0; bucket++) {
    if (Object.hasOwn(buckets, bucket)) continue;
    buckets[bucket] = { instance, term: ++term };
    free--;
  }
  return { term, instances, buckets };
}

/** The record without an instance: its buckets are free. */
export function withoutInstance(record: LeaseRecord, instance: string): LeaseRecord {
  const others = <T>(all: Readonly<Record<string, T>>, isOwn: (name: string, each: T) => boolean) =>
    Object.fromEntries(Object.entries(all).filter(([name, each]) => !isOwn(name, each)));
  return {
    term: record.term,
    instances: others(record.instances, (name) => name === instance),
    buckets: others(record.buckets, (_, lease) => lease.instance === instance),
  };
}
