import { type Faults, ONE_REDIS_FAULTS, SENTINEL_FAULTS, only } from './faults/faults';
import { partitions } from './faults/partition';
import { powerLoss } from './faults/power-loss';
import type { ScenarioParts } from './on-servers';
import { cluster } from './topology/cluster';
import { oneRedis } from './topology/one-redis';
import { sentinel } from './topology/sentinel';
import { LEASE, type TopologyKind } from './topology/topology';
import { anywhere, atEachInstance } from './workload/retrying-clients';

const FSYNCS = ['always', 'everysec'];
const CUT_MS = 10_000;
const CRASH = 'kill a primary until a replica takes over';
const LATE_CRASH = 'kill a primary without its replicas';

interface Column {
  readonly topology: (lines: readonly string[], waitReplicas: number) => TopologyKind;
  readonly faults: (fsync: string) => Faults;
  /** REDIS_WAIT_REPLICAS. */
  readonly waits: readonly number[];
  readonly needs?: string;
}

const alone = { topology: (lines: readonly string[]) => oneRedis({ lines }), waits: [0] };
const withSentinels = {
  topology: (lines: readonly string[], waitReplicas: number) => sentinel({ lines, waitReplicas }),
  waits: [0, 1, 2],
};
const inCluster = { topology: (lines: readonly string[]) => cluster({ lines }), waits: [0] };

/** By the fault of the cell. */
const COLUMNS: Readonly<Record<string, Column>> = {
  'one Redis, killed': {
    ...alone,
    faults: () => only(ONE_REDIS_FAULTS, 'kill a primary and start it at once'),
  },
  'one Redis, power loss': {
    ...alone,
    faults: (fsync) => ({ 'power loss': powerLoss(fsync !== 'always') }),
    needs: 'strace',
  },
  'Sentinel, crash': { ...withSentinels, faults: () => only(SENTINEL_FAULTS, CRASH) },
  'Sentinel, crash, replicas behind': { ...withSentinels, faults: () => only(SENTINEL_FAULTS, LATE_CRASH) },
  'Sentinel, planned': { ...withSentinels, faults: () => only(SENTINEL_FAULTS, 'fail over as planned') },
  'Sentinel, partition': {
    topology: (lines, waitReplicas) =>
      sentinel({ lines: [...lines, ...LEASE], waitReplicas, hosts: true, downAfterMs: 4000 }),
    waits: [0, 1, 2],
    faults: () => only(partitions(CUT_MS), 'cut off the primary both ways'),
  },
  'Cluster, crash': { ...inCluster, faults: () => only(SENTINEL_FAULTS, CRASH) },
  'Cluster, crash, replicas behind': { ...inCluster, faults: () => only(SENTINEL_FAULTS, LATE_CRASH) },
  'Cluster, partition': {
    topology: (lines) => cluster({ lines, hosts: true }),
    waits: [0],
    faults: () => only(partitions(CUT_MS), 'cut off the primary both ways'),
  },
};

/** One scenario for each cell of the matrix. */
export const DURABILITY: Readonly<Record<string, ScenarioParts>> = Object.fromEntries(
  Object.entries(COLUMNS).flatMap(([fault, { topology, faults, waits, needs }]) =>
    FSYNCS.flatMap((fsync) =>
      waits.map((wait) => [
        `durability: ${fault}, appendfsync ${fsync}, WAIT ${wait}`,
        {
          topology: topology([`appendfsync ${fsync}`], wait),
          instances: 2,
          workload: fault.includes('partition') ? atEachInstance : anywhere,
          faults: faults(fsync),
          ...(needs !== undefined && { needs }),
          short: 0,
          cell: { fsync, wait, fault },
        },
      ]),
    ),
  ),
);
