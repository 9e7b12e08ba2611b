// The levels and rulesets that a filter names and its OU does not have. Pure.
import { conditionsWithin, rulesetScoreField, type LeadFilterGroup } from '@lead-scoring/contracts';
import type { ScoringConfiguration } from '../configuration.js';
import { levelNamed } from '../levels.js';

export interface UnknownReference {
  readonly kind: 'level' | 'ruleset';
  readonly named: string;
  /** Path below the conditions: `all[0].value`. */
  readonly path: string;
}

export function unknownReferences(
  group: LeadFilterGroup,
  { levels, rulesets }: Pick<ScoringConfiguration, 'levels' | 'rulesets'>,
): UnknownReference[] {
  return conditionsWithin(group).flatMap(([at, { field, ruleset_id, value }]): UnknownReference[] => {
    if (field === rulesetScoreField)
      return ruleset_id !== undefined && !rulesets.has(ruleset_id.toLowerCase())
        ? [{ kind: 'ruleset', named: ruleset_id, path: `${at}.ruleset_id` }]
        : [];
    if (field !== 'level') return [];
    return [value].flat().flatMap((one, index): UnknownReference[] =>
      typeof one === 'string' && !levelNamed(levels, one)
        ? [
            {
              kind: 'level',
              named: one,
              path: `${at}.value${Array.isArray(value) ? `[${String(index)}]` : ''}`,
            },
          ]
        : [],
    );
  });
}
