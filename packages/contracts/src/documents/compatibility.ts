// Compares two JSON Schemas of a record type: can records written under the old one be read under the new one
// (BACKWARD)? It refuses every change that it cannot prove to be safe. Public because two callers need it:
// scripts/refresh-schemas.mjs, which imports the built package and refuses to overwrite a committed schema with an
// incompatible one, and compatibility.unit.test.ts, which fails when a declaration has changed incompatibly. Services
// do not use it: the schema registry makes its own check when a service registers its schemas.
import { isDeepStrictEqual } from 'node:util';
import type { JsonSchema } from './json-schemas.js';

/** The reasons for which the new schema might refuse a value that the old one allowed; empty when there are none. */
export function incompatibilities(before: JsonSchema, after: JsonSchema): string[] {
  return compare({ before, after }, before, after, 'payload', 0);
}

type Roots = Record<'before' | 'after', JsonSchema>;

const annotations = new Set([
  '$schema',
  'description',
  'title',
  'example',
  'examples',
  'default',
  'definitions',
  '$defs',
  '$id',
]);
const compared = new Set([
  ...[
    'type',
    'const',
    'enum',
    'required',
    'properties',
    'additionalProperties',
    'items',
    'anyOf',
    'oneOf',
    '$ref',
  ],
  ...['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties'],
  ...['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties'],
]);

function compare(roots: Roots, oldForm: unknown, newForm: unknown, at: string, depth: number): string[] {
  if (newForm === true || isDeepStrictEqual(newForm, {})) return [];
  if (oldForm === false) return [];
  if (depth > 50) return [`${at} nests too deep to compare`];
  const before = followReference(roots.before, oldForm);
  const after = followReference(roots.after, newForm);
  if (!before || !after) return [`${at} is no longer open to any value`];
  if (isDeepStrictEqual(before, after) && !JSON.stringify(before).includes('$ref')) return [];
  const compareParts = (a: unknown, b: unknown, place: string) => compare(roots, a, b, place, depth + 1);

  const oldChoices = choicesOf(before);
  const newChoices = choicesOf(after);
  if (oldChoices || newChoices) {
    const lost = (oldChoices ?? [before]).flatMap((choice, index) => {
      const best = (newChoices ?? [after])
        .map((candidate) => compareParts(choice, candidate, at))
        .reduce((least, found) => (found.length < least.length ? found : least));
      return best.map((reason) => `${reason} (alternative ${String(index + 1)})`);
    });
    const rest = [omit(before, ['anyOf', 'oneOf']), omit(after, ['anyOf', 'oneOf'])] as const;
    const beside = oldChoices && newChoices && Object.keys(rest[1]).some((key) => !annotations.has(key));
    return beside ? [...lost, ...compareParts(rest[0], rest[1], at)] : lost;
  }

  return [
    ...typeProblems(before, after, at),
    ...valueProblems(before, after, at),
    ...limitProblems(before, after, at),
    ...objectProblems(before, after, at, compareParts),
    ...itemProblems(before, after, at, compareParts),
    ...Object.keys(after)
      .filter(
        (key) => !compared.has(key) && !annotations.has(key) && !isDeepStrictEqual(before[key], after[key]),
      )
      .map((key) => `${at}: ${key} has changed`),
  ];
}

type CompareParts = (before: unknown, after: unknown, at: string) => string[];

function typeProblems(before: JsonSchema, after: JsonSchema, at: string): string[] {
  if (after.type === undefined) return [];
  const allowed = new Set(([after.type] as string[]).flat());
  if (allowed.has('number')) allowed.add('integer');
  const values = valuesOf(before);
  const types = before.type !== undefined ? ([before.type] as string[]).flat() : values?.map(typeOfValue);
  if (!types) return [`${at} must now be ${[...allowed].join(' or ')}`];
  const lost = types.filter((type) => !allowed.has(type));
  return lost.length === 0 ? [] : [`${at} may no longer be ${lost.join(' or ')}`];
}

function typeOfValue(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : Number.isInteger(value) ? 'integer' : typeof value;
}

