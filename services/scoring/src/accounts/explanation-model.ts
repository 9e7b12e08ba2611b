// Why a lead has its account score: the reasons for the present score of the account that it belongs to, in words. Pure.
import type { routeDeclarations } from '@lead-scoring/contracts';
import {
  accountEventType,
  noAccounts,
  ruleWordsAsOf,
  shortenLabel,
  type GivenPoints,
  type RuleWords,
  type ScoringConfiguration,
} from '@lead-scoring/scoring-domain';
import { sumOfPoints } from '../condition-rules/points-model.js';
import { accountNameOf, type Account } from './state.js';

type ScoreExplanation = routeDeclarations.ScoreExplanation;
type AccountReason = NonNullable<ScoreExplanation['account']>['reasons'][number];

const shownDrivers = 1_000;

/** @param account null for a lead that belongs to none: its account score is 0 */
export function explainAccount(
  lead: Pick<ScoreExplanation, 'lead_id' | 'lead_name'>,
  account: Account | null,
  configuration: ScoringConfiguration,
  moment: Pick<ScoreExplanation, 'at' | 'range_hours'>,
): ScoreExplanation {
  const score = account?.score ?? 0;
  const given = largestFirst(account?.given ?? []);
  return {
    ...lead,
    score_type: 'account',
    score,
    level: null,
    top_drivers: given.slice(0, shownDrivers).map((points) => driverOf(points, configuration)),
    snapshot: activeWeights(configuration),
    decay_applied: 0,
    ...moment,
    unattributed: account ? score - account.leads_points - sumOfPoints(given) : 0,
    entries: [],
    entries_total: 0,
    ...(account && {
      account: {
        id: account.id,
        name: accountNameOf(account),
        leads: account.leads,
        roll_up: account.roll_up,
        reasons: [leadsReason(account), ...given.map((points) => ruleReason(points, configuration))],
      },
    }),
  };
}

/** The present words of a rule that gives an account points; a rule that was deleted since has its last ones. */
export function accountRuleWords(
  { rule_id, rule_version }: GivenPoints,
  configuration: ScoringConfiguration,
): Pick<RuleWords, 'label' | 'filter_label'> {
  return (
    (configuration.accounts ?? noAccounts).rules.get(rule_id) ??
    ruleWordsAsOf(configuration, rule_id, rule_version) ??
    {}
  );
}

function largestFirst(given: readonly GivenPoints[]): GivenPoints[] {
  return given.toSorted(
    (one, other) => Math.abs(other.points) - Math.abs(one.points) || (one.rule_id < other.rule_id ? -1 : 1),
  );
}

function driverOf(
  points: GivenPoints,
  configuration: ScoringConfiguration,
): ScoreExplanation['top_drivers'][number] {
  const { label, filter_label } = accountRuleWords(points, configuration);
  return {
    rule_id: points.rule_id,
    event_type: accountEventType,
    count: 1,
    weight: points.points,
    total: points.points,
    ...(filter_label !== undefined && { filter_label }),
    ...(label !== undefined && { label }),
    rule_version: points.rule_version,
  };
}

/** `+15: the sum of the scores of its 2 leads.` */
function leadsReason({ leads_points: points, leads, roll_up }: Account): AccountReason {
  const ofLeads = leads === 1 ? 'its lead' : `its ${String(leads)} leads`;
  return { reason: 'leads', points, words: `${signed(points)}: ${rolledUpInWords(roll_up, ofLeads)}.` };
}

function rolledUpInWords({ method, leads = 1 }: Account['roll_up'], ofLeads: string): string {
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
function ruleReason(given: GivenPoints, configuration: ScoringConfiguration): AccountReason {
  const { rule_id, rule_version, ruleset_id, points } = given;
  const { label, filter_label = '' } = accountRuleWords(given, configuration);
  const name = label === undefined ? 'the rule' : `"${label}"`;
  const words = `${signed(points)}: the account meets ${name} (${shortenLabel(filter_label, 500)}).`;
  return { reason: 'account_rule', rule_id, rule_version, ruleset_id, points, words };
}

function signed(points: number): string {
  return points > 0 ? `+${String(points)}` : String(points);
}

/** The weights of the rules that could give points. */
function activeWeights({
  accounts = noAccounts,
  rulesets,
}: ScoringConfiguration): ScoreExplanation['snapshot'] {
  return [...accounts.rules.values()]
    .filter((rule) => rule.active && rulesets.get(rule.ruleset_id)?.active === true)
    .slice(0, shownDrivers)
    .map(({ weight }) => ({ event_type: accountEventType, weight }));
}
