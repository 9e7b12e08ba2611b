// The values of a lead's profile: read from event metadata by mappings, recorded as changes, and folded. Pure.
import {
  finderOf,
  profileLimits,
  type Alias,
  type Finder,
  type JsonObject,
  type JsonValue,
  type ProfileChange,
  type ProfileScalar,
  type ProfileTransform,
  type ProfileValue,
  type ShownFields,
} from '@lead-scoring/contracts';
import type { ProfileMapping } from './profile-configuration.js';

/** A recorded value of a profile field. The time is that of its event. */
export interface KnownValue {
  readonly field: string;
  readonly value: ProfileValue;
  readonly at: string;
}

/** In the order in which the fields got their first values. */
export type ProfileValues = readonly KnownValue[];

/** Reads profile values from the metadata of one event: at most one for each field. */
export interface MappingReader {
  readonly fields: ReadonlySet<string>;
  readonly read: (metadata: JsonObject) => ReadonlyMap<string, ProfileValue>;
}

/** Compiles mappings. Of several mappings of one field the first that finds a value counts. */
export function compileMappings(mappings: Iterable<ProfileMapping>): MappingReader {
  const compiled = [...mappings].map(({ field, source, transform }) => ({
    field,
    find: finderOf(source) satisfies Finder,
    steps: transform === undefined ? [] : [transform].flat(),
  }));
  return {
    fields: new Set(compiled.map(({ field }) => field)),
    read: (metadata) => {
      const values = new Map<string, ProfileValue>();
      for (const { field, find, steps } of compiled) {
        if (values.has(field)) continue;
        const value = mappedValue(find(metadata), steps);
        if (value !== undefined) values.set(field, value);
      }
      return values;
    },
  };
}

/** The value of a mapping: transformed and limited in size; undefined where there is none. */
export function mappedValue(
  found: JsonValue | undefined,
  steps: readonly ProfileTransform[],
): ProfileValue | undefined {
  const elements = scalarsOf(found);
  let values = elements;
  for (const step of steps) values = transformed(values, step);
  // A list stays a list, unless a transform has chosen one of its elements.
  const isList = Array.isArray(found) && !steps.some((step) => typeof step === 'object');
  if (!isList) return values[0] === undefined ? undefined : limited(values[0], profileLimits.characters);
  const kept = values
    .slice(0, profileLimits.elements)
    .map((value) => limited(value, profileLimits.elementCharacters));
  return kept.length === 0 ? undefined : kept;
}

/** More elements of a list than these are not looked at. */
const maximumRead = 20;
/** Characters of a text that transforms read. */
const maximumText = 1_000;

/** The texts, numbers and booleans of a value; empty texts, nulls and objects are none. */
function scalarsOf(found: JsonValue | undefined): ProfileScalar[] {
  if (found === undefined || found === null) return [];
  if (Array.isArray(found))
    return found.slice(0, maximumRead).flatMap((one) => (Array.isArray(one) ? [] : scalarsOf(one)));
  if (typeof found === 'object') return [];
  if (typeof found !== 'string') return [found];
  return found.trim() === '' ? [] : [found.slice(0, maximumText).toWellFormed()];
}

function transformed(values: readonly ProfileScalar[], step: ProfileTransform): ProfileScalar[] {
  if (typeof step === 'object') {
    const texts = values.map((value) => String(value).toLowerCase());
    const first = step.first_of.find((choice) => {
      const wanted = choice.toLowerCase();
      return texts.some((text) => text.includes(wanted));
    });
    return first === undefined ? [] : [first];
  }
  return values.flatMap((value) => transformedOne(value, step) ?? []);
}

function transformedOne(
  value: ProfileScalar,
  step: Exclude<ProfileTransform, object>,
): ProfileScalar | undefined {
  switch (step) {
    case 'trim':
      return typeof value === 'string' ? value.trim() : value;
    case 'lower':
      return typeof value === 'string' ? value.toLowerCase() : value;
    case 'number':
      return numberOf(value);
    case 'email_domain':
      return typeof value === 'string' ? emailDomainOf(value) : undefined;
  }
}

