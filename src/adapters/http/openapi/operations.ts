/** What HTTP gives to every path beside its own operations: HEAD wherever there is GET, and OPTIONS. */
import { METHODS } from '../routes';
import type { Method, Operation, Operations, Responses } from './parts';
import { headersOf } from './responses';

export const TAGS = {
  plants: 'Plants',
  service: 'Service',
  http: 'HEAD and OPTIONS',
} as const;

/**
 * The operations of a path, whole.
 * @param failing how HEAD and OPTIONS may fail, as everything there may.
 */
export function withHeadAndOptions(own: Operations, failing: Responses): Operations {
  const { get } = own;
  const operations: Operations = get === undefined ? own : { ...own, head: head(get) };
  const [first] = Object.values(own);
  return { ...operations, options: options(first!, allow(operations), failing) };
}

function allow(operations: Operations): string {
  return METHODS.filter((method) => method === 'OPTIONS' || operations[asKey(method)] !== undefined).join(
    ', ',
  );
}

function asKey(method: (typeof METHODS)[number]): Method {
  return method.toLowerCase() as Method;
}

function head(get: Operation): Operation {
  return {
    ...get,
    operationId: `${get.operationId}Head`,
    summary: 'As GET, without the body',
    description: '',
    tags: [TAGS.http],
  };
}

function options({ operationId, security }: Operation, allowed: string, failing: Responses): Operation {
  return {
    operationId: `${operationId}Options`,
    summary: 'What may be done here',
    tags: [TAGS.http],
    ...(security === undefined ? {} : { security }),
    responses: {
      204: {
        description: `\`Allow: ${allowed}\`.`,
        headers: headersOf({ Allow: 'Allow' }),
      },
      ...failing,
    },
  };
}
