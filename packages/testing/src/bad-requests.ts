// Bad requests for every declared route: bad bodies, fields, query parameters and path parameters.
import { gzipSync } from 'node:zlib';
import { z } from 'zod';
import { bodyIsOptional, type RouteDeclaration, type RouteName } from '@lead-scoring/contracts';
import { pathOf, routeExamples, routeNamed, type Unit } from './route-examples.js';

export interface BadRequest {
  title: string;
  path: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  /** The statuses that the answer may have. */
  right: readonly number[];
  /** A field or parameter that the answer must name. */
  names?: string;
  /**
   * What is wrong, and the declaration that refuses it: the same on all routes that share the declaration. Absent: every route is sent
   * this one, which shows that it goes by its declaration.
   */
  shared?: string;
}

/** Leaves out what an earlier route has had, and notes the rest in `had`. */
export function withoutRepeats(requests: readonly BadRequest[], had: Set<string>): BadRequest[] {
  const rest = requests.filter(({ shared }) => shared === undefined || !had.has(shared));
  for (const { shared } of rest) if (shared !== undefined) had.add(shared);
  return rest;
}

const json = { 'content-type': 'application/json' };
const noJson = [400] as const;

/** The first member of a body, as a duplicate to append. */
function twice(body: unknown): [string, string][] {
  const [first] = typeof body === 'object' && body !== null ? Object.entries(body) : [];
  return first ? [[first[0], `${JSON.stringify(first[0])}:${JSON.stringify(first[1])}`]] : [];
}