const decimal = /^[+-]?(?:\d{1,20}(?:\.\d{0,20})?|\.\d{1,20})$/;
const grouped = /^[+-]?\d{1,3}(?:([ ,'’\u00a0\u202f])\d{3})(?:\1\d{3}){0,5}(?:\.\d{0,20})?$/;

/** A number, also with a thousands separator: `12,500` and `12 500` are 12500. */
function numberOf(value: ProfileScalar): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value === 'boolean' || value.length > 60) return undefined;
  const text = value.trim();
  if (decimal.test(text)) return Number(text);
  return grouped.test(text) ? Number(text.replace(/[ ,'’\u00a0\u202f]/g, '')) : undefined;
}

/** The domain of an e-mail address, in lower case. */
export function emailDomainOf(address: string): string | undefined {
  const text = address.trim();
  const at = text.lastIndexOf('@');
  const domain = text.slice(at + 1).toLowerCase();
  return at > 0 && domain !== '' && !/\s/.test(domain) ? domain : undefined;
}

function limited(value: ProfileScalar, characters: number): ProfileScalar {
  return typeof value === 'string' ? value.slice(0, characters).toWellFormed() : value;
}

/** Folds recorded changes. A change is as new as the value that it replaces, or newer. */
export function withProfileChanges(
  values: ProfileValues,
  changes: readonly ProfileChange[] | undefined,
): ProfileValues {
  if (!changes || changes.length === 0) return values;
  const byField = new Map(values.map((value) => [value.field, value]));
  for (const { field, value, at } of changes)
    if (value === null) byField.delete(field);
    else byField.set(field, { field, value, at });
  return [...byField.values()];
}

/**
 * The changes that the events of one record make to a profile. The latest event time wins, and of events of one time the
 * later one in the log. A field that no mapping feeds any more is removed.
 * @param receivedAt the time of a removal
 */
export function profileChanges(
  values: ProfileValues,
  reader: MappingReader,
  events: readonly { timestamp: string; metadata?: JsonObject | undefined }[],
  receivedAt: string,
): ProfileChange[] {
  const latest = new Map<string, ProfileChange>();
  if (reader.fields.size > 0)
    for (const { timestamp: at, metadata } of events) {
      if (!metadata) continue;
      for (const [field, value] of reader.read(metadata)) {
        const known = latest.get(field) ?? values.find((one) => one.field === field);
        if (!known || known.at <= at) latest.set(field, { field, value, at });
      }
    }
  const removed = values.filter(({ field }) => !reader.fields.has(field));
  return [...removed.map(({ field }) => ({ field, value: null, at: receivedAt })), ...latest.values()];
}

/** The values that mappings read from what callers have set for a lead. They take the place of those from events. @param at when it was set */
export function profileOverridesOf(reader: MappingReader, metadata: JsonObject, at: string): KnownValue[] {
  return Array.from(reader.read(metadata), ([field, value]) => ({ field, value, at }));
}

/** What a lead's profile is made of. */
export interface ProfileParts extends ShownFields {
  readonly aliases: readonly Alias[];
  readonly values: ProfileValues;
  /** Values from what callers have set. */
  readonly overrides?: readonly KnownValue[] | undefined;
}

/**
 * A lead's profile for rules: the fields of every lead, overridden by the values that mappings feed, and both by what callers have set.
 */
export function profileOf({ fields, overridden, aliases, values, overrides = [] }: ProfileParts): JsonObject {
  const profile: JsonObject = {};
  for (const [field, given] of Object.entries(fields)) profile[field] = given.value;
  const email = aliases.find(({ alias_kind }) => alias_kind === 'email');
  const domain = email && emailDomainOf(email.alias);
  if (domain !== undefined) profile.email_domain = domain;
  for (const { field, value } of values) profile[field] = value;
  for (const { field, value } of overridden?.by ?? []) profile[field] = value;
  for (const { field, value } of overrides) profile[field] = value;
  return profile;
}
