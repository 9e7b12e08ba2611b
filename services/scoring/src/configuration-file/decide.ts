// Decides on a document of the whole configuration: the events that make the configuration equal to it, or why it is refused. Pure.
import type { records } from '@lead-scoring/contracts';
import { noAccounts, noDeals, noProfile, type ScoringConfiguration } from '@lead-scoring/scoring-domain';
import { beyondLimits, configurationLimits, keptLimitReached } from '../configuration/decision-model.js';
import type { ConfigurationDecision, Refusal } from '../configuration/messages.js';
import { planDecays } from './decays-section.js';
import { planFilters } from './filters-section.js';
import { planAccountLevels, planEngagementLevels, planGrid, planProfileLevels } from './levels-sections.js';
import { planMappings } from './mappings-section.js';
import { Plan, type SectionPlanner } from './plan.js';
import { planRollUp } from './rollup-section.js';
import { planRulesets } from './rulesets-section.js';

/** Decay rules name rulesets, and filters name rulesets and levels: they come after those. */
const planners: readonly SectionPlanner[] = [
  planRulesets,
  planEngagementLevels,
  planDecays,
  planMappings,
  planProfileLevels,
  planRollUp,
  planAccountLevels,
  planGrid,
  planFilters,
];

/** A document that changes nothing is always taken, whatever version it expects: so a repeat is answered like the first. */
export function applyConfiguration(
  command: records.ApplyConfiguration,
  configuration: ScoringConfiguration,
): ConfigurationDecision {
  const tooMany = tooManyRules(command.configuration, configuration);
  if (tooMany) return tooMany;
  const plan = new Plan(command, configuration);
  for (const planSection of planners) {
    const refusal = planSection(plan);
    if (refusal) return refusal;
  }
  const { events, changes } = plan;
  const { expected_version, dry_run } = command;
  if (events.length > 0 && expected_version !== undefined && expected_version !== configuration.version)
    return {
      outcome: 'rejected',
      code: 'configuration_changed',
      message: `The configuration has version ${String(configuration.version)} and no longer ${String(expected_version)}: somebody has changed it meanwhile. Read it again, and repeat your change on what there is now.`,
    };
  const after = plan.after();
  const tooMuch = events.length > 0 ? beyondLimits(after) : null;
  if (tooMuch) return tooMuch;
  const version = dry_run ? configuration.version : after.version;
  return {
    outcome: 'done',
    events: dry_run ? [] : events,
    result: { dry_run, version, ...changes.answer() },
  };
}

/** The refusal of a document with more rules than there may be, before any of them is looked at. */
function tooManyRules(
  file: records.ConfigurationFile,
  { rules, profile = noProfile, accounts = noAccounts, deals = noDeals }: ScoringConfiguration,
): Refusal | null {
  const count = (rulesets: readonly { rules: readonly unknown[] }[] | undefined, known: number) =>
    rulesets ? rulesets.reduce((sum, ruleset) => sum + ruleset.rules.length, 0) : known;
  const all =
    count(file.engagement_rulesets, rules.size) +
    count(file.profile_rulesets, profile.rules.size) +
    count(file.account_rulesets, accounts.rules.size) +
    count(file.deal_rulesets, deals.rules.size);
  return all > configurationLimits.keptRules ? keptLimitReached('rules') : null;
}
