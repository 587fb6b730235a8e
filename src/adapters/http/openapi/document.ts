/**
 * The OpenAPI document: what `/openapi.json` serves, Swagger UI shows, and the
 * tests hold every answer to. Kept by hand, in this folder and nowhere else.
 */
import { UNDER_PLANTS, failures, sharedFailures } from './failures';
import { headers } from './headers';
import { TAGS } from './operations';
import { plantsPaths } from './plants-paths';
import { schemas } from './schemas';
import { servicePaths } from './service-paths';

/** Of the interface; see CHANGELOG.md for what a change of it means. */
export const INTERFACE_VERSION = '1.0.0';

const DESCRIPTION = `
Creates, lists and deletes plants. A user is whoever the bearer token speaks for; two tokens of one user see the same plants, and nobody sees another user's.

- **Exact.** An id is any int64, to the last digit. Most JSON readers round integers beyond 2⁵³: use one that does not, if you have such ids. Name and tag come back character for character; ill-formed Unicode is refused, never replaced.
- **Consistent.** What was acknowledged is in every later list, whichever instance is asked. A 4xx or a 50300 has changed nothing; only after a 50301 the outcome is unknown. Nothing is ever stored twice.
- **Failures** are \`{"error": int32, "message": string}\`, whatever goes wrong, with a number that never changes.
- **Plain HTTP.** Paths are exact and case-sensitive. \`HEAD\` answers as \`GET\` without the body, \`OPTIONS\` with 204 and \`Allow\`. Any other method is 405 (40500), any other path 404 (40400). Under \`/plants\` credentials are checked before anything else. What is not even HTTP gets such an answer too, and the connection is closed.
`.trim();

/** Built anew with each call. */
export function openApiDocument() {
  return {
    openapi: '3.1.1',
    info: {
      title: 'plant-store',
      version: INTERFACE_VERSION,
      summary: 'Keeps plants.',
      description: DESCRIPTION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'This service' }],
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
