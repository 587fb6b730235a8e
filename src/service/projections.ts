import type { Logger } from 'pino';
import { type OpenEventStore, projectionState } from '../event-sourcing';

/**
 * Reads the state of each projection in the store, for the metrics; `undefined` for a store without projections. If that
 * fails, there is none, and the reason is logged once until it succeeds.
 */
export function readProjections({ leases, feed }: Pick<OpenEventStore, 'leases' | 'feed'>, log: Logger) {
  if (leases === undefined || feed === undefined) return undefined;
  const read = async () => {
    const names = await leases.projections();
    const states = await Promise.all(names.map((name) => projectionState(leases, feed, name)));
    return states.filter((state) => state !== undefined);
  };
  let failed = false;
  return async () => {
    const projections = await read().catch((err: unknown) => {
      if (!failed) log.warn({ err }, 'the projections cannot be read, so they have no metrics');
      return undefined;
    });
    failed = projections === undefined;
    return { buckets: feed.buckets, projections: projections ?? [] };
  };
}
