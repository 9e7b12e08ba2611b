// The OpenAPI 3.1 document of the public API, made from the route declarations.
import type { z } from 'zod';
import { problem } from '../common.js';
import { notificationPayload } from '../vocabulary/webhook.js';
import { rateLimitHeaders, responseHeaders } from './response-headers.js';
import { problemTypes, type ProblemCode } from '../rejections.js';
import { routes } from '../routes/index.js';
import { problemCodesOfRoute, problemsOf } from '../routes/route-problems.js';
import { intakeLimits } from '../routes/intake.js';
import { bodyIsOptional, isPage, type RouteDeclaration, type RouteResponse } from '../routes/route.js';
import { createSchemaCollector, type JsonSchema, type SchemaCollector } from './json-schemas.js';
import { requiredAccessOf, type RequiredAccess } from './required-access.js';
import { sampleOf } from './sample.js';
import { webhookDescription, webhookHeaders } from './webhook.js';

export interface DocumentOptions {
  /** The version of the API. */
  version: string;
  /** Public base URL of the API. Default: the address from which the document was fetched. */
  serverUrl?: string;
}

export interface OpenApiParameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description?: string;
  schema: JsonSchema;
}

export interface OpenApiResponse {
  description: string;
  headers?: Record<string, JsonSchema>;
  content?: Record<string, { schema: JsonSchema; example?: unknown }>;
}

export interface OpenApiOperation extends RequiredAccess {
  operationId: string;
  tags: string[];
  summary: string;
  description?: string;
  parameters?: (OpenApiParameter | { $ref: string })[];
  requestBody?: {
    required: boolean;
    description?: string;
    content: Record<string, { schema: JsonSchema; example?: unknown }>;
  };
  responses: Record<string, OpenApiResponse | { $ref: string }>;
}

export interface OpenApiDocument {
  openapi: '3.1.0';
  info: {
    title: string;
    version: string;
    description: string;
    license: { name: string; identifier: string };
  };
  servers: { url: string }[];
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, OpenApiOperation>>;
  /** Requests that the system sends to receivers. */
  webhooks: Record<string, Record<string, OpenApiOperation>>;
  components: {
    schemas: Record<string, JsonSchema>;
    responses: Record<string, OpenApiResponse>;
    parameters: Record<string, OpenApiParameter>;
    headers: Record<string, JsonSchema>;
    securitySchemes: Record<string, JsonSchema>;
  };
}

const tags: Record<RouteDeclaration['tag'], string> = {
  Events: 'Send events and read them again.',
  Leads: 'Leads, their scores, and the reasons for them.',
  Deals: 'Deals that events name, their scores, and the reasons for them.',
  Accounts: 'The companies that leads belong to, their scores and why they have them.',
  Analytics: 'Leads that stand out: by their scores, and by what they gained lately.',
  'Share links': 'Explanations of scores behind links that need no credential and last seven days.',
  'Scoring configuration': 'Rulesets and rules: what gives how many points; levels: what a score is called.',
  Filters: 'Saved conditions that pick leads: by field, score, level and activity.',
  'Bulk rule updates': 'Many rules in one call, all or nothing.',
  'Notification channels': 'Where notifications go: webhooks, Slack, Microsoft Teams, e-mail.',
  Triggers:
    'What makes a notification: a score that crosses a milestone, a sequence of events, a surge of points.',
  Deliveries: 'What was sent to channels, every attempt of it, and sending it again.',
  Jobs: 'Long work that goes on after its request was answered: how far it is, and its end.',
  'Site analysis': 'A website becomes proposed rules for views of its pages.',
  Session: 'Your tokens, your organizational units, and the one that a credential works in.',
  Admin: 'Members, service accounts and organizational units.',
  Description: 'What the system says about itself; no credential needed.',
};

const description = `Send what leads do as events; read their scores and the reasons for them.

- **Credentials**: \`Authorization: Bearer <token>\` with a personal access token (\`lsp_…\`) or a JSON Web Token of a configured OpenID Connect issuer, or HTTP Basic with a service account's client id and secret.
- **Rights**: each operation names the least role of a member (\`x-required-role\`) and the scope of a service account (\`x-required-scope\`). A viewer reads and shares, an editor writes, an admin manages members and service accounts.
- **Organizational units**: a call works in the credential's active OU (POST /org-units/active), or in the one that \`X-OU-Id\` names.
- **Errors** are RFC 9457 problems. \`code\` is for programs and does not change; \`detail\` says what to change. They come as \`application/json\`, or as \`application/problem+json\` when Accept names it.
- **Repeating a write** is safe with an \`Idempotency-Key\`: the same key and body within 24 hours get the first answer again.
- **Rate limit**: a bucket of 200 requests that refills at 100 a minute, per credential; and one of ten times that which all credentials of an organisation share. \`X-RateLimit-Limit\` is what the full bucket holds; \`RateLimit-Policy\` tells both buckets and how fast they refill. Retry 429 and 5xx with exponential backoff, and heed \`Retry-After\`.
- **Bodies** may be gzip (\`Content-Encoding: gzip\`) and hold up to ${String(intakeLimits.bytes / 1_000_000)} MB when unpacked.`;

