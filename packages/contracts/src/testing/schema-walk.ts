// Walks zod schemas: finds every schema within one, and makes values that hold a given text at every possible place.
import { z } from 'zod';
import { createSchemaCollector } from '../documents/json-schemas.js';
import { sampleOf } from '../documents/sample.js';

/** The direct parts of a schema, with their paths. */
function partsOf(schema: z.core.$ZodType): [string, z.core.$ZodType][] {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case 'object':
      return Object.entries(def.shape);
    case 'array':
      return [['[]', def.element]];
    case 'tuple':
      return def.items.map((item, index) => [`[${String(index)}]`, item]);
    case 'union':
      return def.options.map((option, index) => [`<${String(index)}>`, option]);
    case 'record':
      return [
        ['<key>', def.keyType],
        ['<value>', def.valueType],
      ];
    case 'pipe':
      return [
        ['', def.in],
        ['', def.out],
      ];
    case 'optional':
    case 'nullable':
    case 'default':
    case 'prefault':
    case 'readonly':
    case 'nonoptional':
    case 'catch':
      return [['', def.innerType]];
    case 'intersection':
      return [
        ['', def.left],
        ['', def.right],
      ];
    case 'lazy':
      throw new Error('a schema that holds itself: walk it with a bound');
    default:
      return [];
  }
}

/**
 * A schema and every schema within it, with their paths. A list or union that is used at several places is walked at the first
 * one: groups in groups would be walked twice as often with each level.
 */
export function schemasWithin(
  schema: z.core.$ZodType,
  at = '',
  walked = new Set<z.core.$ZodType>(),
): [string, z.core.$ZodType][] {
  if (isRepeated(schema, walked)) return [];
  return [
    [at, schema],
    ...partsOf(schema).flatMap(([part, inner]) =>
      schemasWithin(inner, part === '' ? at : `${at}${at === '' ? '' : '.'}${part}`, walked),
    ),
  ];
}

function isRepeated(schema: z.core.$ZodType, walked: Set<z.core.$ZodType>): boolean {
  const { type } = (schema as z.core.$ZodTypes)._zod.def;
  if (type !== 'array' && type !== 'union') return false;
  if (walked.has(schema)) return true;
  walked.add(schema);
  return false;
}

/** A value that the schema accepts, or the nearest one that its examples give. */
export function sampleOfSchema(schema: z.core.$ZodType): unknown {
  const collector = createSchemaCollector('#/components/schemas/');
  return sampleOf(collector.schemaOf(schema as z.ZodType, 'input'), collector.components);
}

/**
 * Values of the schema's form in which the text replaces one part, one value for each part, and one value that has the
 * text as an unknown field.
 */
export function valuesHolding(
  schema: z.core.$ZodType,
  text: unknown,
  walked = new Set<z.core.$ZodType>(),
): [string, unknown][] {
  if (isRepeated(schema, walked)) return [];
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case 'object': {
      const whole = sampleOfSchema(schema) as Record<string, unknown>;
      const inner = Object.entries(def.shape).flatMap(([key, part]) =>
        valuesHolding(part, text, walked).map(([at, value]): [string, unknown] => [
          `.${key}${at}`,
          { ...whole, [key]: value },
        ]),
      );
      return [...inner, ['.<unknown field>', { ...whole, [String(text)]: 1 }]];
    }
    case 'array':
      return valuesHolding(def.element, text, walked).map(([at, value]) => [`[]${at}`, [value]]);
    case 'tuple':
      return def.items.flatMap((item, index) =>
        valuesHolding(item, text, walked).map(([at, value]): [string, unknown] => [
          `[${String(index)}]${at}`,
          def.items.map((other, place) => (place === index ? value : sampleOfSchema(other))),
        ]),
      );
    case 'union':
      return def.options.flatMap((option) => valuesHolding(option, text, walked));
    case 'pipe':
      return (def.in as z.core.$ZodTypes)._zod.def.type === 'transform'
        ? valuesHolding(def.out, text, walked)
        : valuesHolding(def.in, text, walked);
    case 'optional':
    case 'nullable':
    case 'default':
    case 'prefault':
    case 'readonly':
    case 'nonoptional':
    case 'catch':
      return valuesHolding(def.innerType, text, walked);
    case 'custom':
      return [
        ['', text],
        ['.<key>', { [String(text)]: text }],
      ];
    default:
      return [['', text]];
  }
}
