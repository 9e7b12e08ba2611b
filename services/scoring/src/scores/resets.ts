// Decides resets of scores: pure. A reset takes effect once; its command again gets the answer of the first time.
import type { records } from '@lead-scoring/contracts';
import { decideTicks, dueAfter } from '../decays/decide-ticks.js';
import { adjustedLead } from '../leads/fold-adjusted.js';
import { leadName } from '../leads/lead-batch.js';
import type { Lead, ScoreReset } from '../leads/state.js';
import type { CompiledRules } from './rule-model.js';

/** What a reset is decided by. */
export type ResetRules = Pick<CompiledRules, 'version' | 'decays'>;

export type ResetDecision =
  | {
      outcome: 'reset';
      /** Ticks of decay rules that were due before; absent: none. */
      ticks?: records.ScoreAdjusted[];
      event: records.ScoreAdjusted | null;
      reset: ScoreReset;
    }
  | { outcome: 'lead_not_found' };

/**
 * The decisions on the commands, in order.
 * @param leadBefore the lead before the batch; null for a lead that does not exist
 * @param rulesOf the configuration in force of an OU
 * @param decided the leads of the batch as they are decided, by leadName: gets those that are reset
 */
export function decideResets(
  commands: readonly records.ResetScores[],
  leadBefore: (ouId: string, leadId: string) => Lead | null,
  rulesOf: (ouId: string) => ResetRules,
  decided = new Map<string, Lead>(),
): ResetDecision[] {
  return commands.map((command): ResetDecision => {
    const { ou_id, lead_id, reset_id, requested_at } = command;
    const name = leadName(ou_id, lead_id);
    const before = decided.get(name) ?? leadBefore(ou_id, lead_id);
    if (!before) return { outcome: 'lead_not_found' };
    const known = before.resets?.find(({ id }) => id === reset_id);
    if (known) return { outcome: 'reset', event: null, reset: known };
    const rules = rulesOf(ou_id);
    const { events: ticks, lead } = decideTicks(command, before, rules, {
      upTo: requested_at,
      decidedAt: requested_at,
    });
    const event = scoreReset(command, lead, rules);
    decided.set(name, adjustedLead(lead, event));
    const reset = { id: reset_id, at: event.decided_at, previous_score: lead.score };
    return { outcome: 'reset', ...(ticks.length > 0 && { ticks }), event, reset };
  });
}

/** Recorded for a score of 0 too: the points of rulesets and drivers may be others. */
function scoreReset(
  { ou_id, lead_id, reset_id, reason_text, requested_at, actor }: records.ResetScores,
  lead: Lead,
  rules: ResetRules,
): records.ScoreAdjusted {
  const previous_score = lead.score;
  const event: records.ScoreAdjusted = {
    ou_id,
    lead_id,
    score_type: 'engagement',
    previous_score,
    score: 0,
    configuration_version: rules.version,
    // Not -0, which JSON does not have.
    adjustments: [{ reason: 'reset', points: 0 - previous_score }],
    decided_at: requested_at,
    // Somebody chose the reset: a score that falls by it is no news of the lead.
    fire_triggers: false,
    reset_id,
    ...(actor && { actor }),
    ...(reason_text !== undefined && { reason_text }),
  };
  if (!rules.decays) return event;
  // A rule whose floor is below zero goes on.
  return { ...event, decay_due_at: dueAfter(adjustedLead(lead, { ...event, decay_due_at: null }), rules) };
}
