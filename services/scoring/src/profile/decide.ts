// Decides the profile points of a lead: pure. The points are those of the rules that match its profile now, and a decision
// records the differences to the points that it has.
import type { Alias, JsonObject, LeadFields } from '@lead-scoring/contracts';
import { profileOf } from '@lead-scoring/scoring-domain';
import { matchingRules, type CompiledProfile } from './profile-model.js';
import { emptyProfile, type GivenPoints, type LeadProfile, type ProfileAdjustment } from './state.js';

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
  const profile = profileOf({ ...lead, values });
  const due = new Map(matchingRules(compiled, profile).map((rule) => [rule.id, rule]));
  const adjustments: ProfileAdjustment[] = [];
  for (const known of given) {
    const rule = due.get(known.rule_id);
    due.delete(known.rule_id);
    if (!rule) adjustments.push(takenBack(known, compiled, profile));
    else if (rule.weight !== known.points)
      adjustments.push({
        reason: 'profile_rule',
        ...identityOf(known),
        rule_version: rule.version,
        points: rule.weight - known.points,
      });
  }
  for (const { id: rule_id, version: rule_version, ruleset_id, weight: points } of due.values())
    adjustments.push({ reason: 'profile_rule', rule_id, rule_version, ruleset_id, points });
  return adjustments;
}

/** `matched` says why: 0 where the profile no longer matches, 1 where the rule or its ruleset is switched off. */
function takenBack(known: GivenPoints, compiled: CompiledProfile, profile: JsonObject): ProfileAdjustment {
  const found = compiled.ruleOf(known.rule_id);
  return {
    reason: 'profile_rule',
    ...identityOf(known),
    rule_version: found?.rule.version ?? known.rule_version,
    points: -known.points,
    counted: 0,
    ...(found && { matched: found.holds(profile) ? 1 : 0 }),
  };
}

function identityOf({ rule_id, ruleset_id }: GivenPoints): Pick<GivenPoints, 'rule_id' | 'ruleset_id'> {
  return { rule_id, ruleset_id };
}
