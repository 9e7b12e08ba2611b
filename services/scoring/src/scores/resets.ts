// Decides resets of scores: pure. A reset takes effect once; its command again gets the answer of the first time.
import type { records } from '@lead-scoring/contracts';
import type { Lead, ScoreReset } from '../leads/state.js';
import { withReset } from '../leads/fold-adjusted.js';

/** The part of a lead on which a reset is decided. */
export type ResettableLead = Pick<Lead, 'score' | 'resets'>;

export type ResetDecision =
  | { outcome: 'reset'; event: records.ScoreAdjusted | null; reset: ScoreReset }
  | { outcome: 'lead_not_found' };

/**
 * The decisions on the commands, in order.
 * @param leadBefore the lead before the batch; null for a lead that does not exist
 * @param versionOf the version of an OU's configuration in force
 */
export function decideResets(
  commands: readonly records.ResetScores[],
  leadBefore: (ouId: string, leadId: string) => ResettableLead | null,
  versionOf: (ouId: string) => number,
): ResetDecision[] {
  const changed = new Map<string, ResettableLead>();
  return commands.map((command): ResetDecision => {
    const { ou_id, lead_id, reset_id } = command;
    const name = `${ou_id}/${lead_id}`;
    const lead = changed.get(name) ?? leadBefore(ou_id, lead_id);
    if (!lead) return { outcome: 'lead_not_found' };
    const known = lead.resets?.find(({ id }) => id === reset_id);
    if (known) return { outcome: 'reset', event: null, reset: known };
    const event = scoreReset(command, lead.score, versionOf(ou_id));
    const reset = { id: reset_id, at: event.decided_at, previous_score: lead.score };
    changed.set(name, { score: 0, resets: withReset(lead.resets, reset) });
    return { outcome: 'reset', event, reset };
  });
}

/** Recorded for a score of 0 too: the points of rulesets and drivers may be others. */
function scoreReset(
  { ou_id, lead_id, reset_id, reason_text, requested_at, actor }: records.ResetScores,
  previous_score: number,
  configuration_version: number,
): records.ScoreAdjusted {
  return {
    ou_id,
    lead_id,
    score_type: 'engagement',
    previous_score,
    score: 0,
    configuration_version,
    // Not -0, which JSON does not have.
    adjustments: [{ reason: 'reset', points: 0 - previous_score }],
    decided_at: requested_at,
    // Somebody chose the reset: a score that falls by it is no news of the lead.
    fire_triggers: false,
    reset_id,
    ...(actor && { actor }),
    ...(reason_text !== undefined && { reason_text }),
  };
}
