// What consumers of public topics may rely on from one release to the next: docs/consumers.md says it in words. compatibility.ts looks the
// other way: whether the system can read what it wrote before. Public because two callers need it: scripts/release-schemas.mjs, and
// consumer-promise.unit.test.ts, which compares the declarations with the schemas of the last release.
import { recordDeclarations } from '../records/index.js';
import { topics } from '../records/topics.js';
import { incompatibilities } from './compatibility.js';
import { jsonSchemaOf, type JsonSchema } from './json-schemas.js';

/** The public records of a release. */
export interface ReleasedRecords {
  version: string;
  /** By `<topic>/<type>`. */
  records: Record<string, ReleasedRecord>;
}

interface ReleasedRecord {
  key: string;
  schema: JsonSchema;
}

/** The records that consumers may build on, as they are declared now. */
export function publicRecords(): ReleasedRecords['records'] {
  const open = new Set(topics.filter(({ audience }) => audience === 'public').map(({ name }) => name));
  return Object.fromEntries(
    recordDeclarations
      .filter(({ topic }) => open.has(topic))
      .map((record) => [
        `${record.topic}/${record.type}`,
        { key: record.key, schema: JSON.parse(JSON.stringify(jsonSchemaOf(record))) as JsonSchema },
      ]),
  );
}

/**
 * The promises to consumers of the released records that the records of now break; empty when there are none. A field that is said to be
 * required is one that the release has in each record and that may be absent now; a type that is said to be lost is a new one of now.
 */
export function brokenPromises(
  released: ReleasedRecords['records'],
  now: ReleasedRecords['records'],
): string[] {
  return Object.entries(released).flatMap(([name, { key, schema }]) => {
    const current = now[name];
    if (!current) return [`${name} has gone`];
    if (current.key !== key) return [`${name}: the key was the ${key}, and is now the ${current.key}`];
    return incompatibilities(current.schema, asConsumersRead(schema)).map(
      (reason) => `${name}, read by consumers of the release: ${reason}`,
    );
  });
}

/** Limits, which may rise, and closed objects, which may get further fields. */
const unpromised = new Set([
  ...['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties'],
  ...['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties'],
]);
const maps = new Set(['properties', 'definitions', '$defs']);

/** The schema without what may change: a consumer ignores fields that it does not know, and takes values that a list gets later. */
function asConsumersRead(schema: unknown): JsonSchema {
  const entries = Object.entries(schema as JsonSchema).flatMap(([name, value]): [string, unknown][] => {
    if (unpromised.has(name) || (name === 'additionalProperties' && value === false)) return [];
    if (name === 'enum' || name === 'const')
      return [['type', (schema as JsonSchema).type ?? typesOf(name === 'enum' ? value : [value])]];
    if (maps.has(name))
      return [
        [
          name,
          Object.fromEntries(Object.entries(value as JsonSchema).map(([one, part]) => [one, readable(part)])),
        ],
      ];
    return [[name, readable(value)]];
  });
  return Object.fromEntries(entries);
}

function readable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(readable);
  return typeof value === 'object' && value !== null ? asConsumersRead(value) : value;
}

function typesOf(values: unknown): string[] {
  return [...new Set((values as unknown[]).map((value) => (value === null ? 'null' : typeof value)))];
}