/** Their names differ from those of schemas: generators of clients make types of both. */
const parameters: Record<string, OpenApiParameter> = {
  OrgUnitHeader: {
    name: 'X-OU-Id',
    in: 'header',
    required: false,
    description:
      "Works in this organizational unit, for this call only, in place of the credential's active one.",
    schema: { type: 'string', format: 'uuid' },
  },
  RequestIdHeader: {
    name: 'X-Request-Id',
    in: 'header',
    required: false,
    description:
      'Your own id for the request: logged, returned, carried along. One that is unfit for a log is replaced.',
    schema: { type: 'string' },
  },
  IfMatchHeader: {
    name: 'If-Match',
    in: 'header',
    required: false,
    description:
      'The ETag of the version that the change is meant for: it is refused with 412 when there is a later one. Without it, or with `*`, any version is changed.',
    schema: {
      type: 'string',
      pattern: '^(\\*|"[0-9]{1,15}")$',
      format: 'entity-tag',
    },
  },
  IdempotencyKeyHeader: {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description:
      'Makes it safe to send the write again: the same key and body within 24 hours get the first answer.',
    schema: {
      type: 'string',
      minLength: 1,
      maxLength: 255,
      pattern: '^[\\x21-\\x7e]+$',
      format: 'idempotency-key',
    },
  },
};

const schemaPlace = '#/components/schemas/';

/**
 * The document that GET /openapi.json answers. The formats `position`, `cursor`, `idempotency-key`, `timezone`, `events-ndjson`
 * and `events-csv` are not standard. They mark texts that no pattern describes fully, for programs that generate requests.
 */
export function openApiDocument(options: DocumentOptions): OpenApiDocument {
  const collector = createSchemaCollector(schemaPlace);
  const paths: OpenApiDocument['paths'] = {};
  const problems = new Map<string, OpenApiResponse>();
  const declared: readonly RouteDeclaration[] = Object.values(routes);
  for (const route of declared) {
    (paths[route.path] ??= {})[route.method.toLowerCase()] = operationOf(route, collector, problems);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Lead scoring',
      version: options.version,
      description,
      license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: options.serverUrl ?? '/' }],
    tags: Object.entries(tags).map(([name, text]) => ({ name, description: text })),
    paths,
    webhooks: { notification: { post: notificationOperation(collector) } },
    components: {
      schemas: collector.components,
      responses: Object.fromEntries([...problems].sort(([a], [b]) => (a < b ? -1 : 1))),
      parameters,
      headers: responseHeaders,
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'A personal access token (lsp_…) or a JSON Web Token.',
        },
        basic: {
          type: 'http',
          scheme: 'basic',
          description: "A service account's client id and client secret.",
        },
      },
    },
  };
}

function operationOf(
  route: RouteDeclaration,
  collector: SchemaCollector,
  problems: Map<string, OpenApiResponse>,
): OpenApiOperation {
  const body = route.body ? bodyOf(route, route.body, collector) : undefined;
  const responses: OpenApiOperation['responses'] = {};
  for (const [status, response] of Object.entries(route.responses))
    responses[status] = responseOf(route, response, collector);
  for (const status of problemsOf(route)) {
    // A response that the route declares itself (readiness: 503) takes precedence over the general one.
    if (responses[status]) continue;
    const codes = problemCodesOfRoute(route).filter((code) => problemTypes[code].status === status);
    const answer = problemResponse(status, codes, collector.schemaOf(problem, 'output'));
    if (isPage(route)) {
      responses[status] = withPage(answer);
      continue;
    }
    responses[status] = { $ref: `#/components/responses/${nameOf(status, answer, problems)}` };
  }
  return {
    operationId: route.name,
    tags: [route.tag],
    summary: route.summary,
    ...(route.description !== undefined && { description: route.description }),
    ...requiredAccessOf(route),
    parameters: [
      ...parametersOf(route.parameters, 'path', collector),
      ...parametersOf(route.query, 'query', collector),
      ...headersOf(route).map((name) => ({ $ref: `#/components/parameters/${name}Header` })),
    ],
    ...(body && { requestBody: body }),
    responses,
  };
}

/** The component name of a problem answer. Routes that answer a status with the same codes share one component. */
function nameOf(status: number, answer: OpenApiResponse, problems: Map<string, OpenApiResponse>): string {
  for (let number = 1; ; number += 1) {
    const name = `Problem${String(status)}${number === 1 ? '' : `-${String(number)}`}`;
    const known = problems.get(name);
    if (known && known.description !== answer.description) continue;
    problems.set(name, answer);
    return name;
  }
}

