// Decides on changes and deletions of rules: pure; time and ids come with the command.
import type { records } from '@lead-scoring/contracts';
import type { ScoringConfiguration } from '@lead-scoring/scoring-domain';
import {
  done,
  neverCounts,
  ruleNotFound,
  rulesetNotFound,
  tooLarge,
  tooManyActiveRules,
} from './decision-model.js';
import { senselessRuleLimits } from './decide-limits.js';
import type { ConfigurationDecision } from './messages.js';
import { contentOf } from './content-model.js';
import type { Rule } from './state.js';

type RuleContent = Omit<records.RuleUpdated, 'ou_id' | 'rule_id' | 'version' | 'at' | 'actor'>;

/** Absent fields stay, null removes a field. A change that changes nothing makes no version. */
export function updateRule(
  command: records.UpdateRule,
  configuration: ScoringConfiguration,
): ConfigurationDecision {
  const { ou_id, rule_id, requested_at } = command;
  const known = configuration.rules.get(rule_id);
  if (!known)
    return configuration.profile?.rules.has(rule_id) ? isProfileRule() : ruleNotFound(configuration, rule_id);
  const before = Object.fromEntries(contentOf(known)) as unknown as RuleContent;
  const content = changed(before, command);
  if (isSame(content, before)) return done();
  const payload = { ou_id, rule_id, ...content, version: known.version + 1, at: requested_at };
  return (
    refusalOfMove(known, content, configuration) ??
    neverCounts(content) ??
    senselessRuleLimits(content) ??
    tooManyActiveRules(configuration, content.active && !known.active ? 1 : 0) ??
    tooLarge(configuration, payload) ??
    done({ type: 'RuleUpdated', payload })
  );
}

/** The rule's points stay, and explanations keep its words: its id is never used again. */
export function deleteRule(
  { ou_id, rule_id, requested_at }: records.DeleteRule,
  configuration: ScoringConfiguration,
): ConfigurationDecision {
  const known = configuration.rules.get(rule_id) ?? configuration.profile?.rules.get(rule_id);
  if (!known) return ruleNotFound(configuration, rule_id);
  return done({
    type: 'RuleDeleted',
    payload: { ou_id, rule_id, version: known.version + 1, at: requested_at },
  });
}

/** Fields of a command that are no content of a rule. */
const besidesChange = new Set(['ou_id', 'rule_id', 'requested_at', 'actor']);

function changed(before: RuleContent, command: records.UpdateRule): RuleContent {
  const after = new Map(contentOf(before));
  for (const [field, value] of contentOf(command))
    if (besidesChange.has(field)) continue;
    else if (value === null) after.delete(field);
    else after.set(field, value);
  if (!after.has('attribute_filters')) after.set('attribute_filters', []);
  // Only fields that a rule need not have can be null: the command's schema sees to it.
  return Object.fromEntries(after) as unknown as RuleContent;
}

function isSame(one: RuleContent, other: RuleContent): boolean {
  const text = (content: RuleContent) =>
    JSON.stringify(Object.entries(content).sort(([a], [b]) => (a < b ? -1 : 1)));
  return text(one) === text(other);
}

/** A rule may move to a ruleset of the same score type. */
function refusalOfMove(
  known: Rule,
  { ruleset_id }: RuleContent,
  { rulesets }: ScoringConfiguration,
): ConfigurationDecision | null {
  if (ruleset_id === known.ruleset_id) return null;
  const target = rulesets.get(ruleset_id);
  if (!target) return rulesetNotFound();
  const from: string | undefined = rulesets.get(known.ruleset_id)?.score_type;
  if (target.score_type === from) return null;
  return {
    outcome: 'rejected',
    code: 'invalid_request',
    message: `The ruleset "${target.name}" is of the score type ${target.score_type}; the rule can move to rulesets of the type ${String(from)}.`,
    errors: [{ path: 'body.ruleset_id', message: `must be a ruleset of the score type ${String(from)}` }],
  };
}

function isProfileRule(): ConfigurationDecision {
  return {
    outcome: 'rejected',
    code: 'invalid_request',
    message:
      'This is a profile rule, and only engagement rules can be changed. Make a new profile rule and delete this one; PATCH /api/v1/ou/{ouId}/profile-rules/bulk switches it on or off.',
    errors: [{ path: 'parameters.id', message: 'must be the id of an engagement rule' }],
  };
}
