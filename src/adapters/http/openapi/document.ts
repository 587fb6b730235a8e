/**
 * The OpenAPI document: what `/openapi.json` serves, Swagger UI shows, and the
 * tests hold every answer to. Kept by hand, in this folder and nowhere else.
 */
import { TAGS } from './operations';
import { plantsPaths } from './plants-paths';
import { UNDER_PLANTS, failures, headers, sharedFailures } from './responses';
import { schemas } from './schemas';
import { servicePaths } from './service-paths';

/** Of the interface; see CHANGELOG.md for what a change of it means. */
export const INTERFACE_VERSION = '1.0.0';

const DESCRIPTION = `
Creates, lists and deletes plants. The bearer token identifies the user. Two tokens of one user see the same plants; no user sees the plants of another.

- **Exact.** An id is any int64, to the last digit. Most JSON readers round integers beyond 2⁵³: use one that does not, if you have such ids. Name and tag come back character for character; ill-formed Unicode is refused, never replaced.
- **Consistent.** An acknowledged change is in every later list, from every instance. A 4xx or a 50300 has changed nothing; only after a 50301 the outcome is unknown. Nothing is ever stored twice.
- **Failures** always have the body \`{"error": int32, "message": string}\`, with a number that never changes.
- **Plain HTTP.** Paths are exact and case-sensitive. \`HEAD\` answers as \`GET\` without the body, \`OPTIONS\` with 204 and \`Allow\`. Any other method is 405 (40500), any other path 404 (40400). Under \`/plants\` credentials are checked before anything else. What is not even HTTP gets such an answer too, and the connection is closed.
`.trim();

/**
 * Built anew with each call.
 * @param mountPath under which the interface is served; empty for `/`.
 */
export function openApiDocument(mountPath = '') {
  return {
    openapi: '3.1.1',
    info: {
      title: 'plant-store',
      version: INTERFACE_VERSION,
      summary: 'Keeps plants.',
      description: DESCRIPTION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: mountPath || '/', description: 'This service' }],
    security: [{ bearer: [] }],
    tags: [
      { name: TAGS.plants, description: 'What all this is about.' },
      { name: TAGS.service, description: 'What the service says of itself. Needs no token.' },
      { name: TAGS.http, description: 'What HTTP adds to each path.' },
    ],
    paths: { ...plantsPaths(), ...servicePaths() },
    components: {
      schemas,
      headers,
      responses: sharedFailures(),
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description:
            'The token that the operator gave you; while developing, the one that `npm start` prints.',
        },
      },
    },
    // OpenAPI has no place for the answers to requests that are none of the operations above.
    'x-other-requests': {
      description:
        'What every other request is answered with: another path, another method, or bytes that are no request.',
      responses: failures(...UNDER_PLANTS, 'noSuchPath', 'methodNotAllowed'),
    },
  } as const;
}
