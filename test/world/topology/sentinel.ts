import { unhurried } from '../../support/patience';
import { until } from '../../support/until';
import { Network } from './network';
import { RedisProgram } from './redis-program';
import {
  DOWN_AFTER_MS,
  SERVER_LINES,
  SERVICE_URL,
  type Topology,
  type TopologyKind,
  type TopologyOptions,
  accepted,
  follows,
} from './topology';

const NAME = 'plants';
/**
 * Two Sentinels that vote for themselves try again after two of these, so it is short, as docs/operations.md says. Within
 * it a replica must be promoted.
 */
const FAILOVER_TIMEOUT_MS = unhurried(2500);

export interface SentinelOptions extends TopologyOptions {
  readonly replicas?: number;
  readonly sentinels?: number;
  readonly waitReplicas?: number | ((random: () => number) => number);
}

/** A primary with replicas, and Sentinels; two and three by default. */
export function sentinel(options: SentinelOptions = {}): TopologyKind {
  const { hosts = false, sentinels = 3, waitReplicas = 0 } = options;
  return {
    name: `${sentinels} Sentinels${typeof waitReplicas === 'number' && waitReplicas > 0 ? `, REDIS_WAIT_REPLICAS=${waitReplicas}` : ''}`,
    hosts,
    start: (random) =>
      startSentinels(options, typeof waitReplicas === 'number' ? waitReplicas : waitReplicas(random)),
  };
}

async function startSentinels(options: SentinelOptions, waitReplicas: number): Promise<Topology> {
  const { hosts = false, replicas = 2, sentinels: count = 3, lines = [] } = options;
  const { downAfterMs = DOWN_AFTER_MS } = options;
  const network = hosts ? Network.create() : undefined;
  const ownHost = () => network && { host: network.host() };
  const nodes: RedisProgram[] = [];
  while (nodes.length <= replicas) {
    const [primary] = nodes;
    const replica = primary ? [`replicaof ${primary.known.host} ${primary.known.port}`] : [];
    const program = await RedisProgram.start({
      ...ownHost(),
      lines: (_, { host, port }) => [
        ...SERVER_LINES,
        ...[`replica-announce-ip ${host}`, `replica-announce-port ${port}`],
        ...[...replica, ...lines],
      ],
    });
    nodes.push(program);
  }
  const [first] = nodes;
  const watch = [
    `monitor ${NAME} ${first!.known.host} ${first!.known.port} ${Math.floor(count / 2) + 1}`,
    `down-after-milliseconds ${NAME} ${downAfterMs}`,
    `failover-timeout ${NAME} ${FAILOVER_TIMEOUT_MS}`,
  ].map((line) => `sentinel ${line}`);
  const sentinels = await Promise.all(
    Array.from({ length: count }, () =>
      RedisProgram.start({ ...ownHost(), lines: () => watch, sentinel: true }),
    ),
  );
  const available = () => sentinels.filter((each) => each.available);

  const named = async (sentinel: RedisProgram) => {
    const [host, port] = (await sentinel.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', NAME)) as [
      string,
      string,
    ];
    return nodes.find((node) => node.isAt(host, port))!;
  };
  const about = async (sentinel: RedisProgram) => {
    const flat = (await sentinel.call('SENTINEL', 'MASTER', NAME)) as string[];
    return new Map(flat.flatMap((name, index) => (index % 2 === 0 ? [[name, flat[index + 1]!]] : [])));
  };
  const topology: Topology = {
    environment: {
      REDIS_URL: SERVICE_URL,
      REDIS_SENTINELS: sentinels.map(({ known }) => `${known.host}:${known.port}`).join(),
      REDIS_SENTINEL_MASTER: NAME,
      REDIS_WAIT_REPLICAS: String(waitReplicas),
    },
    nodes,
    sentinels,
    network,
    waitReplicas,
    downAfterMs,
    // Without WAIT, a late announcement of the failover costs the writes until it arrives.
    plannedMayLose: true,
    primaries: async () => [await Promise.any(available().map(named))],
    epoch: async () =>
      Math.max(...(await Promise.all(available().map(about))).map((a) => Number(a.get('config-epoch')))),
    async failOver() {
      const [before] = await topology.primaries();
      // At one of them, because each Sentinel that gets this command promotes a replica of its choice.
      await accepted(() => sentinels[0]!.call('SENTINEL', 'FAILOVER', NAME));
      await until(async () => (await topology.primaries())[0] !== before);
    },
    async isWhole() {
      // For 30 seconds after it was frozen, a Sentinel takes part in no failover.
      const states = await Promise.all(sentinels.map((each) => each.facts('INFO', 'sentinel')));
      if (states.some((state) => state.get('sentinel_tilt') !== '0')) return false;
      const primaries = new Set(await Promise.all(sentinels.map(named)));
      const facts = await Promise.all(sentinels.map(about));
      const know = facts.every(
        (a) =>
          a.get('flags') === 'master' &&
          a.get('num-other-sentinels') === String(count - 1) &&
          a.get('num-slaves') === String(replicas),
      );
      if (!know || primaries.size !== 1) return false;
      return (await Promise.all(nodes.map((node) => follows(node, [...primaries], replicas)))).every(Boolean);
    },
  };
  await until(() => topology.isWhole().catch(() => false));
  return topology;
}
