// Routes that describe the system, without credentials.
import { z } from 'zod';
import { defineRoute } from './route.js';

const open = {
  owner: 'gateway',
  kind: 'local',
  access: { credential: false },
  tag: 'Description',
  problems: [],
} as const;
const document = z.looseObject({});

export const openApiDocument = defineRoute({
  ...open,
  name: 'openApiDocument',
  method: 'GET',
  path: '/openapi.json',
  summary: 'This API as OpenAPI 3.1',
  responses: { 200: { description: 'OpenAPI document', schema: document } },
});

export const asyncApiDocument = defineRoute({
  ...open,
  name: 'asyncApiDocument',
  method: 'GET',
  path: '/asyncapi.json',
  summary: 'The public topics as AsyncAPI 3',
  responses: { 200: { description: 'AsyncAPI document', schema: document } },
});

export const documentation = defineRoute({
  ...open,
  name: 'documentation',
  method: 'GET',
  path: '/docs',
  // A browser that was given the host alone asks for this path.
  alsoAt: ['/'],
  summary: 'This API as a page to browse; works offline',
  responses: { 200: { description: 'Page', contentType: 'text/html' } },
});

export const liveness = defineRoute({
  ...open,
  name: 'liveness',
  method: 'GET',
  path: '/healthz',
  summary: 'Whether the process lives',
  responses: { 200: { description: 'It lives', schema: z.strictObject({ status: z.literal('ok') }) } },
});

const readinessBody = z.strictObject({
  status: z.enum(['ready', 'not_ready']),
  checks: z.record(z.string(), z.strictObject({ ok: z.boolean(), detail: z.string().max(1_000).optional() })),
});

export const readiness = defineRoute({
  ...open,
  name: 'readiness',
  method: 'GET',
  path: '/readyz',
  summary: 'Whether requests can be served',
  responses: {
    200: { description: 'Ready', schema: readinessBody },
    503: { description: 'Not ready, and why', schema: readinessBody },
  },
});
