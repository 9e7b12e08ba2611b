// Decides on new rules with conditions, and on changes and deletions of rules of every kind: pure; time and ids come with the command.
import type { records } from '@lead-scoring/contracts';
import {
  conditionRuleOf,
  isDeletedRule,
  type ConditionRule,
  type ScoringConfiguration,
} from '@lead-scoring/scoring-domain';
import {
  conditionRuleKinds,
  kindOfConditionRule,
  type ConditionRuleKind,
} from '../condition-rules/kinds-model.js';
import {
  alreadyDeleted,
  done,
  neverCounts,
  ruleNotFound,
  rulesetNotFound,
  tooLarge,
  tooManyActiveRules,
  tooManyKept,
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
  if (!known) {
    const conditionRule = conditionRuleOf(configuration, rule_id);
    return conditionRule
      ? updateConditionRule(command, conditionRule, configuration)
      : ruleNotFound(configuration, rule_id);
  }
  if (command.conditions)
    return notOfThisKind(
      'conditions',
      'This is an engagement rule: it has an event_type and attribute_filters in place of conditions. Leave conditions out.',
    );
  const before = Object.fromEntries(contentOf(known)) as unknown as RuleContent;
  const content = changed<RuleContent>(before, command);
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

type ConditionRuleContent = Omit<
  records.ProfileRuleUpdated,
  'ou_id' | 'rule_id' | 'version' | 'at' | 'actor'
>;

const fieldsOfConditionRules = new Set(['ruleset_id', 'conditions', 'weight', 'label', 'active']);

/** Changes a rule over conditions. */
function updateConditionRule(
  command: records.UpdateRule,
  known: ConditionRule,
  configuration: ScoringConfiguration,
): ConfigurationDecision {
  const { ou_id, rule_id, requested_at } = command;
  const foreign = contentOf(command).find(
    ([field]) => !besidesChange.has(field) && !fieldsOfConditionRules.has(field),
  );
  if (foreign)
    return notOfThisKind(
      foreign[0],
      `This rule has conditions and no event type: it can be given ${[...fieldsOfConditionRules].join(', ')}. Leave ${foreign[0]} out.`,
    );
  const before = Object.fromEntries(contentOf(known)) as unknown as ConditionRuleContent;
  const content = changed(before, command);
  if (isSame(content, before)) return done();
  const payload = { ou_id, rule_id, ...content, version: known.version + 1, at: requested_at };
  const { updated, refusalOf } = conditionRuleKinds[kindOfConditionRule(configuration, rule_id)];
  return (
    refusalOfMove(known, content, configuration) ??
    tooManyActiveRules(configuration, content.active && !known.active ? 1 : 0) ??
    tooLarge(configuration, payload) ??
    refusalOf(content.conditions) ??
    done({ type: updated, payload })
  );
}

const whereConditionRulesets =
  'GET /rulesets?score_type=profile lists those of profile rules, score_type=account those of account rules, score_type=deal those of deal rules.';

/** Creates a rule with conditions, of the kind that its ruleset holds. */
export function createConditionRule(
  command: records.CreateProfileRule,
  configuration: ScoringConfiguration,
): ConfigurationDecision {
  if (conditionRuleOf(configuration, command.rule_id)) return done();
  if (isDeletedRule(configuration, command.rule_id)) return alreadyDeleted('rule');
  const ruleset = configuration.rulesets.get(command.ruleset_id);
  if (!ruleset)
    return {
      outcome: 'rejected',
      code: 'ruleset_not_found',
      message: `No ruleset of this organizational unit has this id. ${whereConditionRulesets}`,
    };
  if (ruleset.score_type === 'engagement')
    return {
      outcome: 'rejected',
      code: 'invalid_request',
      message: `The ruleset "${ruleset.name}" holds engagement rules, which have an event_type. Choose a ruleset with score_type profile, account or deal: ${whereConditionRulesets}`,
      errors: [
        { path: 'body.ruleset_id', message: 'must be a ruleset with score_type profile, account or deal' },
      ],
    };
  return createdConditionRule(command, ruleset.score_type, configuration);
}

/** Creates an account rule. */
export function createAccountRule(
  command: records.CreateAccountRule,
  configuration: ScoringConfiguration,
): ConfigurationDecision {
  if (conditionRuleOf(configuration, command.rule_id)) return done();
  if (isDeletedRule(configuration, command.rule_id)) return alreadyDeleted('rule');
  const ruleset = configuration.rulesets.get(command.ruleset_id);
  if (!ruleset) return rulesetNotFound();
  if (ruleset.score_type !== 'account')
    return {
      outcome: 'rejected',
      code: 'invalid_request',
      message: `The ruleset "${ruleset.name}" holds ${ruleset.score_type} rules. Choose a ruleset with score_type account: GET /account-scoring/rulesets lists them.`,
      errors: [{ path: 'body.ruleset_id', message: 'must be a ruleset with score_type account' }],
    };
  return createdConditionRule(command, 'account', configuration);
}

function createdConditionRule(
  command: records.CreateProfileRule,
  kind: ConditionRuleKind,
  configuration: ScoringConfiguration,
): ConfigurationDecision {
  const { created, refusalOf } = conditionRuleKinds[kind];
  const { requested_at: at, ...fields } = command;
  const payload = { ...fields, active: command.active ?? true, version: 1, at };
  return (
    tooManyActiveRules(configuration, payload.active ? 1 : 0) ??
    tooManyKept(configuration, 'rules') ??
    tooLarge(configuration, payload) ??
    refusalOf(payload.conditions) ??
    done({ type: created, payload })
  );
}

/** The rule's points stay, and explanations keep its words: its id is never used again. */
export function deleteRule(
  { ou_id, rule_id, requested_at }: records.DeleteRule,
  configuration: ScoringConfiguration,
): ConfigurationDecision {
  const known = configuration.rules.get(rule_id) ?? conditionRuleOf(configuration, rule_id);
  if (!known) return ruleNotFound(configuration, rule_id);
  return done({
    type: 'RuleDeleted',
    payload: { ou_id, rule_id, version: known.version + 1, at: requested_at },
  });
}

/** Fields of a command that are no content of a rule. */
const besidesChange = new Set(['ou_id', 'rule_id', 'requested_at', 'actor']);

function changed<Content extends object>(before: Content, command: records.UpdateRule): Content {
  const after = new Map(contentOf(before));
  for (const [field, value] of contentOf(command))
    if (besidesChange.has(field)) continue;
    else if (value === null) after.delete(field);
    else after.set(field, value);
  if ('attribute_filters' in before && !after.has('attribute_filters')) after.set('attribute_filters', []);
  // Only fields that a rule need not have can be null: the command's schema sees to it.
  return Object.fromEntries(after) as unknown as Content;
}

function isSame(one: object, other: object): boolean {
  const text = (content: object) =>
    JSON.stringify(Object.entries(content).sort(([a], [b]) => (a < b ? -1 : 1)));
  return text(one) === text(other);
}

/** A rule may move to a ruleset of the same score type. */
function refusalOfMove(
  known: Pick<Rule, 'ruleset_id'>,
  { ruleset_id }: Pick<RuleContent, 'ruleset_id'>,
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

/** The refusal of a field that rules of another kind have. */
function notOfThisKind(field: string, message: string): ConfigurationDecision {
  return {
    outcome: 'rejected',
    code: 'invalid_request',
    message,
    errors: [{ path: `body.${field}`, message: 'must be left out: a rule of this kind has no such field' }],
  };
}
