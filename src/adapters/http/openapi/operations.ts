/** All operations, and what follows from their tables. */
import { type Method, OPERATION_METHODS, type Operation } from './parts';
import { PLANT_OPERATIONS, type PlantOperationId } from './plant-operations';
import { SERVICE_OPERATIONS, type ServiceOperationId } from './service-operations';

export type OperationId = PlantOperationId | ServiceOperationId;

export const OPERATIONS: Readonly<Record<OperationId, Operation>> = {
  ...PLANT_OPERATIONS,
  ...SERVICE_OPERATIONS,
};

/** All methods that are served where `methods` have operations, in the order of `Allow`. */
export function servedMethods(methods: readonly Method[]): readonly string[] {
  const served = OPERATION_METHODS.filter((method) => methods.includes(method));
  return [...served.flatMap((method) => (method === 'GET' ? [method, 'HEAD'] : [method])), 'OPTIONS'];
}

/** All methods that any path serves. */
export const METHODS = servedMethods(Object.values(OPERATIONS).map(({ method }) => method));

const ROOTS = new Set(Object.values<Operation>(PLANT_OPERATIONS).map(({ path }) => path.split('/')[1]!));
const NEEDS_USER = new RegExp(`^/(?:${[...ROOTS].join('|')})(?:/|$)`);

/**
 * Whether requests to this path need a token: those to the paths of the operations on plants, and to all paths below
 * them. Paths are exact and case-sensitive.
 */
export function needsUser(path: string): boolean {
  return NEEDS_USER.test(path);
}
