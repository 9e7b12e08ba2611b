// Decides how the scores of a group of leads that were computed anew come into force: pure. One decision for each lead that changes, with all
// that later decisions need; leads that are the same have none.
import type { records } from '@lead-scoring/contracts';
import { heldInRange, type ScoringConfiguration } from '@lead-scoring/scoring-domain';
import { sumOfPoints } from '../condition-rules/points-model.js';
import { decideTicks, dueAfter } from '../decays/decide-ticks.js';
import { adjustedLead } from '../leads/fold-adjusted.js';
import type { Lead } from '../leads/state.js';
import { profileAdjustments } from '../profile/decide.js';
import { compileProfile } from '../profile/profile-model.js';
import { emptyProfile, withOverrides, type LeadProfile } from '../profile/state.js';
import type { CompiledRules } from '../scores/rule-model.js';
import { recordedParts } from './points-model.js';
import type { PreparedGroup } from './prepared-model.js';
import { isRescoredRule, pointsIn, type PreparedLead, type Rescored } from './state-model.js';

export interface ActivationRules {
  /** By which the scores were computed. */
  readonly configuration: ScoringConfiguration;
  /** Of now: the score fades by these from then on. */
  readonly live: Pick<CompiledRules, 'version' | 'decays'>;
}

export interface Activation extends Rescored {
  readonly job_id: string;
  readonly fire_triggers: boolean;
  /** The moment from which the scores count. */
  readonly at: string;
}

/** The largest number of adjustments of one record. */
const maximumAdjustments = 1_000;

/**
 * The decisions that bring the scores into force.
 * @param group with everything taken into account that was decided on the leads
 * @param leadNow the lead as live scoring has it; null: it was deleted
 */
export function decideActivation(
  group: PreparedGroup,
  leadNow: (leadId: string) => Lead | null,
  activation: Activation,
  rules: ActivationRules,
): records.ScoreAdjusted[] {
  const decide = activation.score_type === 'profile' ? profileDecider(rules) : engagementDecision;
  const decisions: records.ScoreAdjusted[] = [];
  for (const leadId of [...group.leadIds]) {
    const lead = leadNow(leadId);
    if (!lead || group.isUntouched(leadId)) continue;
    group.passTime(leadId, activation.at);
    decisions.push(...decide(lead, group, activation, rules));
  }
  return decisions;
}

function engagementDecision(
  before: Lead,
  group: PreparedGroup,
  activation: Activation,
  { configuration, live }: ActivationRules,
): records.ScoreAdjusted[] {
  const { ruleset_id, at, job_id } = activation;
  // Both sides are of one moment: ticks that are due are decided on the recorded one too.
  const identity = { ou_id: before.ou_id, lead_id: before.id };
  const due = decideTicks(identity, before, live, { upTo: at, decidedAt: at });
  group.record(due.events.map((payload) => ({ type: 'ScoreAdjusted', payload })));
  const prepared = group.of(before.id);
  if (!prepared || group.isSame(due.lead)) return [];
  // What is recorded of a score that is replaced as a whole does not matter any more.
  const { events: ticks, lead } = ruleset_id === undefined ? { events: [], lead: before } : due;
  const after =
    ruleset_id === undefined ? prepared.state : withRuleset(lead, prepared, activation, configuration);
  const { rulesets, limit_uses, last_scored_at, decay } = after;
  const decision: records.ScoreAdjusted = {
    ...decisionOf(before, activation, live.version),
    previous_score: lead.score,
    score: after.score,
    adjustments: [
      {
        reason: 'rescored',
        points: after.score - lead.score,
        ...(ruleset_id !== undefined && { ruleset_id }),
      },
    ],
    rescored: {
      job_id,
      ...(ruleset_id !== undefined && { ruleset_id }),
      engagement: {
        rulesets: [...rulesets],
        ...(limit_uses && { limit_uses: [...limit_uses] }),
        ...(last_scored_at !== undefined && { last_scored_at }),
        ...(decay && { decay: courseOf(decay) }),
        ...recordedParts(prepared.parts),
      },
    },
  };
  const decay_due_at = dueAfter(adjustedLead(lead, decision), live);
  return [...ticks, decay_due_at === undefined ? decision : { ...decision, decay_due_at }];
}

/** The recorded lead with the points of one ruleset computed anew. */
function withRuleset(
  lead: Lead,
  { state }: PreparedLead,
  activation: Activation,
  configuration: ScoringConfiguration,
): PreparedLead['state'] {
  const { ruleset_id = '' } = activation;
  const isRescored = isRescoredRule(configuration, activation);
  const points = pointsIn(state, activation);
  const uses = [
    ...(lead.limit_uses ?? []).filter(({ rule_id }) => !isRescored(rule_id)),
    ...(state.limit_uses ?? []).filter(({ rule_id }) => isRescored(rule_id)),
  ];
  return {
    score: heldInRange(lead.score - pointsIn(lead, activation) + points),
    rulesets: [
      ...lead.rulesets.filter((one) => one.ruleset_id !== ruleset_id),
      ...(points === 0 ? [] : [{ ruleset_id, score: points }]),
    ],
    ...(uses.length > 0 && { limit_uses: uses }),
    ...(lead.last_scored_at !== undefined && { last_scored_at: lead.last_scored_at }),
    ...(lead.decay && { decay: lead.decay }),
  };
}

export function courseOf({ since, ticks }: NonNullable<Lead['decay']>): records.RescoredEngagement['decay'] {
  return { ...(since !== undefined && { since }), ...(ticks && { ticks: [...ticks] }) };
}

/** Points of profiles follow from their values: these are computed anew, and the rules are compared with them. */
function profileDecider({ configuration, live }: ActivationRules) {
  const rules = compileProfile(configuration);
  return (lead: Lead, group: PreparedGroup, activation: Activation): records.ScoreAdjusted[] => {
    const { ruleset_id, job_id } = activation;
    const before = lead.profile ?? emptyProfile;
    const { values, overrides } = group.of(lead.id)?.state.profile ?? emptyProfile;
    if (!rules) return [];
    const computed = withOverrides({ ...before, values }, overrides);
    const changes = profileAdjustments({ ...lead, profile: computed }, rules).filter(
      (change) => ruleset_id === undefined || change.ruleset_id === ruleset_id,
    );
    const textOf = (one: LeadProfile) => JSON.stringify([one.values, one.overrides ?? []]);
    if (changes.length === 0 && textOf(before) === textOf(computed)) return [];
    const all: records.ScoreAdjustment[] = [{ reason: 'rescored', points: 0 }, ...changes];
    const rescored = { job_id, ...(ruleset_id !== undefined && { ruleset_id }) };
    const decisions: records.ScoreAdjusted[] = [];
    let previous_score = before.score;
    for (let from = 0; from < all.length; from += maximumAdjustments) {
      const adjustments = all.slice(from, from + maximumAdjustments);
      const score = previous_score + sumOfPoints(adjustments);
      decisions.push({
        ...decisionOf(lead, activation, live.version),
        previous_score,
        score,
        adjustments,
        rescored: {
          ...rescored,
          ...(from === 0 && {
            profile_values: [...values] as records.Rescored['profile_values'] & {},
            ...(overrides && {
              profile_overrides: [...overrides] as records.Rescored['profile_overrides'] & {},
            }),
          }),
        },
      });
      previous_score = score;
    }
    return decisions;
  };
}

function decisionOf(
  { ou_id, id: lead_id }: Lead,
  { score_type, at: decided_at, fire_triggers }: Activation,
  configuration_version: number,
) {
  return { ou_id, lead_id, score_type, configuration_version, decided_at, fire_triggers };
}
