/**
 * The OpenAPI document: `/openapi.json` serves it, Swagger UI shows it, and the
 * tests check every response against it. It is written by hand, in this folder only: the operations in tables.
 */
import { OPERATIONS, type OperationId, isOfUser } from './operations';
import type { Operation } from './parts';
import type { FailureKind } from '../app/problems';
import { ANYWHERE, OF_USERS, failures, headers, optionsResponses, sharedFailures } from './responses';
import { schemas } from './schemas';
import { INTERFACE_VERSION } from './service-operations';

const DESCRIPTION = `
Creates, lists and deletes plants. The bearer token identifies the user. Two tokens of one user see the same plants; no user sees the plants of another.

- **Exact.** An id is any int64, to the last digit. A JavaScript number is exact only up to 2⁵³, so a client for larger ids must write them from another type, such as \`bigint\`. Name and tag are returned character for character; ill-formed Unicode is refused, never replaced.
- **Consistent.** An acknowledged change is in every later list, from every instance. A 4xx or a 50300 has changed nothing; only after a 50301 is the outcome unknown. Nothing is stored twice.
- **Failures** always have the body \`{"error": int32, "message": string}\`. The numbers never change.
- **Plain HTTP.** Paths are exact and case-sensitive. \`HEAD\` responds like \`GET\` without the body, \`OPTIONS\` with 204 and \`Allow\`. Any other method gets 405 (40500), any other path 404 (40400). Under \`/plants\` credentials are checked before anything else. Malformed HTTP gets such a response, too, and the connection is closed.
`.trim();

/**
 * A new document for each call.
 * @param mountPath the path at which the interface is mounted; empty for `/`.
 * @param isServed whether an operation is served; by default all are.
 */
export function openApiDocument(mountPath = '', isServed: (id: OperationId) => boolean = () => true) {
  const operations = Object.entries(OPERATIONS).filter(([id]) =>
    isServed(id as OperationId),
  ) as OperationRow[];
  return {
    openapi: '3.1.1',
    info: {
      title: 'plant-store',
      version: INTERFACE_VERSION,
      summary: 'Keeps plants.',
      description: DESCRIPTION,
      contact: { name: 'The operator of this service' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: mountPath || '/', description: 'This service' }],
    security: [{ bearer: [] }],
    tags: [...new Set(operations.map(([, { tag }]) => tag))],
    paths: pathsOf(operations),
    components: {
      schemas,
      headers,
      responses: sharedFailures(),
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'A token from the operator; during development, the one that `npm start` prints.',
        },
      },
    },
    // OpenAPI has no place for the responses to requests that are none of the operations above.
    'x-options': {
      description: 'The response to `OPTIONS` at each of these paths.',
      responses: optionsResponses(),
    },
    'x-other-requests': {
      description: 'The responses to another path, another method, and malformed HTTP.',
      responses: failures(...OF_USERS, 'noSuchPath', 'methodNotAllowed'),
    },
  } as const;
}

type OperationRow = readonly [id: OperationId, operation: Operation];

/** An operation as the document has it. */
interface DocumentedOperation extends Omit<Operation, 'method' | 'path' | 'failures' | 'tag'> {
  readonly operationId: OperationId;
  readonly tags: readonly string[];
  readonly security?: readonly [];
}

/** By method, in lower case. */
export type PathItem = Readonly<Record<string, DocumentedOperation>>;

function pathsOf(operations: readonly OperationRow[]): Readonly<Record<string, PathItem>> {
  const paths: Record<string, Record<string, DocumentedOperation>> = {};
  for (const [id, operation] of operations) {
    const { method, path, tag, summary, description, parameters, requestBody, responses } = operation;
    const documented: DocumentedOperation = {
      operationId: id,
      summary,
      description,
      tags: [tag.name],
      ...(!isOfUser(id) && { security: [] }),
      ...(parameters && { parameters }),
      ...(requestBody && { requestBody }),
      responses: { ...responses, ...failures(...failuresOf(operation, isOfUser(id))) },
    };
    (paths[path] ??= {})[method.toLowerCase()] = documented;
  }
  return paths;
}

/** The possible failures of an operation. */
function failuresOf(operation: Operation, hasUser: boolean): readonly FailureKind[] {
  const { method, parameters = [], requestBody, failures: own = [] } = operation;
  const has = (place: string) => parameters.some((parameter) => parameter.in === place);
  if (!hasUser) return [...ANYWHERE, ...own];
  return [
    ...OF_USERS,
    ...(requestBody ? (['malformedJson', 'invalidBody', 'unsupportedBody'] as const) : []),
    ...(has('query') ? (['badQuery'] as const) : []),
    ...(has('path') ? (['badPathId'] as const) : []),
    ...own,
    ...(method === 'GET' ? [] : (['outcomeUnknown'] as const)),
  ];
}
