// The properties of a type's metadata: how many events have each, with values of which types, and examples. Pure.
import { routeDeclarations, type JsonObject, type JsonValue } from '@lead-scoring/contracts';
import type { ValueCounts } from './value-counts-model.js';

const { eventTypeLimits, propertyTypes } = routeDeclarations;
type PropertyType = (typeof propertyTypes)[number];

/** One letter for each type. */
const letters: Readonly<Record<PropertyType, string>> = {
  string: 's',
  number: 'n',
  boolean: 'b',
  object: 'o',
  array: 'a',
  null: '0',
};
const typeOfLetter = new Map(propertyTypes.map((type) => [letters[type], type]));

function typeOf(value: JsonValue): PropertyType {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value as PropertyType;
}

/** A property with values of one type, as it is counted: the letter of the type, and the name. */
export function propertyKey(name: string, value: JsonValue): string {
  return letters[typeOf(value)] + name;
}

type Property = Omit<routeDeclarations.EventTypeProperty, 'examples'>;

/** The properties that partitions have counted, in alphabetical order, at most as many as an answer takes. */
export function propertiesOf(parts: Iterable<ValueCounts>): Property[] {
  const byName = new Map<string, Map<PropertyType, number>>();
  for (const part of parts)
    for (const [key, events] of part) {
      const type = typeOfLetter.get(key.slice(0, 1));
      if (!type) continue;
      const name = key.slice(1);
      const counts = byName.get(name) ?? new Map<PropertyType, number>();
      byName.set(name, counts.set(type, (counts.get(type) ?? 0) + events));
    }
  return [...byName]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .slice(0, eventTypeLimits.properties)
    .map(([name, counts]) => ({
      name,
      events: [...counts.values()].reduce((sum, events) => sum + events, 0),
      types: [...counts].sort(byFrequency).map(([type]) => type),
    }));
}

function byFrequency(
  [type, events]: readonly [PropertyType, number],
  [otherType, others]: readonly [PropertyType, number],
): number {
  return others - events || (type < otherType ? -1 : 1);
}

/** Different values of each property, in the order of the events. */
export function examplesOf(metadata: Iterable<JsonObject>): Map<string, string[]> {
  const examples = new Map<string, string[]>();
  for (const one of metadata)
    for (const [name, value] of Object.entries(one)) {
      const known = examples.get(name) ?? [];
      if (known.length >= eventTypeLimits.examples) continue;
      const shown = shownValue(value);
      if (!known.includes(shown)) examples.set(name, [...known, shown]);
    }
  return examples;
}

function shownValue(value: JsonValue): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const { exampleLength } = eventTypeLimits;
  return text.length <= exampleLength ? text : `${text.slice(0, exampleLength).toWellFormed()}…`;
}
