// Folds decisions that no event caused into a lead: pure. A decision that was folded before changes nothing.
import type { records } from '@lead-scoring/contracts';
import { resetsScore, withDecision, withProfileChanges } from '@lead-scoring/scoring-domain';
import { leadAccountOf } from '../accounts/contribution-model.js';
import { withDealAdjustments } from '../deals/lead-deal-score-model.js';
import { decayAfterAdjusted, withDue } from '../decays/decay-fold.js';
import { dueEntryAfter } from '../decays/due-entry-model.js';
import {
  emptyProfile,
  profileAdjustmentsIn,
  withOverrides,
  withProfilePoints,
  type LeadProfile,
} from '../profile/state.js';
import type { Lead, ScoreReset } from './state.js';

/** The number of resets that a lead remembers: a command that comes again comes soon. */
const rememberedResets = 5;

export function foldAdjusted(lead: Lead, decision: records.ScoreAdjusted, offset: number): Lead {
  if (lead.offset >= offset) return lead;
  const { due_entry: known, ...adjusted } = adjustedLead(lead, decision);
  const { decided_at } = decision;
  const due_entry = dueEntryAfter(known, adjusted.decay?.due_at, { decided_at, offset });
  return { ...adjusted, offset, ...(due_entry && { due_entry }) };
}

/** The lead with a decision that has no place on the log yet. */
export function adjustedLead(lead: Lead, decision: records.ScoreAdjusted): Lead {
  if (decision.score_type === 'profile') return { ...lead, profile: foldedProfile(lead, decision) };
  if (decision.score_type === 'deal')
    return { ...withoutWholeDeals(lead), ...withDealAdjustments(lead, decision) };
  if (decision.rescored?.engagement) return withRescored(lead, decision, decision.rescored.engagement);
  const { score, previous_score, adjustments, decided_at, reset_id } = decision;
  const isReset = resetsScore(decision);
  const decay = decayAfterAdjusted(lead.decay, decision);
  return {
    ...(isReset ? withoutLimitUses(lead) : lead),
    score,
    rulesets: isReset ? [] : withDecision(lead.rulesets, { scored_events: [], adjustments }),
    ...(isReset &&
      reset_id !== undefined && {
        resets: withReset(lead.resets, { id: reset_id, at: decided_at, previous_score }),
      }),
    ...(decay && { decay }),
  };
}

/** The lead with a score that was computed anew, and all that later decisions on it need. */
function withRescored(
  lead: Lead,
  { score, decay_due_at = null }: records.ScoreAdjusted,
  { rulesets, limit_uses, last_scored_at, decay: course }: records.RescoredEngagement,
): Lead {
  const kept: { -readonly [Key in keyof Lead]: Lead[Key] } = { ...withoutLimitUses(lead), score, rulesets };
  delete kept.last_scored_at;
  delete kept.decay;
  const decay = withDue(course as Lead['decay'], decay_due_at);
  return {
    ...kept,
    ...(limit_uses && { limit_uses }),
    ...(last_scored_at !== undefined && { last_scored_at }),
    ...(decay && { decay }),
  };
}

function withoutWholeDeals(lead: Lead): Lead {
  const kept: { -readonly [Key in keyof Lead]: Lead[Key] } = { ...lead };
  delete kept.whole_deals;
  return kept;
}

/** After a reset, limits of rules begin anew. */
function withoutLimitUses(lead: Lead): Lead {
  const kept: { -readonly [Key in keyof Lead]: Lead[Key] } = { ...lead };
  delete kept.limit_uses;
  return kept;
}

function foldedProfile({ profile }: Lead, decision: records.ScoreAdjusted): LeadProfile {
  const { score, rescored } = decision;
  const values = rescored?.profile_values;
  const known = values
    ? withOverrides(
        { ...(profile ?? emptyProfile), values: withProfileChanges([], values) },
        rescored.profile_overrides,
      )
    : profile;
  return withProfilePoints(known, { score, adjustments: profileAdjustmentsIn(decision) });
}

/** Folds what a lead contributes to its account. */
export function foldContributed(lead: Lead, contributed: records.LeadContributed, offset: number): Lead {
  return lead.offset >= offset ? lead : { ...lead, account: leadAccountOf(contributed), offset };
}

export function withReset(known: Lead['resets'], reset: ScoreReset): readonly ScoreReset[] {
  return [...(known ?? []), reset].slice(-rememberedResets);
}
