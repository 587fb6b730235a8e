import { Cluster, type Redis } from 'ioredis';
import { CONFIG_NAMES, type Finding, checkServer } from './server-checks';

/** Examines the server of `client`; in a cluster, every primary. Rejects if it does not answer. */
export async function examine(client: Redis | Cluster, waitReplicas: number): Promise<readonly Finding[]> {
  const nodes = client instanceof Cluster ? client.nodes('master') : [client];
  const findings = await Promise.all(nodes.map((node) => examineNode(node, waitReplicas)));
  return findings.flat();
}

async function examineNode(node: Redis, waitReplicas: number): Promise<readonly Finding[]> {
  const [info, config, missingDatabase] = await Promise.all([
    node.info().catch(ifForbidden('')),
    node.config('GET', ...CONFIG_NAMES).then(pairs, ifForbidden(new Map<string, string>())),
    selectDatabase(node),
  ]);
  return checkServer({ info, config, missingDatabase }, waitReplicas);
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
