// Why a lead has its account score: the reasons for the present score of the account that it belongs to, in words. Pure.
import type { routeDeclarations } from '@lead-scoring/contracts';
import { accountEventType, noAccounts } from './account-configuration.js';
import type { AccountPoints } from './account-points.js';
import {
  activeWeights,
  driverOf,
  largestFirst,
  nameOfRule,
  signed,
  type WordsOfRule,
} from './condition-drivers.js';
import type { ScoringConfiguration } from './configuration.js';
import { sumOfPoints, type GivenPoints } from './given-points.js';
import { heldWords } from './held-points.js';
import { levelOf } from './levels.js';
import { ruleWordsAsOf } from './rule-words.js';

type ScoreExplanation = routeDeclarations.ScoreExplanation;
type AccountReason = NonNullable<ScoreExplanation['account']>['reasons'][number];

/** The account of a lead. */
export interface ExplainedAccount extends AccountPoints {
  readonly id: string;
  /** The name to display. */
  readonly name: string;
}

const shownDrivers = 1_000;

/** @param account null for a lead that belongs to none: its account score is 0 */
export function explainAccount(
  lead: Pick<ScoreExplanation, 'lead_id' | 'lead_name'>,
  account: ExplainedAccount | null,
  configuration: ScoringConfiguration,
  moment: Pick<ScoreExplanation, 'at' | 'range_hours'>,
): ScoreExplanation {
  const { rules, levels } = configuration.accounts ?? noAccounts;
  const explained = account && accountReasons(account, configuration);
  const score = account?.score ?? 0;
  return {
    ...lead,
    score_type: 'account',
    score,
    level: account && levelOf(levels, score),
    top_drivers: explained?.drivers.slice(0, shownDrivers) ?? [],
    snapshot: activeWeights(rules.values(), configuration.rulesets, {
      event_type: accountEventType,
      maximum: shownDrivers,
    }),
    decay_applied: 0,
    ...moment,
    unattributed: score - sumOfPoints(explained?.reasons ?? []),
    entries: [],
    entries_total: 0,
    ...(account &&
      explained && {
        account: {
          id: account.id,
          name: account.name,
          leads: account.leads,
          roll_up: account.roll_up,
          reasons: explained.reasons,
        },
      }),
  };
}

/** The present words of a rule that gives an account points; a rule that was deleted since has its last ones. */
export function accountRuleWords(
  { rule_id, rule_version }: Pick<GivenPoints, 'rule_id' | 'rule_version'>,
  configuration: ScoringConfiguration,
): WordsOfRule | undefined {
  return (
    (configuration.accounts ?? noAccounts).rules.get(rule_id) ??
    ruleWordsAsOf(configuration, rule_id, rule_version)
  );
}

/** The rules that give the account points, the largest first, and all reasons: their points add up to the score. */
function accountReasons(
  account: ExplainedAccount,
  configuration: ScoringConfiguration,
): { drivers: ScoreExplanation['top_drivers']; reasons: AccountReason[] } {
  const given = new Map(account.given.map((one) => [one.rule_id, one]));
  const drivers = largestFirst(
    account.given.map((one) =>
      driverOf({ ...one, event_type: accountEventType }, accountRuleWords(one, configuration)),
    ),
  );
  const ofRules = drivers.flatMap(({ rule_id }) => {
    const points = given.get(rule_id);
    return points ? [ruleReason(points, accountRuleWords(points, configuration))] : [];
  });
  const ofLimits = account.held.map((held): AccountReason => {
    const words = `${signed(held.points)}: ${heldWords(held, configuration, 'an account')}.`;
    return { reason: 'held_by_ruleset', ...held, words };
  });
  return { drivers, reasons: [leadsReason(account), ...ofRules, ...ofLimits] };
}

/** `+15: the sum of the scores of its 2 leads.` */
function leadsReason({ leads_points: points, leads, roll_up }: AccountPoints): AccountReason {
  const ofLeads = leads === 1 ? 'its lead' : `its ${leads.toLocaleString('en')} leads`;
  return { reason: 'leads', points, words: `${signed(points)}: ${rolledUpInWords(roll_up, ofLeads)}.` };
}

function rolledUpInWords({ method, leads = 1 }: AccountPoints['roll_up'], ofLeads: string): string {
  switch (method) {
    case 'none':
      return `the scores of ${ofLeads} do not count`;
    case 'sum':
      return `the sum of the scores of ${ofLeads}`;
    case 'mean':
      return `the mean of the scores of ${ofLeads}`;
    case 'max':
      return `the highest score of ${ofLeads}`;
    case 'top':
      return `the sum of the ${String(leads)} highest scores of ${ofLeads}`;
  }
}

/** `+20: the account meets "Several people" (leads is at least 2).` */
function ruleReason(given: GivenPoints, rule: WordsOfRule | undefined): AccountReason {
  const { rule_id, rule_version, ruleset_id, points } = given;
  const words = `${signed(points)}: the account meets ${nameOfRule(rule)}.`;
  return { reason: 'account_rule', rule_id, rule_version, ruleset_id, points, words };
}
