import { Network } from './network';
import { RedisProgram } from './redis-program';
import {
  DOWN_AFTER_MS,
  SERVER_LINES,
  SERVICE_URL,
  type TopologyKind,
  type TopologyOptions,
} from './topology';

/** One Redis without replicas. */
export function oneRedis({ hosts = false, lines = [] }: TopologyOptions = {}): TopologyKind {
  return {
    name: 'one Redis',
    hosts,
    async start() {
      const network = hosts ? Network.create() : undefined;
      const node = await RedisProgram.start({
        ...(network && { host: network.host() }),
        lines: () => [...SERVER_LINES, ...lines],
      });
      const { host, port } = node.known;
      return {
        environment: { REDIS_URL: SERVICE_URL.replace('ignored', `${host}:${port}`) },
        nodes: [node],
        sentinels: [],
        network,
        waitReplicas: 0,
        downAfterMs: DOWN_AFTER_MS,
        plannedMayLose: false,
        primaries: async () => [node],
        epoch: async () => 0,
        failOver: () => Promise.reject(new Error('one Redis has no replica')),
        isWhole: async () => (await node.call('PING')) === 'PONG',
      };
    },
  };
}
