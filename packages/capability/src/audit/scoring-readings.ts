// What the events of scoring say of its configuration, of accounts, of resets and of jobs.
import type { JsonObject, records } from '@lead-scoring/contracts';
import { cancelledJob, startedJob } from './job-readings.js';
import { contentOf, gone, setting, whole, type Reading, type Readings } from './subject-change.js';

/** What a job changes; null where it only computes something. */
function workOf(work: records.ScoringWork): JsonObject | null {
  switch (work.kind) {
    case 'what-if':
    case 'suggestion':
      return null;
    case 'level-backfill':
      return work.dry_run ? null : { work: work.kind };
    case 'account-backfill':
      return work.dry_run ? null : { work: work.kind, fire_triggers: work.fire_triggers };
    case 'rescoring': {
      const { kind, score_type, ruleset_id = null, fire_triggers = false } = work;
      return work.dry_run ? null : { work: kind, score_type, ruleset_id, fire_triggers };
    }
  }
}

const ruleOf = (score_type: string): Reading<{ rule_id: string }> =>
  whole('rule_id', (payload) => ({ score_type, ...contentOf(payload, ['rule_id']) }));

/** Each of the rules that are switched has an entry of its own. */
const switched: Reading<records.RulesActivationChanged> = ({ active, rules }) =>
  rules.map(({ rule_id: id }) => ({ id, after: (before) => ({ ...before, active }) }));

/** An update says all limits, and neither the score nor whether the ruleset is the default. */
const updatedRuleset: Reading<records.RulesetUpdated> = whole('ruleset_id', (payload, before) => ({
  ...(before && { score_type: before.score_type ?? null, is_default: before.is_default ?? null }),
  ...contentOf(payload, ['ruleset_id']),
}));

const merged: Reading<records.AccountsMerged> = ({ source, target, leads_reassigned, deals_reassigned }) => {
  const name = source.account_key;
  const into = { merged_into: target.account_id, leads_reassigned, deals_reassigned };
  return [{ id: source.account_id, before: { name, merged_into: null }, after: () => ({ name, ...into }) }];
};

/** A reset that a person asked for. The reason is in the person's own words, which are not repeated here. */
const reset: Reading<records.ScoreAdjusted> = ({
  reset_id,
  lead_id: id,
  score_type,
  previous_score,
  score,
}) =>
  reset_id === undefined
    ? []
    : [{ id, before: { score_type, score: previous_score }, after: () => ({ score_type, score }) }];

const levels = (scoreType: string) => setting(`${scoreType}-levels`, { levels: [] });

export const scoringReadings: Readings<'scoring'> = {
  RulesetCreated: whole('ruleset_id'),
  RulesetUpdated: updatedRuleset,
  RulesetDeleted: gone('ruleset_id'),
  RuleCreated: ruleOf('engagement'),
  RuleUpdated: ruleOf('engagement'),
  RuleDeleted: gone('rule_id'),
  RulesActivationChanged: switched,
  ProfileRuleCreated: ruleOf('profile'),
  ProfileRuleUpdated: ruleOf('profile'),
  ProfileRulesActivationChanged: switched,
  AccountRuleCreated: ruleOf('account'),
  AccountRuleUpdated: ruleOf('account'),
  AccountRulesActivationChanged: switched,
  DealRuleCreated: ruleOf('deal'),
  DealRuleUpdated: ruleOf('deal'),
  EngagementLevelsSet: levels('engagement'),
  ProfileLevelsSet: levels('profile'),
  AccountLevelsSet: levels('account'),
  ScoringGridSet: setting('grid', { grid: null }),
  AccountRollUpSet: setting('account-roll-up', { roll_up: null }),
  FilterCreated: whole('filter_id'),
  FilterUpdated: whole('filter_id'),
  FilterDeleted: gone('filter_id'),
  DecayCreated: whole('decay_id'),
  DecayUpdated: whole('decay_id'),
  DecayDeleted: gone('decay_id'),
  ProfileMappingAdded: whole('mapping_id'),
  ProfileMappingRemoved: gone('mapping_id'),
  ChallengerStarted: whole('challenger_id', (payload) => contentOf(payload, ['challenger_id', 'starts'])),
  ChallengerEnded: gone('challenger_id'),
  AccountsMerged: merged,
  ScoreAdjusted: reset,
  JobStarted: startedJob(workOf),
  JobCancelled: cancelledJob,
};
