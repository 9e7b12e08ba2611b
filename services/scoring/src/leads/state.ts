// A lead as the decisions on its events make it.
import type { Alias, LeadFields } from '@lead-scoring/contracts';

export interface Lead {
  readonly id: string;
  readonly ou_id: string;
  readonly aliases: readonly Alias[];
  readonly fields: LeadFields;
  readonly score: number;
  /** Points by ruleset, in the order in which the rulesets first gave some. */
  readonly rulesets: readonly { readonly ruleset_id: string; readonly score: number }[];
  readonly event_count: number;
  readonly first_activity_at: string;
  readonly last_activity_at: string;
  /** Offset of the decision that made the lead: tells that one from all later ones. */
  readonly first_offset: number;
  /** Offset of the last decision folded. */
  readonly offset: number;
}

export const maximumAliases = 100;

/** Without a name in its metadata, a lead is shown by its first alias. */
export function nameOf(lead: Pick<Lead, 'fields' | 'aliases' | 'id'>): string {
  return lead.fields.name?.value ?? lead.aliases[0]?.alias ?? lead.id;
}

/** What text search looks through, lower-cased: name, company and aliases, a line each. */
export function searchTextOf(lead: Pick<Lead, 'fields' | 'aliases' | 'id'>): string {
  return [lead.fields.name?.value, lead.fields.company?.value, ...lead.aliases.map(({ alias }) => alias)]
    .filter((text) => text !== undefined)
    .join('\n')
    .toLowerCase();
}