/** Bodies that are not JSON, are JSON of the wrong type, or are too large. */
export function badBodies(name: RouteName, unit: Unit): BadRequest[] {
  const route = routeNamed(name);
  if (!route.body) return [];
  const example = routeExamples[name](unit);
  const path = pathOf(name, example);
  const good = JSON.stringify(example.body ?? {});
  const beside = (member: string) => `{${member}${good === '{}' ? '' : ','}${good.slice(1)}`;
  const bad = (
    title: string,
    body: string | Uint8Array | undefined,
    right: readonly number[],
    headers: Record<string, string> = json,
  ): BadRequest => ({
    title,
    path,
    headers,
    right,
    ...(body !== undefined && { body }),
  });
  const types = route.bodyTypes ?? ['application/json'];
  /** Refused before the body is compared with its declaration. */
  const unreadable = (...wrong: Parameters<typeof bad>): BadRequest => ({
    ...bad(...wrong),
    shared: `${wrong[0]} of ${route.kind} ${types.join()} ${String(bodyIsOptional(route))}`,
  });
  const { takesUnknown, isFree } = fieldsOf(route.body);
  const unknown = takesUnknown ? [200] : noJson;
  const any = isFree ? [200] : noJson;
  return [
    ...(bodyIsOptional(route) ? [] : [bad('nothing', '', noJson)]),
    ...[
      '{',
      '}',
      'nul',
      '{"a":NaN}',
      `${good}x`,
      `${good}${good}`,
      "{'a':1}",
      '\u0000',
      '{"a":"\n"}',
      '{"a":1,}',
    ].map((text) =>
      (text === '{' ? bad : unreadable)(
        `not JSON: ${text.replaceAll(good, 'good').slice(0, 20)}`,
        text,
        noJson,
      ),
    ),
    ...twice(route.kind === 'intake' ? {} : example.body).map(([key, member]) => ({
      ...bad(`the key ${key} twice`, `${good.slice(0, -1)},${member}}`, noJson),
      names: `body.${key}`,
    })),
    ...['null', 'true', '17', '"text"', '[[]]', '[null]'].map((text) =>
      bad(`the wrong kind: ${text}`, text, noJson),
    ),
    bad('the wrong kind: {"0":1}', '{"0":1}', any),
    unreadable(
      'invalid UTF-8',
      Buffer.concat([
        Buffer.from(good.slice(0, 2)),
        Buffer.from([0xff, 0xfe, 0xc0]),
        Buffer.from(good.slice(2)),
      ]),
      noJson,
    ),
    unreadable('UTF-16', Buffer.from(good, 'utf16le'), noJson),
    ...[
      'text/plain',
      'application/xml',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'image/png',
      'garbage',
    ]
      .filter((type) => !types.includes(type.split(';', 1)[0] ?? ''))
      .map((type) => unreadable(`content type ${type}`, good, [415], { 'content-type': type })),
    unreadable('no content type', good, [415], {}),
    unreadable('charset utf-16', good, [400, 415], { 'content-type': 'application/json; charset=utf-16' }),
    unreadable('not gzip', good, noJson, { ...json, 'content-encoding': 'gzip' }),
    unreadable('gzip cut short', gzipSync(good).subarray(0, -6), noJson, {
      ...json,
      'content-encoding': 'gzip',
    }),
    unreadable('unknown encoding', good, [400, 415], { ...json, 'content-encoding': 'zstd' }),
    unreadable('a bomb: 200 MB in 200 KB', bomb(), [413], { ...json, 'content-encoding': 'gzip' }),
    unreadable('11 MB', `{"name":"${'x'.repeat(11_000_000)}"}`, [413]),
    unreadable('200,000 levels of arrays', '['.repeat(200_000) + ']'.repeat(200_000), noJson),
    unreadable('100,000 levels of objects', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`, noJson),
    bad('__proto__ alone', `{"__proto__":${good}}`, any),
    bad('__proto__ beside', beside('"__proto__":{"polluted":true}'), unknown),
    bad('constructor.prototype', beside('"constructor":{"prototype":{"polluted":true}}'), unknown),
    {
      ...bad('an unknown field', beside('"surplus":1'), unknown),
      ...(unknown === noJson && { names: 'surplus' }),
    },
    bad('an operator', beside('"$where":"sleep(1000)"'), unknown),
  ];
}

/** Whether a body may have fields that are not declared, as those of other systems' clients do, and whether none is declared. */
function fieldsOf(body: z.ZodType): { takesUnknown: boolean; isFree: boolean } {
  const { $ref, $defs, ...schema } = z.toJSONSchema(body, { io: 'input', unrepresentable: 'any' });
  const { additionalProperties = false, properties } =
    $ref === undefined ? schema : ($defs?.[$ref.replace('#/$defs/', '')] ?? {});
  const takesUnknown = additionalProperties !== false;
  return { takesUnknown, isFree: takesUnknown && properties === undefined };
}

interface FieldSchema {
  type?: string | string[];
  format?: string;
  properties?: Record<string, FieldSchema>;
  required?: string[];
  anyOf?: FieldSchema[];
  oneOf?: FieldSchema[];
  $ref?: string;
  $defs?: Record<string, FieldSchema>;
}

/** Bodies in which one field is missing, or has an invalid value. */
export function badFields(name: RouteName, unit: Unit): BadRequest[] {
  const route = routeNamed(name);
  if (!route.body) return [];
  const example = routeExamples[name](unit);
  const schema = z.toJSONSchema(route.body, { io: 'input', unrepresentable: 'any' }) as FieldSchema;
  const resolved = (field: FieldSchema): FieldSchema =>
    field.$ref !== undefined ? resolved(schema.$defs?.[field.$ref.replace('#/$defs/', '')] ?? {}) : field;
  const good = (example.body ?? {}) as Record<string, unknown>;
  // If the body has several forms, the form of the example.
  const object =
    [schema, ...(schema.anyOf ?? schema.oneOf ?? [])]
      .map(resolved)
      .find(({ properties = {} }) => Object.keys(good).some((field) => Object.hasOwn(properties, field))) ??
    {};
  const requests: BadRequest[] = [];
  for (const [field, declared] of Object.entries(object.properties ?? {})) {
    // `events` replaces the fields of a single event; bad-input.e2e.test.ts has a table for events.
    // The keys of rows are the columns of a table, and may have any name.
    if (name === 'importEvents' || name === 'previewLeadImport' || (name === 'ingest' && field === 'aliases'))
      continue;
    const { type: own, format, anyOf = [] } = resolved(declared);
    const mayBeNull = anyOf.some((one) => one.type === 'null');
    // An object of any content, which may be absent: operators are content too.
    const isFree = anyOf.some((one) => one.type === 'object' && !one.properties);
    const type = isFree ? 'object' : own;
    for (const [title, value] of poisons(typeof type === 'string' ? type : 'any', format)) {
      if (value === 'null' && mayBeNull) continue;
      requests.push({
        title: `${field}: ${title}`,
        ...(!['null', '{$ne: null}'].includes(title) && {
          shared: `${field}: ${title} ${JSON.stringify(declared)}`,
        }),
        path: pathOf(name, example),
        headers: json,
        // Inserted as raw JSON, because JSON.stringify cannot write some of these values.
        body: JSON.stringify({ ...good, [field]: '@' }).replace(
          `${JSON.stringify(field)}:"@"`,
          () => `${JSON.stringify(field)}:${value}`,
        ),
        right: [400],
      });
    }
    if (object.required?.includes(field)) {
      const rest = Object.fromEntries(Object.entries(good).filter(([key]) => key !== field));
      requests.push({
        title: `${field}: missing`,
        path: pathOf(name, example),
        headers: json,
        body: JSON.stringify(rest),
        right: [400],
        names: field,
      });
    }
    if (Object.hasOwn(good, field) && !isFree)
      requests.push({
        title: `${field}: twice, the second time wrong`,
        path: pathOf(name, example),
        headers: json,
        body: `${JSON.stringify(good).slice(0, -1)},${JSON.stringify(field)}:{"$ne":null}}`,
        right: [400],
      });
  }
  return requests;
}

/** JSON values that a field of the type must refuse. */
function poisons(type: string, format: string | undefined): [title: string, json: string][] {
  const operators: [string, string][] = [
    ['{$ne: null}', '{"$ne":null}'],
    ['{$gt: ""}', '{"$gt":""}'],
    ['{$where}', '{"$where":"sleep(1000)"}'],
    ['__proto__', '{"__proto__":{"polluted":true}}'],
  ];
  const deep: [string, string] = ['10,000 levels', `${'['.repeat(10_000)}${']'.repeat(10_000)}`];
  switch (type) {
    case 'string':
      return [
        ...operators,
        deep,
        ['null', 'null'],
        ['a number', '5'],
        ['true', 'true'],
        ['an array', '["a","b"]'],
        ['empty', '""'],
        ['100,001 characters', `"${'x'.repeat(100_001)}"`],
        ...(format === 'date-time' ? ([['not a time', '"yesterday"']] as [string, string][]) : []),
        ...(format === 'uuid'
          ? ([
              ['not a UUID', '"12345"'],
              ['a path', '"../../x"'],
            ] as [string, string][])
          : []),
        ...(format === undefined
          ? ([
              ['NUL', '"a\\u0000b"'],
              ['half a surrogate pair', '"a\\ud800b"'],
            ] as [string, string][])
          : []),
      ];
    case 'integer':
    case 'number':
      return [
        ...operators,
        deep,
        ['null', 'null'],
        ['text', '"5"'],
        ['true', 'true'],
        ['1e400', '1e400'],
        ['2^53+1', '9007199254740993'],
        ['-2^53-1', '-9007199254740993'],
        ...(type === 'integer' ? ([['a fraction', '1.5']] as [string, string][]) : []),
      ];
    case 'boolean':
      return [...operators, deep, ['null', 'null'], ['"true"', '"true"'], ['1', '1'], ['an array', '[true]']];
    case 'array':
      return [
        ...operators,
        ['null', 'null'],
        ['text', '"a"'],
        ['[null]', '[null]'],
        ['[{}]', '[{}]'],
        ['10,000 elements', JSON.stringify(Array(10_000).fill('a'))],
        ['[{$ne}]', '[{"$ne":null}]'],
      ];
    case 'object':
      return [
        ['null', 'null'],
        ['an array', '[]'],
        ['text', '"a"'],
        ['a number', '1'],
      ];
    default:
      return [...operators, deep, ['null', 'null']];
  }
}

/** Parameters that take any text, so that most values which are invalid elsewhere are valid here. */
const freeText = ['q', 'owner', 'alias', 'event_type', 'stage'];

/** Each query parameter with invalid values, and undeclared parameters. */
export function badQueries(name: RouteName, unit: Unit): BadRequest[] {
  const route = routeNamed(name);
  const example = routeExamples[name](unit);
  const base = pathOf(name, { ...example, query: {} }).replace(/\?$/, '');
  const required = new URLSearchParams(example.query ?? {});
  const body = example.body === undefined ? {} : { headers: json, body: JSON.stringify(example.body) };
  const query = (title: string, text: string, right: readonly number[]): BadRequest => ({
    title: `?${title}`,
    path: `${base}?${text}`,
    right,
    ...body,
  });
  if (!route.query) return [];
  const requests = [
    query('surplus=1', with_(required, 'surplus=1'), [400]),
    query('__proto__=1', with_(required, '__proto__=1'), [400]),
    query('__proto__[polluted]=1', with_(required, '__proto__[polluted]=1'), [400]),
    query('constructor=1', with_(required, 'constructor=1'), [400]),
  ];
  for (const parameter of Object.keys(route.query.shape)) {
    const others = new URLSearchParams(required);
    others.delete(parameter);
    const declared = JSON.stringify(
      z.toJSONSchema(route.query.shape[parameter] as z.ZodType, { io: 'input', unrepresentable: 'any' }),
    );
    const one = (title: string, text: string, right: readonly number[]) =>
      requests.push({
        ...query(`${parameter}: ${title}`, with_(others, text), right),
        ...(!['an operator', 'empty'].includes(title) && { shared: `?${parameter}: ${title} ${declared}` }),
      });
    one('twice', `${parameter}=1&${parameter}=2`, [400]);
    one('an operator', `${parameter}[$ne]=1`, [400]);
    one('an array', `${parameter}[]=1`, [400]);
    one('empty', `${parameter}=`, [400]);
    one('3,000 characters', `${parameter}=${'x'.repeat(3_000)}`, [400]);
    // 404: no level has this name.
    const text = freeText.includes(parameter) ? [200, 400] : parameter === 'level' ? [400, 404] : [400];
    one('JSON', `${parameter}=${encodeURIComponent('{"$ne":null}')}`, text);
    one('NUL', `${parameter}=%00`, text);
    one('invalid UTF-8', `${parameter}=%ff%ed%a0%80`, text);
    one('a stray %', `${parameter}=%zz`, text);
    one('a regular expression', `${parameter}=${encodeURIComponent('(a+)+$')}`, text);
    if (['page', 'limit', 'min_score', 'max_score'].includes(parameter))
      for (const value of ['abc', '1e400', 'Infinity', 'NaN', '9007199254740993', '-9007199254740993', '0x'])
        one(value, `${parameter}=${value}`, [400]);
    if (['page', 'limit'].includes(parameter))
      for (const value of ['0', '-1', '1.5']) one(value, `${parameter}=${value}`, [400]);
    if (parameter === 'limit') one('101', 'limit=101', [400]);
    if (['from', 'to', 'at'].includes(parameter))
      for (const value of [
        'yesterday',
        '2026-02-30T00:00:00Z',
        '2026-13-01',
        '1700000000',
        '2026-01-01T25:00:00Z',
        '+275760-09-13T00:00:00Z',
      ])
        one(value, `${parameter}=${encodeURIComponent(value)}`, [400]);
    if (['cursor', 'min_position'].includes(parameter))
      for (const value of [
        '!!!',
        'AAAA',
        Buffer.from('{"a":1}').toString('base64url'),
        Buffer.from('[]').toString('base64url'),
        Buffer.from('null').toString('base64url'),
      ])
        one(value, `${parameter}=${value}`, [400]);
  }
  return requests;
}

function with_(others: URLSearchParams, text: string): string {
  return others.size > 0 ? `${others.toString()}&${text}` : text;
}

/** Each path parameter with invalid ids, names and percent-encodings. */
export function badPaths(name: RouteName, unit: Unit): BadRequest[] {
  const route = routeNamed(name);
  const example = routeExamples[name](unit);
  const body = example.body === undefined ? {} : { headers: json, body: JSON.stringify(example.body) };
  return Object.entries(route.parameters?.shape ?? {}).flatMap(([parameter, declared]) =>
    [
      '%zz',
      '%',
      '%ff',
      '%ED%A0%80',
      '%00',
      '%2e%2e',
      '%2F',
      'x'.repeat(3_000),
      'not-a-uuid',
      encodeURIComponent('{"$ne":null}'),
      encodeURIComponent("'; drop table leads; --"),
      '__proto__',
      'constructor',
      '00000000-0000-0000-0000-00000000000g',
    ]
      .filter((value) => !isGoodName(route, parameter, value))
      .map((value): BadRequest => ({
        title: `{${parameter}} ${value.slice(0, 40)}`,
        ...(!['%00', 'not-a-uuid'].includes(value) && {
          shared: `{${parameter}} ${value} ${route.method} ${JSON.stringify(z.toJSONSchema(declared, { io: 'input', unrepresentable: 'any' }))}`,
        }),
        path: pathOf(name, { ...example, parameters: { ...example.parameters, [parameter]: '@' } }).replace(
          '%40',
          () => value,
        ),
        right: [400, 404],
        ...body,
      })),
  );
}

/** Whether a route takes the value as a name, and looks nothing up by it that could be missing. */
function isGoodName(route: RouteDeclaration, parameter: string, value: string): boolean {
  if (route.problems.some((code) => code.endsWith('_not_found'))) return false;
  try {
    const forms: Record<string, z.ZodType> | undefined = route.parameters?.shape;
    return forms?.[parameter]?.safeParse(decodeURIComponent(value)).success === true;
  } catch {
    return false;
  }
}

let gzipped: Uint8Array | undefined;
/** 200 MB of white space, compressed. */
function bomb(): Uint8Array {
  return (gzipped ??= gzipSync(Buffer.alloc(200_000_000, ' ')));
}
