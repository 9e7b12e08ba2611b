// The fields that a schema knows at a path, to suggest one for an unknown field.
import type { z } from 'zod';

/** The names of the fields that an object may have at the path, in any alternative of the schema. */
export function knownFieldsAt(schema: z.core.$ZodType, path: readonly PropertyKey[]): string[] {
  let found = alternativesOf(schema);
  for (const step of path) found = found.flatMap((one) => partAt(one, step)).flatMap(alternativesOf);
  const names = found.flatMap((one) => {
    const { def } = (one as z.core.$ZodTypes)._zod;
    return def.type === 'object' ? Object.keys(def.shape) : [];
  });
  return [...new Set(names)];
}

/** The objects, lists and values of a schema, without wrappers, and with unions split into their alternatives. */
function alternativesOf(schema: z.core.$ZodType): z.core.$ZodType[] {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case 'union':
      return def.options.flatMap(alternativesOf);
    case 'pipe':
      return [...alternativesOf(def.in), ...alternativesOf(def.out)];
    case 'optional':
    case 'nullable':
    case 'default':
    case 'prefault':
    case 'readonly':
    case 'nonoptional':
    case 'catch':
      return alternativesOf(def.innerType);
    default:
      return [schema];
  }
}

function partAt(schema: z.core.$ZodType, step: PropertyKey): z.core.$ZodType[] {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case 'object': {
      const part = Object.hasOwn(def.shape, step) ? def.shape[String(step)] : undefined;
      return part ? [part] : [];
    }
    case 'array':
      return [def.element];
    case 'tuple':
      return typeof step === 'number' ? def.items.slice(step, step + 1) : [];
    case 'record':
      return [def.valueType];
    default:
      return [];
  }
}
