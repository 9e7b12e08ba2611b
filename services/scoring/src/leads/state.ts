// The state of a lead.
import { leadFieldNames, type Alias, type LeadFieldName, type ShownFields } from '@lead-scoring/contracts';
import type { LeadDecay } from '@lead-scoring/scoring-domain';
import type { LeadAccount } from '../accounts/contribution-model.js';
import type { LeadDeals } from '../deals/lead-deal-score-model.js';
import type { DueEntry } from '../decays/due-entry-model.js';
import type { LeadProfile } from '../profile/state.js';
import type { LimitUses } from '../scores/use-model.js';
import type { RulesetScores } from '@lead-scoring/scoring-domain';

export interface Lead extends LeadDeals, ShownFields {
  readonly id: string;
  readonly ou_id: string;
  readonly aliases: readonly Alias[];
  readonly score: number;
  readonly rulesets: RulesetScores;
  /** What limits of rules have counted; absent for a lead without matches of rules with limits. */
  readonly limit_uses?: LimitUses;
  /** The last resets of the score, the oldest first; absent when there was none. */
  readonly resets?: readonly ScoreReset[];
  readonly event_count: number;
  readonly first_activity_at: string;
  readonly last_activity_at: string;
  /** The time of the last event that gave points; absent where none has. */
  readonly last_scored_at?: string;
  /** Absent where no decay rule has ever counted. */
  readonly decay?: LeadDecay;
  /** Absent for a lead without an entry in the index of due leads. */
  readonly due_entry?: DueEntry;
  /** Offset of the decision that created the lead: distinguishes it from later leads with the same id. */
  readonly first_offset: number;
  /** Offset of the last decision folded. */
  readonly offset: number;
  /** Absent for a lead without profile values and points. */
  readonly profile?: LeadProfile;
  /** Keys of the deals that its events named; absent where there are none. */
  readonly deals?: readonly string[];
  /** Absent for a lead that counts in no account. */
  readonly account?: LeadAccount;
}

/** A reset of the score, and the score that it ended. */
export interface ScoreReset {
  readonly id: string;
  readonly at: string;
  readonly previous_score: number;
}

/** The name to display: the lead's name, or else its first alias. */
export function nameOf(lead: Pick<Lead, 'fields' | 'aliases' | 'id'>): string {
  return lead.fields.name?.value ?? lead.aliases[0]?.alias ?? lead.id;
}

/** The texts of a lead lower-cased, for filters; a field without a text is absent. */
export type LoweredTexts = Partial<Record<LeadFieldName, string>> & { alias?: string[] };

export function loweredTextsOf({ fields, aliases }: Pick<Lead, 'fields' | 'aliases'>): LoweredTexts {
  const lowered: LoweredTexts = {};
  for (const name of leadFieldNames) {
    const field = fields[name];
    if (field) lowered[name] = field.value.toLowerCase();
  }
  if (aliases.length > 0) lowered.alias = aliases.map(({ alias }) => alias.toLowerCase());
  return lowered;
}

/** The texts that a text search covers, lower-cased: name, company and aliases. */
export function searchTextsOf({ name, company, alias = [] }: LoweredTexts): string[] {
  return [name, company, ...alias].filter((text) => text !== undefined);
}

/** The same as one text, a line each. */
export function searchTextOf(lowered: LoweredTexts): string {
  return searchTextsOf(lowered).join('\n');
}
