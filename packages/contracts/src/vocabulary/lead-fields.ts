// Lead fields that come from event metadata (API.md): name, company, title, owner, phone. The latest event time wins.
import { z } from 'zod';
import type { JsonObject } from './json.js';

export const leadFieldNames = ['name', 'company', 'title', 'owner', 'phone'] as const;
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
  const found: LeadField[] = [];
  for (const field of leadFieldNames) {
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
