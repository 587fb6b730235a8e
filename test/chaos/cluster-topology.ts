import { execFile } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { until } from '../support/until';
import { RedisProgram } from './redis-program';
import { DOWN_AFTER_MS, PASSWORD, SERVER_LINES, SERVICE_USER, type Topology, follows } from './topology';

const CLUSTER_LINES = [
  ...['cluster-enabled yes', `cluster-node-timeout ${DOWN_AFTER_MS}`, 'cluster-require-full-coverage no'],
  ...['cluster-allow-replica-migration no', 'cluster-announce-ip 127.0.0.1'],
];
/** After this time Redis abandons a CLUSTER FAILOVER. */
const FAIL_OVER_MS = 6000;

/** Three primaries, each with a replica. */
export async function startCluster(): Promise<Topology> {
  const announced = (port: number, proxyPort: number) => [
    `cluster-announce-port ${proxyPort}`,
    `cluster-announce-bus-port ${port + 10_000}`,
  ];
  const nodes = await Promise.all(
    Array.from({ length: 6 }, () =>
      RedisProgram.start((...ports) => [...SERVER_LINES, ...CLUSTER_LINES, ...announced(...ports)]),
    ),
  );
  const addresses = nodes.map(({ port }) => `127.0.0.1:${port}`);
  const create = ['--cluster', 'create', ...addresses, '--cluster-replicas', '1', '--cluster-yes'];
  await promisify(execFile)('redis-cli', create, { timeout: 120_000 });

  const idOf = async (node: RedisProgram) => String(await node.call('CLUSTER', 'MYID'));
  const anyNode = <T>(ask: (node: RedisProgram) => Promise<T>) => Promise.any(nodes.map(ask));
  /** The primaries that have slots, as this node sees them. */
  const seenBy = async (node: RedisProgram) => {
    const lines = String(await node.call('CLUSTER', 'NODES'))
      .trim()
      .split('\n');
    const ports = lines.filter(
      (line) => /master/.test(line) && !/fail/.test(line) && / connected \d/.test(line),
    );
    return nodes.filter(({ proxyPort }) => ports.some((line) => line.includes(`:${proxyPort}@`)));
  };
  const topology: Topology = {
    name: 'cluster',
    environment: {
      REDIS_URL: `redis://${SERVICE_USER}:${PASSWORD}@ignored`,
      REDIS_CLUSTER_NODES: nodes.map(({ proxyPort }) => `127.0.0.1:${proxyPort}`).join(),
    },
    nodes,
    sentinels: [],
    waitReplicas: 0,
    plannedMayLose: false,
    primaries: () => anyNode(seenBy),
    epoch: () =>
      anyNode(async (node) => Number((await node.facts('CLUSTER', 'INFO')).get('cluster_current_epoch'))),
    async failOver(primary) {
      const replica = await replicaOf(primary);
      const isPrimary = async () => ((await replica.call('ROLE')) as unknown[])[0] === 'master';
      for (;;) {
        await replica.call('CLUSTER', 'FAILOVER');
        if (
          await until(isPrimary, FAIL_OVER_MS).then(
            () => true,
            () => false,
          )
        )
          return;
      }
    },
    async isWhole() {
      const primaries = await seenBy(nodes[0]!);
      const whole = await Promise.all(
        nodes.map(async (node) => {
          const facts = await node.facts('CLUSTER', 'INFO');
          const agrees = (await seenBy(node)).every((each) => primaries.includes(each));
          return agrees && facts.get('cluster_slots_ok') === '16384' && (await follows(node, primaries));
        }),
      );
      return primaries.length === 3 && whole.every(Boolean);
    },
    async moveSlot(key) {
      const primaries = await topology.primaries();
      const slot = Number(await primaries[0]!.call('CLUSTER', 'KEYSLOT', key));
      const owned = await Promise.all(primaries.map((each) => owns(each, slot)));
      const source = primaries[owned.indexOf(true)]!;
      const target = primaries[(owned.indexOf(true) + 1) % primaries.length]!;
      await target.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', await idOf(source));
      await source.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', await idOf(target));
      await pause(50);
      const keys = (await source.call('CLUSTER', 'GETKEYSINSLOT', slot, 100)) as string[];
      if (keys.length > 0)
        await source.call('MIGRATE', '127.0.0.1', target.port, '', 0, 1500, 'KEYS', ...keys);
      for (const node of [target, source, ...primaries])
        await node.call('CLUSTER', 'SETSLOT', slot, 'NODE', await idOf(target));
    },
  };

  async function owns(node: RedisProgram, slot: number): Promise<boolean> {
    const id = await idOf(node);
    const slots = (await node.call('CLUSTER', 'SLOTS')) as [number, number, [string, number, string]][];
    return slots.some(([first, last, owner]) => owner[2] === id && first <= slot && slot <= last);
  }

  async function replicaOf(primary: RedisProgram): Promise<RedisProgram> {
    for (const node of nodes) {
      const port = (await node.facts('INFO', 'replication')).get('master_port');
      if (Number(port) === primary.proxyPort) return node;
    }
    throw new Error('a primary has no replica');
  }

  await until(() => topology.isWhole().catch(() => false));
  return topology;
}
