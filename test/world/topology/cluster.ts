import { execFile } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { until } from '../../support/until';
import { Network } from './network';
import { type KnownAddress, RedisProgram } from './redis-program';
import {
  DOWN_AFTER_MS,
  SERVER_LINES,
  SERVICE_URL,
  type Topology,
  type TopologyKind,
  type TopologyOptions,
  follows,
} from './topology';

/** After this time Redis abandons a CLUSTER FAILOVER. */
const FAIL_OVER_MS = 6000;

/** Three primaries, each with a replica. */
export function cluster(options: TopologyOptions = {}): TopologyKind {
  return { name: 'a Cluster', hosts: options.hosts ?? false, start: () => startCluster(options) };
}

async function startCluster(options: TopologyOptions): Promise<Topology> {
  const { hosts = false, downAfterMs = DOWN_AFTER_MS, lines = [] } = options;
  const network = hosts ? Network.create() : undefined;
  const nodeLines = (port: number, known: KnownAddress) => [
    ...['cluster-enabled yes', `cluster-node-timeout ${downAfterMs}`, 'cluster-require-full-coverage no'],
    ...['cluster-allow-replica-migration no', `cluster-announce-ip ${known.host}`],
    ...[`cluster-announce-port ${known.port}`, `cluster-announce-bus-port ${port + 10_000}`],
    ...[...SERVER_LINES, ...lines],
  ];
  const nodes = await Promise.all(
    Array.from({ length: 6 }, () =>
      RedisProgram.start({
        ...(network && { host: network.host() }),
        lines: nodeLines,
        diskMb: options.diskMb,
      }),
    ),
  );
  const addresses = nodes.map(({ host, port }) => `${host.address}:${port}`);
  const create = ['--cluster', 'create', ...addresses, '--cluster-replicas', '1', '--cluster-yes'];
  await promisify(execFile)('redis-cli', create, { timeout: 120_000 });

  const idOf = async (node: RedisProgram) => String(await node.call('CLUSTER', 'MYID'));
  const anyNode = <T>(ask: (node: RedisProgram) => Promise<T>) =>
    Promise.any(nodes.filter(({ available }) => available).map(ask));
  /** The primaries that have slots, as this node sees them. */
  const seenBy = async (node: RedisProgram) => {
    const lines = String(await node.call('CLUSTER', 'NODES'))
      .trim()
      .split('\n');
    const primaries = lines.filter(
      (line) => /master/.test(line) && !/fail/.test(line) && / connected \d/.test(line),
    );
    return nodes.filter(({ known }) =>
      primaries.some((line) => line.includes(` ${known.host}:${known.port}@`)),
    );
  };
  const topology: Topology = {
    environment: {
      REDIS_URL: SERVICE_URL,
      REDIS_CLUSTER_NODES: nodes.map(({ known }) => `${known.host}:${known.port}`).join(),
    },
    nodes,
    sentinels: [],
    network,
    waitReplicas: 0,
    downAfterMs,
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
          return agrees && facts.get('cluster_slots_ok') === '16384' && (await follows(node, primaries, 1));
        }),
      );
      return primaries.length === 3 && whole.every(Boolean);
    },
    async moveSlot(key, meanwhile) {
      const primaries = await topology.primaries();
      const slot = Number(await primaries[0]!.call('CLUSTER', 'KEYSLOT', key));
      const owned = await Promise.all(primaries.map((each) => owns(each, slot)));
      const source = primaries[owned.indexOf(true)]!;
      const target = primaries[(owned.indexOf(true) + 1) % primaries.length]!;
      await target.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', await idOf(source));
      await source.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', await idOf(target));
      await pause(50);
      // A few at a time: Redis answers nothing else meanwhile.
      const left = async () => (await source.call('CLUSTER', 'GETKEYSINSLOT', slot, 20)) as string[];
      for (let keys = await left(); keys.length > 0; keys = await left())
        await source.call('MIGRATE', target.host.address, target.port, '', 0, 1500, 'KEYS', ...keys);
      await meanwhile(target);
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
      const facts = await node.facts('INFO', 'replication');
      if (primary.isAt(facts.get('master_host'), facts.get('master_port'))) return node;
    }
    throw new Error('a primary has no replica');
  }

  await until(() => topology.isWhole().catch(() => false));
  return topology;
}