/** The request that the receiver of a webhook channel gets. */
function notificationOperation(collector: SchemaCollector): OpenApiOperation {
  const schema = collector.schemaOf(notificationPayload, 'output');
  return {
    operationId: 'receiveNotification',
    tags: ['Notification channels'],
    summary: 'A notification, as a webhook channel gets it',
    description: webhookDescription,
    security: [],
    parameters: webhookHeaders.map(({ name, required, text }) => ({
      name,
      in: 'header',
      required,
      description: text,
      schema: { type: 'string' },
    })),
    requestBody: { required: true, content: { 'application/json': { schema } } },
    responses: {
      '2XX': { description: 'Taken. The body is not read beyond 20,000 bytes.' },
      '410': { description: 'Nothing more is wanted: the channel is paused at once.' },
      default: { description: 'Tried again later; `Retry-After` is heeded within bounds.' },
    },
  };
}

function headersOf(route: RouteDeclaration): string[] {
  return [
    ...(route.access.credential && route.access.organisationUnit === 'active' ? ['OrgUnit'] : []),
    ...(route.kind === 'command' || route.kind === 'intake' ? ['IdempotencyKey'] : []),
    ...(route.entityTag === true && route.kind === 'command' ? ['IfMatch'] : []),
    'RequestId',
  ];
}

function parametersOf(
  object: z.ZodObject | undefined,
  place: 'path' | 'query',
  collector: SchemaCollector,
): OpenApiParameter[] {
  if (!object) return [];
  const schema = collector.schemaOf(object, 'input');
  const required = new Set((schema.required ?? []) as string[]);
  return Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>).map(([name, property]) => {
    const { description: text, ...rest } = property;
    return {
      name,
      in: place,
      required: place === 'path' || required.has(name),
      ...(typeof text === 'string' && { description: text }),
      schema: rest,
    };
  });
}

const lines: Record<string, { format: string; description: string; example: string }> = {
  'application/x-ndjson': {
    format: 'events-ndjson',
    description: 'One event as JSON a line.',
    example: '{"alias_kind":"email","alias":"ada@example.com","event_type":"Page View"}\n',
  },
  'text/csv': {
    format: 'events-csv',
    description: 'A header line, then one event a line.',
    example:
      'alias_kind,alias,event_type,timestamp,metadata.path\nemail,ada@example.com,Page View,2026-01-31T09:30:00Z,/pricing\n',
  },
};

function bodyOf(
  route: RouteDeclaration,
  body: z.ZodType,
  collector: SchemaCollector,
): NonNullable<OpenApiOperation['requestBody']> {
  const schema = collector.schemaOf(body, 'input');
  return {
    required: !bodyIsOptional(route),
    ...(typeof schema.description === 'string' && { description: schema.description }),
    content: Object.fromEntries(
      (route.bodyTypes ?? ['application/json']).map((type) => {
        const form = route.bodyForms?.[type];
        const text = form ? undefined : lines[type];
        if (text)
          return [
            type,
            {
              schema: { type: 'string', format: text.format, minLength: 1, description: text.description },
              example: text.example,
            },
          ];
        const ofType = form ? collector.schemaOf(form, 'input') : schema;
        return [type, { schema: ofType, example: sampleOf(ofType, collector.components) }];
      }),
    ),
  };
}

function responseOf(
  { entityTag, kind }: RouteDeclaration,
  response: RouteResponse,
  collector: SchemaCollector,
): OpenApiResponse {
  const tagged = entityTag === true && kind === 'query' ? ['ETag'] : [];
  const shown = headerReferences(['X-Request-Id', ...tagged, ...rateLimitHeaders]);
  if (!response.schema && response.contentType === undefined)
    return { description: response.description, headers: shown };
  const schema = response.schema ? collector.schemaOf(response.schema, 'output') : { type: 'string' };
  return {
    description: response.description,
    headers: shown,
    content: {
      [response.contentType ?? 'application/json']: {
        schema,
        ...(response.schema && { example: sampleOf(schema, collector.components) }),
      },
      ...Object.fromEntries((response.alsoAs ?? []).map((type) => [type, { schema: { type: 'string' } }])),
    },
  };
}

function problemResponse(status: number, codes: readonly ProblemCode[], schema: JsonSchema): OpenApiResponse {
  const [first] = codes;
  const title = first ? problemTypes[first].title : 'Problem';
  const example = {
    type: `urn:lead-scoring:problem:${first ?? 'internal_error'}`,
    title,
    status,
    detail: title,
    code: first ?? 'internal_error',
    request_id: '5a0f3c9e-2a55-4f0e-9a53-1c7b8f0c2d11',
  };
  return {
    description: `${codes.length === 1 ? `${title}. Code:` : 'Codes:'} ${codes.map((code) => `\`${code}\``).join(', ')}.`,
    headers: headerReferences([
      'X-Request-Id',
      ...(status === 401 ? ['WWW-Authenticate'] : []),
      ...(status === 429 ? ['Retry-After', ...rateLimitHeaders] : []),
      ...(status === 503 ? ['Retry-After'] : []),
    ]),
    content: { 'application/json': { schema, example }, 'application/problem+json': { schema, example } },
  };
}

/** A page route answers a problem as HTML, and as JSON to a caller whose Accept header asks for JSON. */
function withPage(response: OpenApiResponse): OpenApiResponse {
  return { ...response, content: { 'text/html': { schema: { type: 'string' } }, ...response.content } };
}

function headerReferences(names: string[]): Record<string, JsonSchema> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
