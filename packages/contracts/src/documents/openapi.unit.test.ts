// The OpenAPI document: valid, complete, and true to what the schemas accept.
import { describe, expect, test } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { problemTypeOf } from '../rejections.js';
import { routes } from '../routes/index.js';
import { problemCodesOfRoute, problemsOf } from '../routes/route-problems.js';
import type { RouteDeclaration } from '../routes/route.js';
import { openApiDocument } from './openapi.js';

const document = openApiDocument({ version: '1.2.3', serverUrl: 'https://scoring.example.com' });
const declared: readonly RouteDeclaration[] = Object.values(routes);
const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
ajv.addSchema({ ...document, $id: 'openapi' });

function validatorOf(schema: object) {
  const text = JSON.stringify(schema).replaceAll('"#/components', '"openapi#/components');
  return ajv.compile(JSON.parse(text) as object);
}

test('the document is valid OpenAPI 3.1', async () => {
  const result = await new Validator().validate(
    JSON.parse(JSON.stringify(document)) as Record<string, unknown>,
  );
  expect(result).toEqual({ valid: true });
});

test('every declared route is in the document, with every status that it can answer', () => {
  for (const route of declared) {
    const operation = document.paths[route.path]?.[route.method.toLowerCase()];
    expect(operation?.operationId).toBe(route.name);
    const statuses = [...Object.keys(route.responses).map(Number), ...problemsOf(route)];
    expect(new Set(Object.keys(operation?.responses ?? {}).map(Number))).toEqual(new Set(statuses));
  }
  const operations = Object.values(document.paths).flatMap((methods) => Object.keys(methods));
  expect(operations).toHaveLength(declared.length);
});

test('of each status a route lists its own codes and no others', () => {
  const textOf = (name: string, status: number) => {
    const route = declared.find((one) => one.name === name);
    const answer = document.paths[route?.path ?? '']?.[route?.method.toLowerCase() ?? '']?.responses[status];
    if (!answer) return undefined;
    return '$ref' in answer
      ? document.components.responses[answer.$ref.split('/').at(-1) ?? '']?.description
      : answer.description;
  };
  for (const route of declared) {
    const codes = problemCodesOfRoute(route);
    const told = problemsOf(route).flatMap((status) =>
      status in route.responses ? [] : [...(textOf(route.name, status) ?? '').matchAll(/`(\w+)`/g)],
    );
    const own = codes.filter((code) => !(problemTypeOf(code).status in route.responses));
    expect([route.name, told.map(([, code]) => code).sort()]).toEqual([route.name, own.sort()]);
  }
  expect(textOf('getScore', 404)).toBe('The lead does not exist. Code: `lead_not_found`.');
  expect(textOf('liveness', 400)).toBeUndefined();
  expect(textOf('liveness', 401)).toBeUndefined();
});

test('no two routes share a name, or a method and path', () => {
  expect(new Set(declared.map((route) => route.name)).size).toBe(declared.length);
  expect(new Set(declared.map((route) => `${route.method} ${route.path}`)).size).toBe(declared.length);
});

