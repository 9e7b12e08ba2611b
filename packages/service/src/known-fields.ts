// Which fields a schema knows at a place, for the question whether one of them was meant.
import type { z } from 'zod';

/** The names of the fields that objects may have there, whichever alternatives lead to them. */
export function knownFieldsAt(schema: z.core.$ZodType, path: readonly PropertyKey[]): string[] {
  let found = alternativesOf(schema);
  for (const step of path) found = found.flatMap((one) => partAt(one, step)).flatMap(alternativesOf);
  const names = found.flatMap((one) => {
    const { def } = (one as z.core.$ZodTypes)._zod;
    return def.type === 'object' ? Object.keys(def.shape) : [];
  });
  return [...new Set(names)];
}

/** The objects, lists and values that a schema comes down to: wrappers taken off, unions taken apart. */
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
