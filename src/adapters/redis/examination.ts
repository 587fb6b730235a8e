import { Cluster, type Redis } from 'ioredis';
import type { RedisClient } from './client';
import { UnexpectedReply } from './error-text';
import { forbidsCommand } from './forbidden-command';
import type { Demands, ReplicaLease } from './script';
import {
  type Facts,
  type Finding,
  type Requirements,
  type Values,
  listFindings,
  computeLease,
} from './server-checks';

/**
 * Facts about one server. `address` is its `host:port`, as ioredis names a node of a Cluster.
 * `runId` is unique among all servers, and new after each start. `keyCount` counts the keys of the
 * database.
 */
interface ExaminedServer {
  readonly address: string;
  readonly runId: string | undefined;
  readonly isReplica: boolean;
  readonly findings: readonly Finding[];
  readonly lease: ReplicaLease;
  readonly keyCount: number;
}

export interface Examination extends Pick<Demands, 'proof' | 'lease'> {
  readonly servers: readonly ExaminedServer[];
  readonly primaryCount: number;
  readonly keyCount: number;
}

/**
 * Examines the server of `client`, or in a Cluster every primary. Rejects if no server answers.
 * `primaryCount` includes primaries that did not answer.
 */
export async function examineServers(
  client: RedisClient,
  requirements: Requirements,
): Promise<Examination> {
  const isCluster = client instanceof Cluster;
  const [servers, primaryCount] = isCluster
    ? await examinePrimaries(client, requirements)
    : [[await examineServer(client, requirements)], 1];
  // If primaries have different settings, the weakest lease counts, because each primary accepts
  // writes according to its own settings.
  const replicas = Math.min(...servers.map(({ lease }) => lease.replicas));
  const lagSeconds = Math.max(...servers.map(({ lease }) => lease.lagSeconds));
  // Nothing is demanded of a server of a Cluster, because a demoted one redirects calls by itself.
  const withoutLease = isCluster ? 'nothing' : 'role';
  return {
    servers,
    primaryCount,
    proof: replicas === 0 ? withoutLease : 'lease',
    lease: { replicas, lagSeconds },
    keyCount: servers.reduce((sum, server) => sum + server.keyCount, 0),
  };
}

/**
 * Refreshes the slot map first, because a server that was demoted or has given away its slots must
 * not be judged: no call is sent to it any more. A primary that does not answer is not judged
 * either, because that would stop the users of all other primaries.
 */
async function examinePrimaries(
  cluster: Cluster,
  requirements: Requirements,
): Promise<[ExaminedServer[], primaryCount: number]> {
  await new Promise<void>((resolve) => cluster.refreshSlotsCache(() => resolve()));
  const primaries = new Set(cluster.slots.flatMap(([primary]) => primary ?? []));
  const nodes = cluster.nodes('master').filter((node) => primaries.has(nodeAddress(node)));
  const settled = await Promise.allSettled(nodes.map((node) => examineServer(node, requirements)));
  const answered = settled.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
  const failed = settled.find((each) => each.status === 'rejected');
  // Servers that were demoted since the refresh are not judged.
  const judged = answered.filter(({ isReplica }) => !isReplica);
  if (judged.length === 0) throw failed?.reason ?? new Error('no node serves slots');
  return [judged, primaries.size];
}

function nodeAddress({ options: { host, port } }: Redis): string {
  return `${host}:${port}`;
}

const SETTINGS = [
  'appendfsync',
  'cluster-node-timeout',
  'databases',
  'min-replicas-max-lag',
  'min-replicas-to-write',
  'no-appendfsync-on-rewrite',
  'replica-read-only',
  'save',
  'stop-writes-on-bgsave-error',
];

async function examineServer(node: Redis, requirements: Requirements): Promise<ExaminedServer> {
  const number = node.options.db ?? 0;
  const [text, settings, exists] = await Promise.all([
    node.info().catch(ifForbidden('')),
    node.config('GET', ...SETTINGS).catch(ifForbidden<string[]>([])),
    // If SELECT fails while ioredis connects, ioredis uses database 0, so the guard selects it
    // again.
    number === 0 || node.select(number).then(isSelected, ifMissing),
  ]);
  if (typeof text !== 'string') throw new UnexpectedReply('INFO', text);
  if (!Array.isArray(settings) || !settings.every((each) => typeof each === 'string'))
    throw new UnexpectedReply('CONFIG GET', settings);
  const fields = [...text.matchAll(/^(\w+):(.*?)\r?$/gm)].map(([, name, value]) => [name, value]);
  const info = Object.fromEntries(fields) as Values;
  const config: Record<string, string> = {};
  for (let at = 0; at < settings.length; at += 2) config[settings[at]!] = settings[at + 1]!;
  const facts: Facts = { info, config, database: { number, exists }, requirements };
  const keyCount = Number(/^keys=(\d+)/.exec(info[`db${number}`] ?? '')?.[1] ?? 0);
  return {
    address: nodeAddress(node),
    runId: info['run_id'],
    isReplica: info['role'] === 'slave',
    keyCount,
    findings: listFindings(facts),
    lease: computeLease(config),
  };
}

/**
 * Replaces an error reply to INFO or CONFIG by `instead`, because managed Redis often refuses these
 * commands, with messages of its own.
 */
function ifForbidden<T>(instead: T): (error: unknown) => T {
  return (error) => {
    if (forbidsCommand(error)) return instead;
    throw error;
  };
}

function ifMissing(error: Error): false {
  if (error.message.includes('DB index is out of range')) return false;
  throw error;
}

function isSelected(reply: unknown): boolean {
  if (reply !== 'OK') throw new UnexpectedReply('SELECT', reply);
  return true;
}
