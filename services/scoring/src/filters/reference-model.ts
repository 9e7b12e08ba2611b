// The refusal of a filter that names a level, a cell or a ruleset that its OU does not have. Pure.
import type { ProblemCode } from '@lead-scoring/contracts';
import { levelsOfScore, type ScoreLevels, type UnknownReference } from '@lead-scoring/scoring-domain';

export interface ReferenceRefusal {
  code: ProblemCode;
  message: string;
  errors: { path: string; message: string }[];
}

const names: Record<UnknownReference['kind'], string> = {
  level: 'an engagement level',
  profile_level: 'a profile level',
  grid: 'a cell of a grid',
  ruleset: 'a ruleset',
};

/** null: all that the filter names is there. */
export function refusalOfReferences(
  unknown: readonly UnknownReference[],
  levels: ScoreLevels,
): ReferenceRefusal | null {
  const [first] = unknown;
  if (!first) return null;
  const errors = unknown
    .filter(({ kind }) => kind === first.kind)
    .slice(0, 100)
    .map(({ kind, path }) => ({
      path: `body.conditions.${path}`,
      message: `is not ${names[kind]} of this organizational unit`,
    }));
  return { ...refusalOf(first, levels), errors };
}

function refusalOf({ kind, named }: UnknownReference, levels: ScoreLevels): Omit<ReferenceRefusal, 'errors'> {
  switch (kind) {
    case 'ruleset':
      return {
        code: 'ruleset_not_found',
        message: `No ruleset of this organizational unit has the id ${named}. GET /engagement-scoring/rulesets lists them.`,
      };
    case 'grid':
      return {
        code: 'grid_not_found',
        message: 'This organizational unit has no grid of profile by engagement. PUT /scoring/grid sets it.',
      };
    case 'level':
    case 'profile_level': {
      const scoreType = kind === 'level' ? 'engagement' : 'profile';
      const known = levelsOfScore(levels, scoreType).map(({ name }) => `"${name}"`);
      return {
        code: 'level_not_found',
        message: `No ${scoreType} level of this organizational unit is named "${named}". ${known.length === 0 ? `It has none; PUT /${scoreType}-scoring/levels sets them.` : `There are ${known.join(', ')}.`}`,
      };
    }
  }
}
