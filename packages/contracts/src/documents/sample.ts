// An example value for a JSON Schema of the documents: the author's example where the schema has one, else the smallest
// value that fits.
import type { JsonSchema } from './json-schemas.js';

/**
 * An object gets its required properties and those optional ones that have an example. When `minProperties` asks for
 * more properties than these, its first property is added.
 */
export function sampleOf(schema: JsonSchema, components: Record<string, JsonSchema>): unknown {
  if (typeof schema.$ref === 'string') {
    const component = components[schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1)];
    return component ? sampleOf(component, components) : undefined;
  }
  if (Array.isArray(schema.examples)) return schema.examples[0] as unknown;
  if ('const' in schema) return schema.const;
  if ('default' in schema) return schema.default;
  if (Array.isArray(schema.enum)) return schema.enum[0] as unknown;
  const choices = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(choices)) {
    const [choice = {}] = choices as JsonSchema[];
    if (schema.properties === undefined) return sampleOf(choice, components);
    // Properties beside `anyOf` belong to every choice.
    const required = [schema.required, choice.required].flatMap((names) => (names ?? []) as string[]);
    const properties = { ...schema.properties, ...(choice.properties as object | undefined) };
    return sampleOf({ type: 'object', properties, required }, components);
  }
  switch (Array.isArray(schema.type) ? (schema.type[0] as unknown) : schema.type) {
    case 'object': {
      const properties = (schema.properties ?? {}) as Record<string, JsonSchema>;
      const required = new Set((schema.required ?? []) as string[]);
      // An optional id would name an object of the reader's own, so an invented one would mislead.
      const shown = Object.keys(properties).filter(
        (name) => required.has(name) || (properties[name]?.examples && properties[name].format !== 'uuid'),
      );
      if (shown.length < Number(schema.minProperties ?? 0))
        shown.push(...Object.keys(properties).slice(0, 1));
      return Object.fromEntries(shown.map((name) => [name, sampleOf(properties[name] ?? {}, components)]));
    }
    case 'array': {
      const items = (schema.prefixItems as JsonSchema[] | undefined) ?? [(schema.items ?? {}) as JsonSchema];
      const least = Math.max(items.length, Number(schema.minItems ?? 0));
      return Array.from({ length: least }, (_, index) =>
        sampleOf(items[index] ?? items[items.length - 1] ?? {}, components),
      );
    }
    case 'integer':
    case 'number':
      return Math.max(Number(schema.minimum ?? 0), Math.min(0, Number(schema.maximum ?? 0)));
    case 'boolean':
      return true;
    case 'null':
      return null;
    case 'string':
      return 'text'.padEnd(Number(schema.minLength ?? 0), 'x').slice(0, Number(schema.maxLength ?? 4));
    default:
      return {};
  }
}
