// Decides the profile points of a lead: pure. The points are those of the rules that match its profile now, and a decision
// records the differences to the points that it has.
import type { Alias, LeadFields } from '@lead-scoring/contracts';
import { profileOf } from '@lead-scoring/scoring-domain';
import { matchingRules, type CompiledProfile } from './profile-model.js';
import { emptyProfile, type LeadProfile, type ProfileAdjustment } from './state.js';

/** The parts of a lead that its profile is made of. */
export interface ProfiledLead {
  readonly fields: LeadFields;
  readonly aliases: readonly Alias[];
  readonly profile?: LeadProfile | undefined;
}

/** The changes of points: of rules that no longer match or have another weight, then of rules that begin to match. */
export function profileAdjustments(lead: ProfiledLead, compiled: CompiledProfile): ProfileAdjustment[] {
  const { values, given } = lead.profile ?? emptyProfile;
  if (given.length === 0 && compiled.rules.length === 0) return [];
  const due = new Map(matchingRules(compiled, profileOf({ ...lead, values })).map((rule) => [rule.id, rule]));
  const adjustments: ProfileAdjustment[] = [];
  for (const { rule_id, rule_version, ruleset_id, points } of given) {
    const rule = due.get(rule_id);
    due.delete(rule_id);
    const difference = (rule?.weight ?? 0) - points;
    if (difference !== 0)
      adjustments.push({
        reason: 'profile_rule',
        rule_id,
        rule_version: compiled.versionOf(rule_id) ?? rule_version,
        ruleset_id,
        points: difference,
      });
  }
  for (const { id: rule_id, version: rule_version, ruleset_id, weight: points } of due.values())
    adjustments.push({ reason: 'profile_rule', rule_id, rule_version, ruleset_id, points });
  return adjustments;
}
