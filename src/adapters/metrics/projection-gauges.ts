import { Gauge, type Registry } from 'prom-client';
import type { ProjectionState } from '../../event-sourcing';

/** Reads the state of every projection, and the number of buckets that each has. */
export type ReadProjections = () => Promise<{
  readonly buckets: number;
  readonly projections: readonly ProjectionState[];
}>;

/** Registers gauges that read the projections at each scrape. */
export function watchProjections(read: ReadProjections, registry: Registry): void {
  const registers = [registry];
  const buckets = new Gauge({
    name: 'plant_store_projection_buckets',
    help: 'Buckets of a projection with leases, by state: running, stopped (an event cannot be applied), unassigned (no instance works on it)',
    labelNames: ['projection', 'state'],
    registers,
    collect: () => collected(),
  });
  const lag = new Gauge({
    name: 'plant_store_projection_lag_commits',
    help: 'Commits that a projection with leases has not applied',
    labelNames: ['projection'],
    registers,
    collect: () => collected(),
  });

  const update = async () => {
    const { buckets: all, projections } = await read();
    buckets.reset();
    lag.reset();
    for (const { projection, buckets: held, stops, behind } of projections) {
      const states = {
        running: held - stops.length,
        stopped: stops.length,
        unassigned: all - held,
      };
      for (const [state, count] of Object.entries(states)) buckets.set({ projection, state }, count);
      lag.set({ projection }, behind);
    }
  };
  // Both gauges of a scrape share one read.
  let updating: Promise<void> | undefined;
  const collected = () => (updating ??= update().finally(() => (updating = undefined)));
}
