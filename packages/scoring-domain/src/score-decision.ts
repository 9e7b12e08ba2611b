// The recorded decisions on scores: on events of a lead, and those that no event caused. Pure.
import type { CauseReason, records } from '@lead-scoring/contracts';

/** Every record that changes the score of a lead that stays. */
export type ScoreDecision = records.LeadScored | records.ScoreAdjusted;

/** The score that a decision changes. */
export function scoreTypeOf(decision: ScoreDecision): records.ScoreAdjusted['score_type'] {
  return 'scored_events' in decision ? 'engagement' : decision.score_type;
}

/** What a decision was made on: events of the lead, its profile, its deals, a reset, or time without events. */
export function causeOf(decision: ScoreDecision): 'events' | CauseReason {
  return 'scored_events' in decision ? 'events' : reasonOf(decision);
}

/** Why a score changed without an event of the lead. */
export function reasonOf(decision: records.ScoreAdjusted): CauseReason {
  if (decision.deleted) return 'event_deletion';
  if (decision.rescored) return 'rescoring';
  if (decision.score_type !== 'engagement') return decision.score_type;
  if (resetsScore(decision)) return 'reset';
  if (isDecay(decision)) return 'decay';
  throw new Error('a decision without an event has a reason that no crossing of levels names');
}

const noEvents: readonly records.ScoredEvent[] = [];

/** The events that gave points; none where no event caused the decision. */
export function scoredEventsOf(decision: ScoreDecision): readonly records.ScoredEvent[] {
  return 'scored_events' in decision ? decision.scored_events : noEvents;
}

/** Whether the decision restarts the score from zero: earlier points no longer explain it. */
export function resetsScore({
  adjustments,
}: {
  readonly adjustments?: readonly Pick<records.ScoreAdjustment, 'reason'>[] | undefined;
}): boolean {
  return adjustments?.some(({ reason }) => reason === 'reset') ?? false;
}

/** Whether the decision is a tick of a decay rule. */
export function isDecay({
  adjustments,
}: {
  readonly adjustments?: readonly Pick<records.ScoreAdjustment, 'reason'>[] | undefined;
}): boolean {
  return adjustments?.some(({ reason }) => reason === 'decay') ?? false;
}

/**
 * Whether a decision is needed to explain a score: it scored events, or changed the score without an event. Every service that
 * explains scores stores these.
 */
export function explainsScore(decision: ScoreDecision): boolean {
  return (
    !('scored_events' in decision) ||
    decision.scored_events.length > 0 ||
    decision.previous_score !== decision.score
  );
}