test('every placeholder of a path is a declared parameter', () => {
  for (const route of declared) {
    const placeholders = [...route.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
    expect(Object.keys(route.parameters?.shape ?? {})).toEqual(placeholders);
  }
});

test('every reference leads somewhere', () => {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(
    (match) => match[1] ?? '',
  );
  expect(references.length).toBeGreaterThan(10);
  for (const reference of references) {
    let found: unknown = document;
    for (const step of reference.slice(2).split('/')) found = (found as Record<string, unknown>)[step];
    expect([reference, typeof found]).toEqual([reference, 'object']);
  }
});

test('generators of clients can read it: no two components share a name, and no schema is false', () => {
  const { schemas, parameters, responses } = document.components;
  const names = [schemas, parameters, responses].flatMap((components) => Object.keys(components));
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  expect(JSON.stringify(document)).not.toContain('"items":false');
});

test('a range of a filter has two values', () => {
  const isValid = validatorOf(document.components.schemas.LeadConditionForm ?? {});
  const range = (value: unknown) => ({ field: 'score', operator: 'between', value });
  expect([range([1, 2]), range([1]), range([1, 2, 3]), range(['a', 'b'])].map((one) => isValid(one))).toEqual(
    [true, false, false, false],
  );
});

test('every text, list and object that is sent has a greatest size', () => {
  const unbounded: string[] = [];
  const walk = (schema: unknown, at: string) => {
    if (schema === null || typeof schema !== 'object') return;
    const one = schema as Record<string, unknown>;
    if (one.type === 'array' && one.maxItems === undefined && one.prefixItems === undefined)
      unbounded.push(at);
    if (
      one.type === 'string' &&
      ['maxLength', 'enum', 'const', 'format', 'pattern'].every((key) => !(key in one))
    )
      unbounded.push(at);
    for (const [key, value] of Object.entries(one)) if (key !== 'examples') walk(value, `${at}/${key}`);
  };
  for (const [path, methods] of Object.entries(document.paths))
    for (const operation of Object.values(methods))
      walk(operation.requestBody?.content['application/json'], path);
  walk(document.components.schemas, 'schemas');
  expect(unbounded).toEqual([]);
});

test('every operation names the role of a member and the scope of a service account; those for members alone take no HTTP Basic', () => {
  for (const { path, method, access } of declared) {
    const operation = document.paths[path]?.[method.toLowerCase()];
    const { security, 'x-required-role': role, 'x-required-scope': scope } = operation ?? {};
    const [bearer, basic] = [{ bearer: [] }, { basic: [] }];
    expect({ path, method, security, role, scope: scope ?? null }).toEqual({
      path,
      method,
      security: access.credential ? [bearer, ...(access.scope === null ? [] : [basic])] : [],
      role: access.credential ? access.role : undefined,
      scope: access.credential ? access.scope : null,
    });
  }
});

test('a body of which nothing must be there may be left out, such as that of a simulation', () => {
  const optional = declared
    .filter(
      (route) => document.paths[route.path]?.[route.method.toLowerCase()]?.requestBody?.required === false,
    )
    .map(({ name }) => name);
  expect(optional.sort()).toEqual([
    'findLeadImports',
    'patchLeadMetadata',
    'resetScores',
    'simulateSequence',
    'simulateSurgeTrigger',
    'simulateTrigger',
  ]);
});

describe('the document and the schemas agree', () => {
  const body = document.paths['/ingest']?.post?.requestBody?.content['application/json'];
  const isValid = validatorOf(body?.schema ?? {});

  test.each([
    { alias_kind: 'email', alias: 'Ada@Example.com', event_type: 'Page View' },
    {
      alias_kind: 'phone',
      alias: '+49 (151) 123-456',
      event_type: 'Call',
      timestamp: '2026-01-31T09:30:00+01:00',
    },
    {
      aliases: [{ alias_kind: 'cookie', alias: 'x' }],
      event_type: 'Page View',
      metadata: { a: [{ b: null }] },
    },
    [{ alias_kind: 'x', alias: ' y ', event_type: ' z ', event_id: '1' }],
    { events: [{ alias_kind: 'x', alias: 'y', event_type: 'z' }] },
  ])('both take %j', (value) => {
    expect(isValid(value)).toBe(true);
    expect(routes.ingest.body.safeParse(value).success).toBe(true);
  });

  test.each([
    {},
    [],
    { events: [] },
    { alias_kind: 'email', alias: 'ada', event_type: 'Page View' },
    { alias_kind: 'phone', alias: '0151', event_type: 'Page View' },
    { alias_kind: 'x', alias: 'y', aliases: [{ alias_kind: 'x', alias: 'y' }], event_type: 'z' },
    { alias_kind: 'x', alias: 'y', event_type: ' ' },
    { alias_kind: 'x', alias: 'y', event_type: 'z', unknown: 1 },
    { alias_kind: 'x', alias: 'y', event_type: 'z', timestamp: 'yesterday' },
    { alias_kind: 'x', alias: 'y', event_type: 'z', metadata: { n: 2 ** 53 } },
    { alias_kind: 'x', alias: 'y', event_type: 'z', metadata: { list: [{ n: -(2 ** 53) }] } },
    { aliases: [{ alias_kind: 'email', alias: 'ada' }], event_type: 'Page View' },
  ])('both refuse %j', (value) => {
    expect(isValid(value)).toBe(false);
    expect(routes.ingest.body.safeParse(value).success).toBe(false);
  });

  test('every answer that has a schema has an example that fits it', () => {
    let examples = 0;
    for (const route of declared)
      for (const [status, { schema, contentType = 'application/json' }] of Object.entries(route.responses)) {
        const answer = document.paths[route.path]?.[route.method.toLowerCase()]?.responses[status];
        if (!schema || !answer || '$ref' in answer) continue;
        const content = answer.content?.[contentType];
        expect([route.name, status, content && 'example' in content]).toEqual([route.name, status, true]);
        const validate = validatorOf(content?.schema ?? {});
        expect([route.name, status, validate(content?.example), validate.errors]).toEqual([
          route.name,
          status,
          true,
          null,
        ]);
        expect([route.name, status, schema.safeParse(content?.example).error?.issues]).toEqual([
          route.name,
          status,
          undefined,
        ]);
        examples += 1;
      }
    expect(examples).toBeGreaterThan(50);
  });

  test('the example of every body is one that its route takes', () => {
    for (const route of declared) {
      const content =
        document.paths[route.path]?.[route.method.toLowerCase()]?.requestBody?.content['application/json'];
      if (!content || !route.body) continue;
      expect([route.name, route.body.safeParse(content.example).error?.issues]).toEqual([
        route.name,
        undefined,
      ]);
      expect([route.name, validatorOf(content.schema)(content.example)]).toEqual([route.name, true]);
    }
  });

  test('a number in a query is decimal digits, and nothing else that a program might read as one', () => {
    const { query } = routes.listLeads;
    expect(query.parse({ limit: '10', min_score: '-3.5' })).toMatchObject({ limit: 10, min_score: -3.5 });
    for (const limit of ['', ' ', '0x10', '1e999', 'Infinity', 'ten', '0', '101', '1.5'])
      expect([limit, query.safeParse({ limit }).success]).toEqual([limit, false]);
  });
});
