// The documents that describe the API, as they are sent. They take a third of a second of processor time: the bundler puts the results
// into a file of the bundle, which is loaded when somebody asks for a document.
import { documentationPage, openApiDocument, type DocumentationPage } from '@lead-scoring/contracts';
import { apiVersion } from './api-version.js';

const openApi = openApiDocument({ version: apiVersion });

/** GET /openapi.json. */
export const openApiText = (): string => JSON.stringify(openApi);

/** GET /docs. */
export const documentation = (): DocumentationPage => documentationPage(openApi);
