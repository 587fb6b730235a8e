/** All operations, and what follows from their tables. */
import { type Method, OPERATION_METHODS, type Operation } from './parts';
import { PLANT_OPERATIONS } from './plant-operations';
import { SERVICE_OPERATIONS, type ServiceOperationId } from './service-operations';

/** The operations on what a user has: the tables of all kinds of aggregates. Each needs a token. */
export const USER_OPERATIONS = {
  ...PLANT_OPERATIONS,
} satisfies Readonly<Record<string, Operation>>;

export type UserOperationId = keyof typeof USER_OPERATIONS;
export type OperationId = UserOperationId | ServiceOperationId;

export const OPERATIONS: Readonly<Record<OperationId, Operation>> = {
  ...USER_OPERATIONS,
  ...SERVICE_OPERATIONS,
};

/** Whether an operation is one of {@link USER_OPERATIONS}. */
export function isOfUser(id: OperationId): id is UserOperationId {
  return id in USER_OPERATIONS;
}

/** All methods that are served where `methods` have operations, in the order of `Allow`. */
export function servedMethods(methods: readonly Method[]): readonly string[] {
  const served = OPERATION_METHODS.filter((method) => methods.includes(method));
  return [...served.flatMap((method) => (method === 'GET' ? [method, 'HEAD'] : [method])), 'OPTIONS'];
}

/** All methods that any path serves. */
export const METHODS = servedMethods(Object.values(OPERATIONS).map(({ method }) => method));

const ROOTS = new Set(Object.values<Operation>(USER_OPERATIONS).map(({ path }) => path.split('/')[1]!));
const NEEDS_USER = new RegExp(`^/(?:${[...ROOTS].join('|')})(?:/|$)`);

/**
 * Whether requests to this path need a token: those to the paths of {@link USER_OPERATIONS}, and to all paths below
 * them. Paths are exact and case-sensitive.
 */
export function needsUser(path: string): boolean {
  return NEEDS_USER.test(path);
}
