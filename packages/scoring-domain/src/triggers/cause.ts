// What makes a trigger fire: an event, or a change of the score that no event caused. Pure.
import type { FiringCause, MilestoneCause, records } from '@lead-scoring/contracts';
import { momentOfAdjustments } from '../moments.js';
import { reasonOf } from '../score-decision.js';
import { countedPoints } from '../scored-points.js';
import { positionText } from './ids.js';
import type { Source } from './messages.js';

/** A cause in the form that the firing records, and its id, which the firing's id is made from. */
export interface Cause<Form> {
  readonly id: string;
  readonly form: Form;
}

const maximumRuleIds = 20;

export function causeOfEvent({
  event_id,
  event_type,
  timestamp,
  matches,
}: Pick<records.ScoredEvent, 'event_id' | 'event_type' | 'timestamp' | 'matches'>): Cause<FiringCause> {
  // A match whose points were all held back gave none.
  const gave = matches.filter((match) => countedPoints(match) !== 0);
  return {
    id: event_id,
    form: { event_id, event_type, timestamp, rule_ids: distinct(gave.map(({ rule_id }) => rule_id)) },
  };
}

/** The cause of a firing on a decision that no event caused: the reason in place of an event. */
export function causeOfDecision(decision: records.ScoreAdjusted, source: Source): Cause<MilestoneCause> {
  return {
    id: positionText(source),
    form: {
      event_id: null,
      event_type: null,
      reason: reasonOf(decision),
      timestamp: momentOfAdjustments({ ...decision, scored_events: [] }),
      rule_ids: distinctRuleIds(decision.adjustments),
    },
  };
}

/** The rules whose points changed. */
export function distinctRuleIds(
  adjustments: readonly { readonly rule_id?: string | undefined; readonly points: number }[],
): string[] {
  return distinct(
    adjustments.flatMap(({ rule_id, points }) => (rule_id !== undefined && points !== 0 ? [rule_id] : [])),
  );
}

function distinct(ids: readonly string[]): string[] {
  return [...new Set(ids)].slice(0, maximumRuleIds);
}
