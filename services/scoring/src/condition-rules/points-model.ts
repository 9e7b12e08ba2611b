// The points that rules with conditions give as long as they match: differences to the points that were given before. Pure.
import type { JsonObject } from '@lead-scoring/contracts';
import type { ConditionRule, GivenPoints, HeldPoints, PointChange } from '@lead-scoring/scoring-domain';
import { heldChanges } from './limits-model.js';
import { matchingRules, type CompiledConditionRules } from './rules-model.js';

// Their fold is of the domain, because notification and share fold points too.
export {
  sumOfPoints,
  withPointChanges,
  type GivenPoints,
  type PointChange,
} from '@lead-scoring/scoring-domain';

/** The points of a profile, an account or a deal: those that rules gave, and those that limits of rulesets hold of them. */
export interface ConditionPoints {
  readonly given: readonly GivenPoints[];
  readonly held?: readonly HeldPoints[] | undefined;
}

export interface ConditionChanges {
  readonly ofRules: readonly PointChange[];
  readonly ofLimits: readonly HeldPoints[];
}

/** The differences between the points that are due by these fields and those that were given and held. */
export function conditionChanges(
  { given, held = [] }: ConditionPoints,
  compiled: CompiledConditionRules,
  fields: JsonObject,
): ConditionChanges {
  const matching = matchingRules(compiled, fields);
  return {
    ofRules: pointChanges(given, matching, compiled, fields),
    ofLimits:
      compiled.ranges.size === 0 && held.length === 0 ? [] : heldChanges(held, matching, compiled.ranges),
  };
}

/** The changes as a decision records them. */
export function conditionAdjustments<Reason extends string>(
  { ofRules, ofLimits }: ConditionChanges,
  reason: Reason,
) {
  return [
    ...ofRules.map((change) => ({ reason, ...change })),
    ...ofLimits.map((change) => ({ reason: 'held_by_ruleset' as const, ...change })),
  ];
}

/** Of rules that no longer match or have another weight or ruleset, then of rules that begin to match. */
function pointChanges(
  given: readonly GivenPoints[],
  matching: readonly ConditionRule[],
  compiled: CompiledConditionRules,
  fields: JsonObject,
): PointChange[] {
  const due = new Map(matching.map((rule) => [rule.id, rule]));
  const changes: PointChange[] = [];
  for (const known of given) {
    const rule = due.get(known.rule_id);
    if (rule?.ruleset_id !== known.ruleset_id) {
      // A rule that was moved to another ruleset stays due: it gives its points there.
      changes.push(rule ? movedAway(known, rule) : takenBack(known, compiled, fields));
      continue;
    }
    due.delete(known.rule_id);
    if (rule.weight !== known.points)
      changes.push({
        ...identityOf(known),
        rule_version: rule.version,
        points: rule.weight - known.points,
      });
  }
  for (const { id: rule_id, version: rule_version, ruleset_id, weight: points } of due.values())
    changes.push({ rule_id, rule_version, ruleset_id, points });
  return changes;
}

function movedAway(known: GivenPoints, { version }: ConditionRule): PointChange {
  return { ...identityOf(known), rule_version: version, points: -known.points, counted: 0 };
}

/** `matched` says why: 0 where the fields no longer match, 1 where the rule or its ruleset is switched off. */
function takenBack(known: GivenPoints, compiled: CompiledConditionRules, fields: JsonObject): PointChange {
  const found = compiled.ruleOf(known.rule_id);
  return {
    ...identityOf(known),
    rule_version: found?.rule.version ?? known.rule_version,
    points: -known.points,
    counted: 0,
    ...(found && { matched: found.holds(fields) ? 1 : 0 }),
  };
}

function identityOf({ rule_id, ruleset_id }: GivenPoints): Pick<GivenPoints, 'rule_id' | 'ruleset_id'> {
  return { rule_id, ruleset_id };
}
