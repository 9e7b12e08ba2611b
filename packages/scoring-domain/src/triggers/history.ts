// Triggers over recorded history: every event, imported history included, is decided on as if it had been received at its event time. Pure.
import type { records } from '@lead-scoring/contracts';
import type { FilteredLead } from '../filters/evaluate.js';
import { momentOfAdjustments } from '../moments.js';
import { scoredEventsOf, type ScoreDecision } from '../score-decision.js';
import { pointsOfEvent } from '../scored-points.js';
import { heldInRange } from '../score-range.js';
import type { CompiledTriggers } from './compiled-triggers.js';
import { concernsIngested, concernsScored, decideIngested, decideScored } from './decide.js';
import type { LeadState } from './lead-state.js';
import type { FiringDraft } from './messages.js';

/** What a record of history makes of a lead. */
export interface HistoryDecision {
  readonly events: readonly FiringDraft[];
  /** null: the record concerns no trigger. */
  readonly state: LeadState | null;
}

export interface HistoryContext {
  readonly triggers: CompiledTriggers;
  /** The lead's state before the record. */
  readonly stateBefore: () => LeadState;
  /** What happened then or later does not count. */
  readonly before: string;
}

/** @param lead the lead after the decision, which filters are about */
export function decideScoredHistory(
  decision: ScoreDecision,
  lead: () => FilteredLead | null,
  { triggers, stateBefore, before }: HistoryContext,
): HistoryDecision {
  const events: FiringDraft[] = [];
  let state: LeadState | null = null;
  for (const one of eventByEvent(decision)) {
    if (one.decided_at >= before || !concernsScored(one, triggers)) continue;
    const known: LeadState = state ?? stateBefore();
    const decided = decideScored(one, nextOf('scoring.events', known), known, triggers, lead());
    state = decided.state;
    events.push(...decided.events);
  }
  return { events, state };
}

export function decideIngestedHistory(
  payload: records.EventsIngested,
  { triggers, stateBefore, before }: HistoryContext,
): HistoryDecision {
  const events: FiringDraft[] = [];
  let state: LeadState | null = null;
  for (const event of payload.events) {
    if (event.timestamp >= before) continue;
    const one = { ...payload, events: [event], received_at: event.timestamp, fire_triggers: true };
    if (!concernsIngested(one, triggers)) continue;
    const known: LeadState = state ?? stateBefore();
    const decided = decideIngested(one, nextOf('ingest.events', known), known, triggers);
    state = decided.state;
    events.push(...decided.events);
  }
  return { events, state };
}

/** Splits a decision into one per event, made at event time, and one for the change of the score that no event caused. */
function eventByEvent(decision: ScoreDecision): ScoreDecision[] {
  if (!('scored_events' in decision)) return [adjustedAsOfEvents(decision)];
  let score = decision.previous_score;
  const decisions = scoredEventsOf(decision).map((event): ScoreDecision => {
    const previous_score = score;
    score = heldInRange(score + pointsOfEvent(event));
    return {
      ...decision,
      previous_score,
      score,
      scored_events: [event],
      decided_at: event.timestamp,
      fire_triggers: true,
    };
  });
  if (score !== decision.score) decisions.push({ ...decision, previous_score: score, scored_events: [] });
  return decisions;
}

/**
 * A decision on a profile or on deals follows one on events, and like these fires also for imported history. A rescoring follows
 * nothing that happened: it fires only where it was asked to.
 */
function adjustedAsOfEvents(decision: records.ScoreAdjusted): ScoreDecision {
  if (decision.score_type === 'engagement' || decision.rescored) return decision;
  return {
    ...decision,
    decided_at: momentOfAdjustments({ ...decision, scored_events: [] }),
    fire_triggers: true,
  };
}

function nextOf<Topic extends keyof LeadState['seen']>(topic: Topic, { seen }: LeadState) {
  return { topic, partition: 0, offset: seen[topic] + 1 };
}
