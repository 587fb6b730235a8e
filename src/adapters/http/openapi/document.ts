/**
 * The OpenAPI document: `/openapi.json` serves it, Swagger UI shows it, and the
 * tests check every response against it. It is written by hand, in this folder only.
 */
import { TAGS } from './parts';
import { plantsPaths, servicePaths } from './paths';
import { UNDER_PLANTS, failures, headers, optionsResponses, sharedFailures } from './responses';
import { schemas } from './schemas';

/** The version of the interface. CHANGELOG.md lists its changes. */
export const INTERFACE_VERSION = '1.0.0';

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
 * @param hasMetrics whether `/metrics` is served.
 */
export function openApiDocument(mountPath = '', hasMetrics = true) {
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
    tags: Object.values(TAGS),
    paths: { ...plantsPaths(), ...servicePaths(hasMetrics) },
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
      responses: failures(...UNDER_PLANTS, 'noSuchPath', 'methodNotAllowed'),
    },
  } as const;
}
