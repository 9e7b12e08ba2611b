// The levels, cells and rulesets that a filter names and its OU does not have. Pure.
import {
  conditionsWithin,
  gridField,
  rulesetScoreField,
  type LeadCondition,
  type LeadFilterGroup,
} from '@lead-scoring/contracts';
import type { ScoringConfiguration } from '../configuration.js';
import { levelNamed, type ScoreLevels } from '../levels.js';

export interface UnknownReference {
  readonly kind: 'level' | 'profile_level' | 'grid' | 'ruleset';
  readonly named: string;
  /** Path below the conditions: `all[0].value`. */
  readonly path: string;
}

export function unknownReferences(
  group: LeadFilterGroup,
  {
    levels,
    profile_levels = [],
    rulesets,
    grid,
  }: ScoreLevels & Pick<ScoringConfiguration, 'rulesets' | 'grid'>,
): UnknownReference[] {
  return conditionsWithin(group).flatMap(([at, condition]): UnknownReference[] => {
    const { field, ruleset_id } = condition;
    switch (field) {
      case rulesetScoreField:
        return ruleset_id !== undefined && !rulesets.has(ruleset_id.toLowerCase())
          ? [{ kind: 'ruleset', named: ruleset_id, path: `${at}.ruleset_id` }]
          : [];
      case gridField:
        return grid ? [] : textsWithin(condition, at).map((text) => ({ kind: 'grid', ...text }));
      case 'level':
      case 'profile_level': {
        const known = field === 'level' ? levels : profile_levels;
        return textsWithin(condition, at)
          .filter(({ named }) => !levelNamed(known, named))
          .map((text) => ({ kind: field, ...text }));
      }
      default:
        return [];
    }
  });
}

/** The texts of a condition's value, each with its path. */
function textsWithin({ value }: LeadCondition, at: string): Pick<UnknownReference, 'named' | 'path'>[] {
  return [value]
    .flat()
    .flatMap((one, index) =>
      typeof one === 'string'
        ? [{ named: one, path: `${at}.value${Array.isArray(value) ? `[${String(index)}]` : ''}` }]
        : [],
    );
}
