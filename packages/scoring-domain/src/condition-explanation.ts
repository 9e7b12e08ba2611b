// The explanation of a score of rules over conditions, a profile or a deal score, from what its decisions gave. Pure.
import type { records, routeDeclarations } from '@lead-scoring/contracts';
import type { ConditionRule } from './condition-rules.js';
import { activeWeights, type ConditionDriver } from './condition-drivers.js';
import type { ScoringConfiguration } from './configuration.js';
import { heldInWords, otherReasons } from './explained-adjustments.js';
import type { ExplainedLead } from './explanation.js';

type ScoreExplanation = routeDeclarations.ScoreExplanation;
type Adjustment = NonNullable<ScoreExplanation['adjustments']>[number];

/** A recorded decision on a profile or deal score. */
export type ConditionDecision = Pick<
  records.ScoreAdjusted,
  'decided_at' | 'configuration_version' | 'adjustments' | 'rescored'
>;

/** What the decisions up to the explained moment gave. */
export interface ExplainedConditions<Entry> {
  readonly score: number;
  /** The points that the decisions gave. */
  readonly listed: number;
  /** The largest first. */
  readonly drivers: readonly ConditionDriver[];
  readonly adjustments: readonly Adjustment[];
  /** In the explained range, the oldest first. */
  readonly entries: readonly Entry[];
}

export const shownEntries = 1_000;
const shownDrivers = 1_000;

/** The rules of the kind, and the word for what they match in place of an event type. */
export interface ExplainedRules {
  readonly rules: ReadonlyMap<string, ConditionRule>;
  readonly rulesets: ScoringConfiguration['rulesets'];
  readonly event_type: string;
}

/** The explanation without its level and without the list of its entries, which are of the kind. */
export function commonExplanation(
  { id, name }: Pick<ExplainedLead, 'id' | 'name'>,
  { score, listed, drivers, adjustments, entries }: ExplainedConditions<unknown>,
  { rules, rulesets, event_type }: ExplainedRules,
  { at, range_hours }: { at: string; range_hours: number },
): Omit<ScoreExplanation, 'level'> {
  return {
    lead_id: id,
    lead_name: name,
    score,
    top_drivers: drivers.slice(0, shownDrivers),
    ...(adjustments.length > 0 && { adjustments: [...adjustments] }),
    snapshot: activeWeights(rules.values(), rulesets, { event_type, maximum: shownDrivers }),
    decay_applied: 0,
    range_hours,
    at,
    unattributed: score - listed,
    entries: [],
    entries_total: entries.length,
  };
}

/** The sum of points of one reason that no rule gave. */
export type OtherSum = Omit<Adjustment, 'text' | 'label'>;

/** Adds points to the sum of this name, and deletes a sum of 0. */
export function addToSum<Name>(
  sums: Map<Name, OtherSum>,
  name: Name,
  more: Omit<OtherSum, 'count'> & { readonly count?: number },
): void {
  const known = sums.get(name) ?? { points: 0, count: 0, last_at: more.last_at };
  const sum = {
    ...more,
    points: known.points + more.points,
    count: known.count + (more.count ?? 1),
    last_at: known.last_at > more.last_at ? known.last_at : more.last_at,
  };
  if (sum.points === 0) sums.delete(name);
  else sums.set(name, sum);
}

/**
 * The sums in words, the largest first.
 * @param noun what the limits of rulesets are of
 */
export function sumsInWords(
  sums: Iterable<OtherSum>,
  configuration: ScoringConfiguration,
  noun: 'lead' | 'deal',
): Adjustment[] {
  return Array.from(sums, (sum): Adjustment => {
    switch (sum.reason) {
      case 'held_by_ruleset':
        return heldInWords(sum, configuration, noun);
      case 'held_at_largest_score':
      case 'held_at_smallest_score':
        return { ...sum, text: otherReasons[sum.reason] };
      default:
        return { ...sum, text: otherReasons.deal };
    }
  }).sort((one, other) => Math.abs(other.points) - Math.abs(one.points));
}
