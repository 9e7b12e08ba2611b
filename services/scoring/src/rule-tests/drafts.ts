// Draft rules beside those of a configuration, as if they had been created now. Pure; nothing is stored.
import { nameBasedId, type routeDeclarations } from '@lead-scoring/contracts';
import { evolveConfiguration, type ScoringConfiguration } from '@lead-scoring/scoring-domain';
import { defaultRuleset, defaultRulesetIdOf } from '../configuration/decide.js';
import { senselessRuleLimits } from '../configuration/decide-limits.js';
import { defaultRulesetOf } from '../configuration/state.js';

export type DraftRule = NonNullable<routeDeclarations.EngagementTestForm['rules']>[number];

/** Why a draft cannot be tested: it could not be created either. */
export interface DraftProblem {
  code: 'ruleset_not_found' | 'rule_not_found' | 'invalid_request';
  /** `body.rules[0].ruleset_id` */
  path: string;
  message: string;
}

/** The id of the draft with this index: no rule has it. */
export function draftIdOf(ouId: string, index: number): string {
  return nameBasedId(ouId, `draft of a rule test:${String(index)}`);
}

/** The problems of what the drafts name; their form is checked by the declaration of the route. */
export function draftProblems(
  { rules, rulesets }: ScoringConfiguration,
  drafts: readonly DraftRule[],
): DraftProblem[] {
  return drafts.flatMap((draft, index): DraftProblem[] => {
    const { ruleset_id, replaces } = draft;
    const path = `body.rules[${String(index)}]`;
    const problems: DraftProblem[] = [];
    const ruleset = ruleset_id === undefined ? null : rulesets.get(ruleset_id.toLowerCase());
    if (ruleset === undefined)
      problems.push({
        code: 'ruleset_not_found',
        path: `${path}.ruleset_id`,
        message: 'is not a ruleset of this organizational unit; GET /engagement-scoring/rulesets lists them',
      });
    else if (ruleset && ruleset.score_type !== 'engagement')
      problems.push({
        code: 'invalid_request',
        path: `${path}.ruleset_id`,
        message: 'must be a ruleset with score_type engagement',
      });
    if (replaces !== undefined && !rules.has(replaces.toLowerCase()))
      problems.push({
        code: 'rule_not_found',
        path: `${path}.replaces`,
        message:
          'is not an engagement rule of this organizational unit; GET /engagement-scoring/rules lists them',
      });
    for (const error of senselessRuleLimits(draft)?.errors ?? [])
      problems.push({
        code: 'invalid_request',
        path: error.path.replace('body', path),
        message: error.message,
      });
    return problems;
  });
}

/**
 * The configuration with the drafts as its last rules, and without the rules that they replace. Drafts without a ruleset are in the
 * default ruleset, which is made when there is none.
 * @param at the moment of the test
 */
export function withDrafts(
  configuration: ScoringConfiguration,
  drafts: readonly DraftRule[],
  at: string,
): ScoringConfiguration {
  const { ou_id } = configuration;
  const replaced = new Set(drafts.map(({ replaces }) => replaces?.toLowerCase()));
  const rules = new Map([...configuration.rules].filter(([id]) => !replaced.has(id)));
  let drafted: ScoringConfiguration = { ...configuration, rules };
  for (const [index, { ruleset_id, ...form }] of drafts.entries()) {
    if (ruleset_id === undefined && !defaultRulesetOf(drafted))
      drafted = evolveConfiguration(drafted, defaultRuleset(drafted, at));
    drafted = evolveConfiguration(drafted, {
      type: 'RuleCreated',
      payload: {
        ...ruleFieldsOf(form),
        ou_id,
        rule_id: draftIdOf(ou_id, index),
        ruleset_id: ruleset_id?.toLowerCase() ?? defaultRulesetOf(drafted)?.id ?? defaultRulesetIdOf(ou_id),
        attribute_filters: form.attribute_filters ?? [],
        active: form.active ?? true,
        version: 1,
        at,
      },
    });
  }
  return drafted;
}

/** The fields of a draft that a rule has. */
function ruleFieldsOf<Form extends { replaces?: string | undefined }>(form: Form): Omit<Form, 'replaces'> {
  const fields = { ...form };
  delete fields.replaces;
  return fields;
}
