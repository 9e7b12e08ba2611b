// JSON Schemas made from the declarations: of record payloads for the schema registry, and of requests and answers for
// the OpenAPI and AsyncAPI documents.
import { z } from 'zod';
import { metadataLimits } from '../vocabulary/metadata.js';
import type { RecordDeclaration } from '../records/record.js';

/** A JSON Schema as plain JSON. */
export type JsonSchema = Record<string, unknown>;

/**
 * The JSON Schema (draft 7) of a record's payload, as it is registered. Metadata and other custom types are open
 * objects.
 */
export function jsonSchemaOf(record: RecordDeclaration): JsonSchema {
  return jsonSchemaOfPayload(record.schema);
}

/** The JSON Schema (draft 7) of a payload as it is written (zod's output type). */
export function jsonSchemaOfPayload(schema: z.ZodType): JsonSchema {
  return z.toJSONSchema(schema, {
    target: 'draft-7',
    io: 'output',
    unrepresentable: 'any',
  });
}

export interface SchemaCollector {
  /** The schema of a request (`input`) or an answer (`output`). Named schemas become references to `components`. */
  schemaOf(schema: z.ZodType, io: 'input' | 'output'): JsonSchema;
  /** The named schemas that the calls of `schemaOf` have found so far. */
  readonly components: Record<string, JsonSchema>;
}

/**
 * Collects the named schemas of one document.
 * @param place JSON pointer to the named schemas in the document, such as `#/components/schemas/`
 */
export function createSchemaCollector(place: string): SchemaCollector {
  const components: Record<string, JsonSchema> = {};
  const converted = { input: new Map<z.ZodType, JsonSchema>(), output: new Map<z.ZodType, JsonSchema>() };
  return {
    components,
    schemaOf(schema, io) {
      // The problem is the schema of nearly all refusals.
      const known = converted[io].get(schema);
      if (known) return known;
      const result = convert(schema, io, { components, place });
      converted[io].set(schema, result);
      return result;
    },
  };
}

/** Converts a schema, and adds the named schemas in it to `components`. */
function convert(
  schema: z.ZodType,
  io: 'input' | 'output',
  { components, place }: { components: Record<string, JsonSchema>; place: string },
): JsonSchema {
  const { $defs, ...whole } = z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as JsonSchema;
  const named = ($defs ?? {}) as Record<string, JsonSchema>;
  const texts = new Map(
    Object.entries(named).map(([id, one]) => [id, JSON.stringify(adaptSchema(one, place))]),
  );
  for (const [id, text] of texts) {
    const known = components[id];
    // A schema with a default value has another form as input than as output; each form then needs a name of its
    // own.
    if (known && JSON.stringify(known) !== text)
      throw new Error(
        `the schema ${id} has two forms: give what is sent and what is answered names of their own`,
      );
    components[id] = JSON.parse(text) as JsonSchema;
  }
  delete whole.$schema;
  const result = adaptSchema(whole, place) as JsonSchema;
  if (JSON.stringify([result, ...texts.values()]).includes(`${place}JsonValue`))
    components.JsonValue = jsonValue(place);
  return result;
}

/**
 * The schema of a metadata value: any JSON, with numbers within the range in which a double is exact. Each keyword holds for values of
 * its own type. `anyOf` would say the same, but generators of clients read no alternatives that hold themselves; `if` they leave out, and
 * take any value.
 */
function jsonValue(place: string): JsonSchema {
  const self = { $ref: `${place}JsonValue` };
  const { MAX_SAFE_INTEGER: maximum, MIN_SAFE_INTEGER: minimum } = Number;
  return {
    description: 'Any JSON value; a number beyond ±9007199254740991 is refused: send it as a string.',
    minimum,
    maximum,
    maxItems: metadataLimits.keys,
    maxProperties: metadataLimits.keys,
    if: { type: 'object' },
    then: { additionalProperties: self },
    else: { items: self },
  };
}

/** Makes a schema fit the document: references start with `place`, and `example` becomes the draft's `examples`. */
function adaptSchema(value: unknown, place: string): unknown {
  if (Array.isArray(value)) return value.map((item) => adaptSchema(item, place));
  if (value === null || typeof value !== 'object') return value;
  const result: JsonSchema = {};
  for (const [key, item] of Object.entries(value)) {
    if (key === '$ref' && typeof item === 'string') result.$ref = item.replace('#/$defs/', place);
    else if (key === 'example') result.examples = [item];
    // zod writes `additionalProperties: {}` for loose objects; `true` stands at metadata only, which holds any JSON
    // value.
    else if (key === 'additionalProperties' && item === true) result[key] = { $ref: `${place}JsonValue` };
    else result[key] = adaptSchema(item, place);
  }
  return adaptTuple(result);
}

/**
 * Says of a tuple how many items it has in place of `items: false`, which generators of clients refuse; and where all positions have the
 * same schema, that it is the schema of each item.
 */
function adaptTuple(schema: JsonSchema): JsonSchema {
  const { items, prefixItems, ...rest } = schema;
  if (items !== false || !Array.isArray(prefixItems)) return schema;
  const [first, ...others] = prefixItems.map((item) => JSON.stringify(item));
  const positions = others.every((item) => item === first)
    ? { items: prefixItems[0] as unknown }
    : { prefixItems };
  return { ...rest, ...positions, minItems: prefixItems.length, maxItems: prefixItems.length };
}
