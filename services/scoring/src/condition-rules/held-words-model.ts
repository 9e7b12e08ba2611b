// What limits of rulesets hold of the points of rules with conditions, in words. Pure.
import { grouped, type ScoringConfiguration } from '@lead-scoring/scoring-domain';
import type { HeldPoints } from './limits-model.js';

/** `Deal size: 20 points held back, at most 60 a deal`, with the present name and limits of the ruleset. */
export function heldWords(
  { ruleset_id, points }: HeldPoints,
  configuration: Pick<ScoringConfiguration, 'rulesets' | 'former_rulesets'>,
  holder: 'an account' | 'a deal',
): string {
  const { name, max_score, min_score } = namedRuleset(configuration, ruleset_id);
  const bound = points < 0 ? max_score : min_score;
  const limit =
    bound === undefined
      ? 'by a limit that it had'
      : `${points < 0 ? 'at most' : 'at least'} ${grouped(bound)} ${holder}`;
  return `${name}: ${grouped(Math.abs(points))} points ${points < 0 ? 'held back' : 'not taken away'}, ${limit}`;
}

/** A ruleset, also one that was deleted since. */
export function namedRuleset(
  { rulesets, former_rulesets }: Pick<ScoringConfiguration, 'rulesets' | 'former_rulesets'>,
  id: string,
): { name: string; min_score?: number | undefined; max_score?: number | undefined } {
  return rulesets.get(id) ?? former_rulesets.get(id) ?? { name: '' };
}
