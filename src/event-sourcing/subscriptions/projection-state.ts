import type { Feed } from '../ports/feed';
import type { LeaseStore } from '../ports/lease-store';
import { type ReportedStop, leaseRecordOf, livingInstances } from './lease-record';

/** What an operator sees of a projection, as its instances last reported it. */
export interface ProjectionState {
  readonly projection: string;
  /** Buckets that instances work on. */
  readonly buckets: number;
  readonly instances: number;
  /** Commits that have not been applied, of all buckets that had an instance. */
  readonly behind: number;
  readonly stops: readonly (ReportedStop & { readonly bucket: number })[];
}

/** The state of a projection, also if none of its instances runs; `undefined` if it has no leases. */
export async function projectionState(
  leases: LeaseStore,
  feed: Feed,
  projection: string,
): Promise<ProjectionState | undefined> {
  const { text, now } = await leases.load(projection);
  if (text === undefined) return undefined;
  const record = leaseRecordOf(text);
  const living = Object.keys(livingInstances(record, now));
  const known = Object.entries(record.buckets);
  const held = known.filter(([, { instance }]) => living.includes(instance));
  const ends = await Promise.all(known.map(([bucket]) => feed.end(Number(bucket))));
  return {
    projection,
    buckets: held.length,
    instances: living.length,
    behind: known.reduce(
      (sum, [, { position }], index) => sum + Math.max(0, ends[index]!.sequence - (position ?? 0)),
      0,
    ),
    stops: held.flatMap(([bucket, { stop }]) => (stop ? { bucket: Number(bucket), ...stop } : [])),
  };
}
