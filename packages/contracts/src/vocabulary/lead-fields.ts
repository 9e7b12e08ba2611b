// Lead fields (API.md). Event metadata gives name, company, title, owner and phone, the latest event time winning; the metadata that a
// caller has set with PATCH /lead/{leadID}/metadata overrides these, and gives phase.
import { z } from 'zod';
import type { JsonObject } from './json.js';

/** The fields that event metadata gives. */
const givenFieldNames = ['name', 'company', 'title', 'owner', 'phone'] as const;
export const leadFieldNames = [...givenFieldNames, 'phase'] as const;
export type LeadFieldName = (typeof leadFieldNames)[number];

/** A value that an event's metadata gave for a field of the lead, and the time of the event. */
export const leadField = z.strictObject({
  field: z.enum(leadFieldNames),
  value: z.string().min(1).max(200),
  at: z.string().max(40),
});
export type LeadField = z.infer<typeof leadField>;

export type LeadFields = Partial<Record<LeadFieldName, { value: string; at: string }>>;

/** The lead fields in one event's metadata. `first_name` and `last_name` make a name where `name` is absent. */
export function leadFieldsOf(metadata: JsonObject, at: string): LeadField[] {
  return fieldsIn(metadata, at, givenFieldNames);
}

/**
 * The lead fields in the metadata that callers have set for a lead: they override what events give.
 * @param at when it was set
 */
export function overridingFieldsOf(metadata: JsonObject, at: string): LeadField[] {
  return fieldsIn(metadata, at, leadFieldNames);
}

/** The fields of a lead. */
export interface ShownFields {
  /** As they are shown. */
  readonly fields: LeadFields;
  /** Absent where nothing is overridden. */
  readonly overridden?: OverriddenFields | undefined;
}

export interface OverriddenFields {
  /** The fields as events give them. */
  readonly given: LeadFields;
  /** The fields as callers have set them. */
  readonly by: readonly LeadField[];
}

/**
 * The fields of a lead after a decision.
 * @param newer values that events give
 * @param overrides what callers have set, from now on; absent: as before
 */
export function fieldsAfter(
  known: ShownFields | null,
  {
    fields: newer = [],
    overrides,
  }: { fields?: readonly LeadField[] | undefined; overrides?: readonly LeadField[] | undefined },
): ShownFields {
  const given = withLeadFields(known?.overridden?.given ?? known?.fields ?? {}, newer);
  const by = overrides ?? known?.overridden?.by ?? [];
  return by.length === 0 ? { fields: given } : { fields: shownFields(given, by), overridden: { given, by } };
}

/** Fields as they are shown. @param overrides what callers have set; absent: nothing */
export function shownFields(given: LeadFields, overrides: readonly LeadField[] = []): LeadFields {
  if (overrides.length === 0) return given;
  const shown = { ...given };
  for (const { field, value, at } of overrides) shown[field] = { value, at };
  return shown;
}

function fieldsIn(metadata: JsonObject, at: string, names: readonly LeadFieldName[]): LeadField[] {
  const found: LeadField[] = [];
  for (const field of names) {
    const value = field === 'name' ? nameIn(metadata) : textOf(metadata, field);
    if (value !== undefined) found.push({ field, value, at });
  }
  return found;
}

/**
 * Puts newer values over older ones. The latest event time wins; at the same time the greater text wins, so that the
 * order of the events does not matter.
 */
export function withLeadFields(fields: LeadFields, newer: readonly LeadField[]): LeadFields {
  let result = fields;
  for (const { field, value, at } of newer) {
    const known = result[field];
    if (known && (known.at > at || (known.at === at && known.value >= value))) continue;
    if (result === fields) result = { ...fields };
    result[field] = { value, at };
  }
  return result;
}

function nameIn(metadata: JsonObject): string | undefined {
  const whole = textOf(metadata, 'name');
  if (whole !== undefined) return whole;
  const parts = [textOf(metadata, 'first_name'), textOf(metadata, 'last_name')].filter(
    (part) => part !== undefined,
  );
  return parts.length === 0 ? undefined : parts.join(' ').slice(0, 200);
}

function textOf(metadata: JsonObject, key: string): string | undefined {
  if (!Object.hasOwn(metadata, key)) return undefined;
  const value = metadata[key];
  if (typeof value !== 'string') return undefined;
  const trimmed = value.trim();
  return trimmed === '' ? undefined : trimmed.slice(0, 200).toWellFormed();
}
