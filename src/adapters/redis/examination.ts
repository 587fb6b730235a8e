import { Cluster, type Redis } from 'ioredis';
import {
  CONFIG_NAMES,
  type Finding,
  type ReplicaLease,
  type Requirements,
  checkServer,
  leaseOf,
} from './server-checks';

export interface Examined {
  readonly findings: readonly Finding[];
  readonly lease: ReplicaLease;
  /** Number of keys of the database; in a cluster, of all primaries. */
  readonly keys: number;
}

/** Examines the server of `client`; in a cluster, every primary. Rejects if it does not answer. */
export async function examine(client: Redis | Cluster, requirements: Requirements): Promise<Examined> {
  const examined = await Promise.all(primariesOf(client).map((node) => examineNode(node, requirements)));
  // Of primaries with different settings, the weakest: each accepts the writes that its own settings accept.
  const [replicas, lag] = examined
    .map(({ lease }) => lease)
    .reduce((one, other) => [Math.min(one[0], other[0]), Math.max(one[1], other[1])], [Infinity, 0]);
  // A demoted server of a Cluster redirects reads.
  const needsNothing = client instanceof Cluster && replicas === 0;
  return {
    findings: examined.flatMap(({ findings }) => findings),
    lease: needsNothing ? [-1, 0] : [replicas, lag],
    keys: examined.reduce((sum, { keys }) => sum + keys, 0),
  };
}

/** The server of `client`; in a Cluster, all known primaries. */
export function primariesOf(client: Redis | Cluster): readonly Redis[] {
  return client instanceof Cluster ? client.nodes('master') : [client];
}

async function examineNode(node: Redis, requirements: Requirements): Promise<Examined> {
  const [info, config, missingDatabase] = await Promise.all([
    node.info().catch(ifForbidden('')),
    node.config('GET', ...CONFIG_NAMES).then(pairs, ifForbidden(new Map<string, string>())),
    selectDatabase(node),
  ]);
  return {
    findings: checkServer({ info, config, missingDatabase }, requirements),
    lease: leaseOf(config),
    keys: Number(new RegExp(`^db${node.options.db ?? 0}:keys=(\\d+)`, 'm').exec(info)?.[1] ?? 0),
  };
}

/** Selects the database. Resolves with its number if the server does not have it: ioredis would then use number 0. */
async function selectDatabase(node: Redis): Promise<number | undefined> {
  const { db } = node.options;
  if (!db) return undefined;
  return node.select(db).then(
    () => undefined,
    (error: unknown) => {
      if (error instanceof Error && error.message.includes('DB index is out of range')) return db;
      throw error;
    },
  );
}

function pairs(reply: unknown): ReadonlyMap<string, string> {
  const flat = reply as readonly string[];
  return new Map(
    Array.from({ length: flat.length / 2 }, (_, index) => [flat[2 * index]!, flat[2 * index + 1]!]),
  );
}

/** Maps the error of a forbidden command to `instead`: managed Redis often forbids CONFIG, sometimes INFO. */
export function ifForbidden<T>(instead: T): (error: unknown) => T {
  return (error) => {
    if (error instanceof Error && /^(?:NOPERM|ERR unknown command)/.test(error.message)) return instead;
    throw error;
  };
}
