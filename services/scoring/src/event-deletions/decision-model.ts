// Decides the engagement score of a lead without deleted events: pure. One decision, which says what the score is made of from then on.
import type { records } from '@lead-scoring/contracts';
import { dueAfter } from '../decays/decide-ticks.js';
import { adjustedLead } from '../leads/fold-adjusted.js';
import type { Lead } from '../leads/state.js';
import { courseOf } from '../rescoring/activation-model.js';
import { recordedParts } from '../rescoring/points-model.js';
import {
  scoreWithout,
  type DeletedEvents,
  type RecordedDecision,
  type WithoutRules,
} from './score-without-model.js';

export interface Deletion extends DeletedEvents {
  readonly deletion_id: string;
  /** When what is stored of the events was removed. */
  readonly cleared_at: string;
}

/**
 * @param before the lead as live scoring has it
 * @param decisions all decisions on it, in the order of the log
 * @returns null where rules have matched none of the deleted events
 */
export function decideWithout(
  before: Lead,
  decisions: readonly RecordedDecision[],
  deletion: Deletion,
  rules: WithoutRules,
): records.ScoreAdjusted | null {
  const { event_type, before: end, deletion_id: job_id } = deletion;
  // The clock of the machine that deletes may be behind that of one that has decided.
  const at = decisions.reduce(
    (latest, { payload: { decided_at } }) => (decided_at > latest ? decided_at : latest),
    deletion.cleared_at,
  );
  const { lead, parts, events } = scoreWithout(before, decisions, deletion, at, rules);
  if (events === 0) return null;
  const { score, rulesets, limit_uses, last_scored_at, decay } = lead;
  const decision: records.ScoreAdjusted = {
    ou_id: before.ou_id,
    lead_id: before.id,
    score_type: 'engagement',
    previous_score: before.score,
    score,
    configuration_version: rules.live.version,
    adjustments: [{ reason: 'events_deleted', points: score - before.score }],
    decided_at: at,
    fire_triggers: false,
    rescored: {
      job_id,
      engagement: {
        rulesets: [...rulesets],
        ...(limit_uses && { limit_uses: [...limit_uses] }),
        ...(last_scored_at !== undefined && { last_scored_at }),
        ...(decay && { decay: courseOf(decay) }),
        ...recordedParts(parts),
      },
    },
    deleted: { event_type, before: end, events },
  };
  const decay_due_at = dueAfter(adjustedLead(before, decision), rules.live);
  return decay_due_at === undefined ? decision : { ...decision, decay_due_at };
}
