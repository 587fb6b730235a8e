import { until } from '../support/until';
import { RedisProgram } from './redis-program';
import {
  DOWN_AFTER_MS,
  PASSWORD,
  SERVER_LINES,
  SERVICE_USER,
  type Topology,
  accepted,
  follows,
} from './topology';

const NAME = 'plants';
const SENTINEL_LINES = [
  `down-after-milliseconds ${NAME} ${DOWN_AFTER_MS}`,
  `failover-timeout ${NAME} ${3 * DOWN_AFTER_MS}`,
];

/** A primary with two replicas, and three Sentinels. */
export async function startSentinels(waitReplicas: number): Promise<Topology> {
  const nodes: RedisProgram[] = [];
  for (let count = 0; count < 3; count++) {
    const replica = count > 0 ? [`replicaof 127.0.0.1 ${nodes[0]!.proxyPort}`] : [];
    const announced = (port: number) => ['replica-announce-ip 127.0.0.1', `replica-announce-port ${port}`];
    nodes.push(await RedisProgram.start((_, port) => [...SERVER_LINES, ...announced(port), ...replica]));
  }
  const watched = `monitor ${NAME} 127.0.0.1 ${nodes[0]!.proxyPort} 2`;
  const lines = [watched, ...SENTINEL_LINES].map((line) => `sentinel ${line}`);
  const sentinels = await Promise.all([1, 2, 3].map(() => RedisProgram.start(() => lines, '--sentinel')));

  const named = async (sentinel: RedisProgram) => {
    const [, port] = (await sentinel.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', NAME)) as [string, string];
    return nodes.find(({ proxyPort }) => proxyPort === Number(port))!;
  };
  const about = async (sentinel: RedisProgram) => {
    const flat = (await sentinel.call('SENTINEL', 'MASTER', NAME)) as string[];
    return new Map(flat.flatMap((name, index) => (index % 2 === 0 ? [[name, flat[index + 1]!]] : [])));
  };
  const topology: Topology = {
    name: 'sentinel',
    environment: {
      REDIS_URL: `redis://${SERVICE_USER}:${PASSWORD}@ignored`,
      REDIS_SENTINELS: sentinels.map(({ port }) => `127.0.0.1:${port}`).join(),
      REDIS_SENTINEL_MASTER: NAME,
      REDIS_WAIT_REPLICAS: String(waitReplicas),
    },
    nodes,
    sentinels,
    waitReplicas,
    // Without WAIT, a late announcement of the failover costs the writes until it arrives.
    plannedMayLose: true,
    primaries: async () => [await Promise.any(sentinels.map(named))],
    epoch: async () =>
      Math.max(...(await Promise.all(sentinels.map(about))).map((a) => Number(a.get('config-epoch')))),
    async failOver() {
      const [before] = await topology.primaries();
      // At one of them, because each Sentinel that gets this command promotes a replica of its choice.
      await accepted(() => sentinels[0]!.call('SENTINEL', 'FAILOVER', NAME));
      await until(async () => (await topology.primaries())[0] !== before);
    },
    async isWhole() {
      const primaries = new Set(await Promise.all(sentinels.map(named)));
      const facts = await Promise.all(sentinels.map(about));
      const know = facts.every(
        (a) =>
          a.get('flags') === 'master' && a.get('num-other-sentinels') === '2' && a.get('num-slaves') === '2',
      );
      if (!know || primaries.size !== 1) return false;
      return (await Promise.all(nodes.map((node) => follows(node, [...primaries])))).every(Boolean);
    },
  };
  await until(() => topology.isWhole().catch(() => false));
  return topology;
}
