// Whether a lead matches a filter. Pure; scoring's database query (services/scoring/src/filters/query.ts) gives the same answers.
import type { LeadFieldName, LeadFilterGroup, LeadTextField } from '@lead-scoring/contracts';
import { resolveFilter, type FilterMoment, type FilterRange, type ResolvedFilter } from './resolve.js';

/** The fields of a lead that filters compare. */
export interface FilteredLead {
  readonly fields: Readonly<Partial<Record<LeadFieldName, { readonly value: string }>>>;
  readonly aliases: readonly { readonly alias: string }[];
  readonly score: number;
  /** Absent: a profile score of 0. */
  readonly profile?: { readonly score: number } | undefined;
  readonly rulesets: readonly { readonly ruleset_id: string; readonly score: number }[];
  readonly event_count: number;
  readonly first_activity_at: string;
  readonly last_activity_at: string;
}

export function leadMatches(filter: LeadFilterGroup, lead: FilteredLead, moment: FilterMoment): boolean {
  return matchesResolved(resolveFilter(filter, moment), lead);
}

/** For many leads at one moment. */
export function matchesResolved(filter: ResolvedFilter, lead: FilteredLead): boolean {
  switch (filter.kind) {
    case 'all':
      return filter.parts.every((part) => matchesResolved(part, lead));
    case 'any':
      return filter.parts.some((part) => matchesResolved(part, lead));
    case 'not':
      return !matchesResolved(filter.part, lead);
    case 'present':
      return textsIn(lead, filter.field).length > 0;
    case 'text':
      return textsIn(lead, filter.field).some((text) => hasText(text.toLowerCase(), filter));
    case 'number':
      return isWithin(
        filter.field === 'profile_score' ? (lead.profile?.score ?? 0) : lead[filter.field],
        filter.ranges,
      );
    case 'ruleset': {
      const own = lead.rulesets.find(({ ruleset_id }) => ruleset_id === filter.ruleset_id);
      return isWithin(own?.score ?? 0, filter.ranges);
    }
    case 'time':
      return isWithin(lead[filter.field], filter.ranges);
  }
}

function textsIn({ fields, aliases }: FilteredLead, field: LeadTextField): string[] {
  if (field === 'alias') return aliases.map(({ alias }) => alias);
  const given = fields[field];
  return given ? [given.value] : [];
}

function hasText(text: string, { how, values }: Extract<ResolvedFilter, { kind: 'text' }>): boolean {
  switch (how) {
    case 'equals':
      return values.includes(text);
    case 'contains':
      return values.some((value) => text.includes(value));
    case 'starts_with':
      return values.some((value) => text.startsWith(value));
    case 'ends_with':
      return values.some((value) => text.endsWith(value));
  }
}

/** Whether a value is in any of the ranges. */
export function isWithin<Value extends number | string>(
  value: Value,
  ranges: readonly FilterRange<Value>[],
): boolean {
  return ranges.some(
    ({ from, above, to, below }) =>
      (from === undefined || value >= from) &&
      (above === undefined || value > above) &&
      (to === undefined || value <= to) &&
      (below === undefined || value < below),
  );
}
