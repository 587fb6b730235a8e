import { createDocument } from '../../src/adapters/http/openapi';
import { OPERATIONS } from '../../src/adapters/http/operations';

/** The OpenAPI document of an app that serves all operations. */
export const openApi = createDocument(OPERATIONS);
