// Decides on deletions of rulesets: pure.
import type { records } from '@lead-scoring/contracts';
import type { ScoringConfiguration } from '@lead-scoring/scoring-domain';
import { allRulesOf, done, rulesetNotFound } from './decision-model.js';
import type { ConfigurationDecision, Refusal } from './messages.js';

/** Only without rules: a caller who deletes a ruleset says of each of its rules where it goes. */
export function deleteRuleset(
  { ou_id, ruleset_id, requested_at }: records.DeleteRuleset,
  configuration: ScoringConfiguration,
): ConfigurationDecision {
  const known = configuration.rulesets.get(ruleset_id);
  if (!known) return rulesetNotFound();
  const count = allRulesOf(configuration).filter((rule) => rule.ruleset_id === ruleset_id).length;
  if (count > 0)
    return {
      outcome: 'rejected',
      code: 'ruleset_not_empty',
      message: `The ruleset "${known.name}" has ${count === 1 ? '1 rule' : `${String(count)} rules`}. Move each to another ruleset (PATCH /rules/{id} with ruleset_id) or delete it (DELETE /rules/{id}); GET /${known.score_type}-scoring/rules?ruleset_id=${ruleset_id} lists them. To stop them for a time, PATCH /rulesets/{id} with active false.`,
    };
  const decay = [...(configuration.decays?.rules.values() ?? [])].find(
    (rule) => rule.ruleset_id === ruleset_id,
  );
  if (decay) return neededByDecay(decay, known);
  return done({
    type: 'RulesetDeleted',
    payload: { ou_id, ruleset_id, version: known.version + 1, at: requested_at },
  });
}

/** The refusal of the deletion of a ruleset whose points a decay rule takes. */
export function neededByDecay(decay: { name: string }, ruleset: { name: string }): Refusal {
  return {
    outcome: 'rejected',
    code: 'ruleset_not_empty',
    message: `The decay rule "${decay.name}" takes points from the ruleset "${ruleset.name}". Give it another ruleset (PATCH /decays/{id}) or delete it (DELETE /decays/{id}).`,
  };
}
