import type { Operation } from './operation';
import { HEALTH_OPERATIONS } from './routes/health';
import { META_OPERATIONS } from './routes/meta';
import { PLANT_OPERATIONS } from './routes/plants';

/** All operations, in the order in which the OpenAPI document shows them. */
export const OPERATIONS: readonly Operation[] = [
  ...PLANT_OPERATIONS,
  ...META_OPERATIONS,
  ...HEALTH_OPERATIONS,
];

export const METHODS = listMethods(OPERATIONS);

/** A path that serves GET serves HEAD, and every path serves OPTIONS. */
export function listMethods(operations: readonly Pick<Operation, 'method'>[]): readonly string[] {
  const served = new Set<string>(operations.map(({ method }) => method.toUpperCase()));
  if (served.has('GET')) served.add('HEAD');
  return ['GET', 'HEAD', 'PUT', 'POST', 'PATCH', 'DELETE', 'OPTIONS'].filter(
    (method) => served.has(method) || method === 'OPTIONS',
  );
}

export const SEGMENTS_WITH_USERS: readonly string[] = [
  ...new Set(
    OPERATIONS.filter(({ needsUser }) => needsUser).map(({ path }) => path.split('/')[1]!),
  ),
];
