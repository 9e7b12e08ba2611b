// Decides on switching many rules of one kind on or off: pure; time and ids come with the command.
import type { records } from '@lead-scoring/contracts';
import type { ScoringConfiguration } from '@lead-scoring/scoring-domain';
import { done, tooManyActiveRules } from './decision-model.js';
import type { ConfigurationDecision } from './messages.js';

interface RuleKind {
  /** The rules of this kind; a rule of another kind is not found. */
  rules: ReadonlyMap<string, { active: boolean; version: number }>;
  noun: 'rule' | 'profile rule' | 'account rule';
  event: 'RulesActivationChanged' | 'ProfileRulesActivationChanged' | 'AccountRulesActivationChanged';
}

/** All of the rules or none (SPEC.md, Bulk rule updates). */
export function switchRules(
  { ou_id, rule_ids, active, requested_at }: records.SetRulesActive,
  configuration: ScoringConfiguration,
  { rules, noun, event }: RuleKind,
): ConfigurationDecision {
  const unknown = rule_ids.flatMap((id, index) =>
    rules.has(id.toLowerCase())
      ? []
      : [
          {
            path: `body.rule_ids[${String(index)}]`,
            message: `is not a ${noun} of this organizational unit`,
          },
        ],
  );
  if (unknown.length > 0)
    return {
      outcome: 'rejected',
      code: 'rule_not_found',
      message: `${String(unknown.length)} of the rule_ids are not ${noun}s of this organizational unit, so no rule was changed. Leave them out.`,
      errors: unknown.slice(0, 100),
    };
  if (active === undefined) return done();
  const changed = [...new Set(rule_ids.map((id) => id.toLowerCase()))].flatMap((id) => {
    const rule = rules.get(id);
    return rule && rule.active !== active ? [{ rule_id: id, version: rule.version + 1 }] : [];
  });
  if (changed.length === 0) return done();
  const tooMany = tooManyActiveRules(configuration, active ? changed.length : 0);
  if (tooMany) return tooMany;
  return done({ type: event, payload: { ou_id, active, rules: changed, at: requested_at } });
}
