import { SERVED_MS, onlyItsUsersWait, servedAfterKill, within } from './checks/checks';
import { DURABILITY } from './durability';
import { CLUSTER_FAULTS, ONE_REDIS_FAULTS, SENTINEL_FAULTS, only } from './faults/faults';
import { lostSentinels } from './faults/lost-sentinels';
import { partitions } from './faults/partition';
import { RANDOM_REQUESTS } from './model/scenarios';
import { type ScenarioParts, onServers } from './on-servers';
import { READ_MODEL } from './read-model/scenario';
import type { Scenario } from './scenario';
import { SIMULATIONS } from './simulated/scenarios';
import { SOAK } from './soak/scenario';
import { cluster } from './topology/cluster';
import { oneRedis } from './topology/one-redis';
import { sentinel } from './topology/sentinel';
import { LEASE } from './topology/topology';
import { anywhere, atEachInstance } from './workload/retrying-clients';

const QUICK = 1500;
/** The notice of one second, and five more. */
const EXIT_MS = 6000;
const CUT_MS = 20_000;
/**
 * Each request of another user loads it again, from a snapshot if there is one. So no instance notices a loss, and
 * none of the faults may lose something.
 */
const EVICTS = { SNAPSHOT_EVERY: '50', CACHE_MAX_PLANTS: '0' };
const MOVES = [
  'move the slot of a user',
  'move the slot of a user to a frozen primary',
  'fail over as planned',
];

const chaos = { instances: 3, workload: anywhere, short: 2 };
const failover = { instances: 2, workload: anywhere, short: 1 };
const inTime = [within('events verify', 10_000), within('ended', EXIT_MS)];
const partition = {
  ...{ instances: 2, workload: atEachInstance, faults: partitions(CUT_MS), short: 1 },
  checks: [within('served after the cut', 5000)],
};

// prettier-ignore
const ON_SERVERS: Readonly<Record<string, ScenarioParts>> = {
  'chaos on one Redis': { ...chaos, topology: oneRedis(), environment: EVICTS, faults: ONE_REDIS_FAULTS, short: Object.keys(ONE_REDIS_FAULTS).length },
  'chaos with Sentinels': { ...chaos, topology: sentinel({ waitReplicas: (random) => random() < 0.7 ? 2 : 0 }), faults: SENTINEL_FAULTS },
  'chaos in a Cluster': { ...chaos, topology: cluster(), faults: CLUSTER_FAULTS },
  'moves in a Cluster': { ...chaos, topology: cluster(), faults: only(CLUSTER_FAULTS, ...MOVES), short: MOVES.length },
  'a killed primary of a Cluster': { ...chaos, topology: cluster(), faults: only(CLUSTER_FAULTS, 'kill a primary until a replica takes over'), checks: [onlyItsUsersWait], short: 1 },
  'a lost Sentinel': { ...failover, topology: sentinel({ hosts: true, replicas: 1, downAfterMs: QUICK }), faults: lostSentinels([[0], [1], [2]], 'before'), checks: [servedAfterKill(SERVED_MS), ...inTime] },
  'two lost Sentinels of five': { ...failover, topology: sentinel({ hosts: true, replicas: 1, sentinels: 5, downAfterMs: QUICK }), faults: lostSentinels([[0, 1], [1, 3], [3, 4]], 'before'), checks: [servedAfterKill(SERVED_MS), ...inTime] },
  'a Sentinel lost with the primary': { ...failover, topology: sentinel({ hosts: true, replicas: 1, downAfterMs: QUICK }), faults: lostSentinels([[0], [1], [2]], 'together'), checks: [servedAfterKill(QUICK + 3000), ...inTime] },
  'a partition with Sentinels': { ...partition, topology: sentinel({ hosts: true, waitReplicas: 1, downAfterMs: 4000, lines: LEASE }) },
  // Nothing is promised of its lists: it shows what a Cluster without the setting does.
  'a partition of a Cluster': { ...partition, topology: cluster({ hosts: true, downAfterMs: 4000 }), short: 0 },
  'a partition of a Cluster, min-replicas-to-write 1': { ...partition, topology: cluster({ hosts: true, downAfterMs: 4000, lines: LEASE }) },
  ...DURABILITY,
};

/** All long runs of random work, by name. */
export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  ...Object.fromEntries(Object.entries(ON_SERVERS).map(([name, parts]) => [name, onServers(parts)])),
  ...READ_MODEL,
  ...RANDOM_REQUESTS,
  ...SIMULATIONS,
  ...SOAK,
};