function valueProblems(before: JsonSchema, after: JsonSchema, at: string): string[] {
  const [old, allowed] = [valuesOf(before), valuesOf(after)];
  if (!allowed) return [];
  if (!old) return [`${at} may now only be one of listed values`];
  const lost = old.filter((value) => !allowed.some((other) => isDeepStrictEqual(value, other)));
  return lost.length === 0
    ? []
    : [`${at} may no longer be ${lost.map((value) => JSON.stringify(value)).join(' or ')}`];
}

function valuesOf(schema: JsonSchema): unknown[] | null {
  if ('const' in schema) return [schema.const];
  return Array.isArray(schema.enum) ? (schema.enum as unknown[]) : null;
}

function limitProblems(before: JsonSchema, after: JsonSchema, at: string): string[] {
  const narrowed = (key: string, isNarrower: (old: number, now: number) => boolean) => {
    const [old, now] = [before[key], after[key]];
    if (typeof now !== 'number' || (typeof old === 'number' && !isNarrower(old, now))) return [];
    return [`${at}: ${key} is now ${String(now)}`];
  };
  return [
    ...['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties'].flatMap((key) =>
      narrowed(key, (old, now) => now > old),
    ),
    ...['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties'].flatMap((key) =>
      narrowed(key, (old, now) => now < old),
    ),
  ];
}

function objectProblems(
  before: JsonSchema,
  after: JsonSchema,
  at: string,
  compareParts: CompareParts,
): string[] {
  const oldProperties = (before.properties ?? {}) as JsonSchema;
  const newProperties = (after.properties ?? {}) as JsonSchema;
  const oldRequired = new Set((before.required ?? []) as string[]);
  const oldRest = before.additionalProperties ?? true;
  const newRest = after.additionalProperties ?? true;
  const required = ((after.required ?? []) as string[]).filter((name) => !oldRequired.has(name));
  const problems = required.map((name) => `${at}.${name} is now required`);
  for (const [name, property] of Object.entries(oldProperties)) {
    const successor = Object.hasOwn(newProperties, name) ? newProperties[name] : newRest;
    if (successor === false) problems.push(`${at}.${name} is no longer allowed`);
    else problems.push(...compareParts(property, successor, `${at}.${name}`));
  }
  for (const [name, property] of Object.entries(newProperties))
    if (!Object.hasOwn(oldProperties, name))
      problems.push(...compareParts(oldRest, property, `${at}.${name}`));
  if (newRest === false && oldRest !== false) problems.push(`${at} may no longer hold further properties`);
  else if (newRest !== false) problems.push(...compareParts(oldRest, newRest, `${at}.*`));
  return problems;
}

function itemProblems(
  before: JsonSchema,
  after: JsonSchema,
  at: string,
  compareParts: CompareParts,
): string[] {
  if (after.items === undefined) return [];
  const [old, now] = [before.items ?? true, after.items];
  if (Array.isArray(old) && Array.isArray(now))
    return now.flatMap((item: unknown, index) =>
      compareParts(old[index] ?? true, item, `${at}[${String(index)}]`),
    );
  return Array.isArray(old) || Array.isArray(now)
    ? [`${at}: items have another form`]
    : compareParts(old, now, `${at}[]`);
}

function choicesOf(schema: JsonSchema): unknown[] | null {
  const choices = schema.anyOf ?? schema.oneOf;
  return Array.isArray(choices) ? (choices as unknown[]) : null;
}

/** Follows `$ref` to the schema that it names. Null for the schemas `true` and `false`, which are no objects. */
function followReference(root: JsonSchema, schema: unknown): JsonSchema | null {
  if (typeof schema !== 'object' || schema === null) return null;
  const reference = (schema as JsonSchema).$ref;
  if (typeof reference !== 'string') return schema as JsonSchema;
  let found: unknown = root;
  for (const step of reference.replace(/^#\/?/, '').split('/'))
    found = (found as JsonSchema | undefined)?.[step];
  return followReference(root, found);
}

function omit(schema: JsonSchema, keys: string[]): JsonSchema {
  return Object.fromEntries(Object.entries(schema).filter(([key]) => !keys.includes(key)));
}
