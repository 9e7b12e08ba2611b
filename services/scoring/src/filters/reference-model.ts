// The refusal of a filter that names a level or a ruleset that its OU does not have. Pure.
import type { ProblemCode } from '@lead-scoring/contracts';
import type { ScoringConfiguration, UnknownReference } from '@lead-scoring/scoring-domain';

export interface ReferenceRefusal {
  code: ProblemCode;
  message: string;
  errors: { path: string; message: string }[];
}

/** null: all that the filter names is there. */
export function refusalOfReferences(
  unknown: readonly UnknownReference[],
  { levels }: Pick<ScoringConfiguration, 'levels'>,
): ReferenceRefusal | null {
  const [first] = unknown;
  if (!first) return null;
  const errors = unknown
    .filter(({ kind }) => kind === first.kind)
    .slice(0, 100)
    .map(({ kind, path }) => ({
      path: `body.conditions.${path}`,
      message: `is not ${kind === 'level' ? 'an engagement level' : 'a ruleset'} of this organizational unit`,
    }));
  if (first.kind === 'ruleset')
    return {
      code: 'ruleset_not_found',
      message: `No ruleset of this organizational unit has the id ${first.named}. GET /engagement-scoring/rulesets lists them.`,
      errors,
    };
  const names = levels.map(({ name }) => `"${name}"`).join(', ');
  return {
    code: 'level_not_found',
    message: `No engagement level of this organizational unit is named "${first.named}". ${names === '' ? 'It has none; PUT /engagement-scoring/levels sets them.' : `There are ${names}.`}`,
    errors,
  };
}
