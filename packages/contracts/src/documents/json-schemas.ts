// JSON Schemas of the declarations: of records for the registry, of what routes take and answer for the documents.
import { z } from 'zod';
import { metadataLimits } from '../domain/metadata.js';
import type { RecordDeclaration } from '../records/record.js';

/** A JSON Schema as plain JSON. */
export type JsonSchema = Record<string, unknown>;

/** The JSON Schema (draft 7) of a record's payload, as it is registered. Metadata is an open object. */
export function jsonSchemaOf(record: RecordDeclaration): JsonSchema {
  return jsonSchemaOfPayload(record.schema);
}

/** The JSON Schema (draft 7) of what is written. */
export function jsonSchemaOfPayload(schema: z.ZodType): JsonSchema {
  return z.toJSONSchema(schema, {
    target: 'draft-7',
    io: 'output',
    unrepresentable: 'any',
  });
}

export interface SchemaCollector {
  /** The schema of what is sent (`input`) or answered (`output`); named schemas become references to `components`. */
  schemaOf(schema: z.ZodType, io: 'input' | 'output'): JsonSchema;
  /** The named schemas that were met so far. */
  readonly components: Record<string, JsonSchema>;
}

/**
 * Collects schemas of one document.
 * @param place where the named ones live in it, such as `#/components/schemas/`
 */
export function createSchemaCollector(place: string): SchemaCollector {
  const components: Record<string, JsonSchema> = {};
  return {
    components,
    schemaOf(schema, io) {
      const { $defs, ...whole } = z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as JsonSchema;
      const named = ($defs ?? {}) as Record<string, JsonSchema>;
      const texts = new Map(
        Object.entries(named).map(([id, one]) => [id, JSON.stringify(tidied(one, place))]),
      );
      for (const [id, text] of texts) {
        const known = components[id];
        // A default makes the two forms differ; each must then have a name of its own.
        if (known && JSON.stringify(known) !== text)
          throw new Error(
            `the schema ${id} has two forms: give what is sent and what is answered names of their own`,
          );
        components[id] = JSON.parse(text) as JsonSchema;
      }
      delete whole.$schema;
      const result = tidied(whole, place) as JsonSchema;
      if (JSON.stringify([result, ...texts.values()]).includes(`${place}JsonValue`))
        components.JsonValue = jsonValue(place);
      return result;
    },
  };
}

/** A value of metadata: any JSON, its numbers within what a double holds exactly. */
function jsonValue(place: string): JsonSchema {
  const self = { $ref: `${place}JsonValue` };
  const { MAX_SAFE_INTEGER: maximum, MIN_SAFE_INTEGER: minimum } = Number;
  return {
    description: 'Any JSON value; a number beyond ±9007199254740991 is refused: send it as a string.',
    anyOf: [
      { type: ['string', 'boolean', 'null'] },
      { type: 'number', minimum, maximum },
      { type: 'array', items: self, maxItems: metadataLimits.keys },
      { type: 'object', additionalProperties: self, maxProperties: metadataLimits.keys },
    ],
  };
}

/** Points references at the document's own place, and writes `example` as the dialect has it: `examples`. */
function tidied(value: unknown, place: string): unknown {
  if (Array.isArray(value)) return value.map((item) => tidied(item, place));
  if (value === null || typeof value !== 'object') return value;
  const result: JsonSchema = {};
  for (const [key, item] of Object.entries(value)) {
    if (key === '$ref' && typeof item === 'string') result.$ref = item.replace('#/$defs/', place);
    else if (key === 'example') result.examples = [item];
    // Only metadata is open to everything; `{}` is how zod writes the rest of a loose object.
    else if (key === 'additionalProperties' && item === true) result[key] = { $ref: `${place}JsonValue` };
    else result[key] = tidied(item, place);
  }
  return result;
}
