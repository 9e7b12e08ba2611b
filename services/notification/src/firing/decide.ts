// Decides what a lead's events make triggers do: pure; times come with the records, and nothing is asked but the lead's
// own state and the configuration as it is when this is decided.
import type { records } from '@lead-scoring/contracts';
import { heldInRange } from '@lead-scoring/scoring-domain';
import type { SequenceTrigger, SurgeTrigger } from '../configuration/state.js';
import type { Deletion, FiringDraft, Source } from './messages.js';
import { evolveLead } from './evolve.js';
import { isRearmedBy } from './milestone-model.js';
import { findSequence } from './sequence-model.js';
import type { LeadState } from './state.js';
import { findSurge } from './surge-model.js';
import type { CompiledMilestone, CompiledTriggers } from './trigger-model.js';
import { Turn, type FiringDecision } from './turn-model.js';

/** Whether anything can come of a decision on scores: if not, the lead's state need not be known. */
export function concernsScored(scored: records.LeadScored, triggers: CompiledTriggers): boolean {
  return pathOf(scored).some(({ event, points, before, after }) => {
    if (triggers.passesRearmBound(before, after)) return true;
    if (!event || !scored.fire_triggers) return false;
    const { crossed, surges } = triggers.of(event.event_type);
    return (points !== 0 && surges.length > 0) || crossed(before, after).length > 0;
  });
}

/** Whether anything can come of events that came in: if not, the lead's state need not be known. */
export function concernsIngested(ingested: records.EventsIngested, triggers: CompiledTriggers): boolean {
  return ingested.fire_triggers && ingested.events.some((event) => matchesOf(event, triggers).length > 0);
}

/** Milestones and surges. The same record twice is a no-op. */
export function decideScored(
  scored: records.LeadScored,
  source: Source,
  state: LeadState,
  triggers: CompiledTriggers,
): FiringDecision {
  if (source.offset <= state.seen[source.topic]) return { events: [], state };
  const turn = new Turn(state, triggers, source, scored.decided_at);
  for (const { event, points, before, after } of pathOf(scored)) {
    if (event && scored.fire_triggers) {
      const cause = { event, before, after };
      const { crossed, surges, surgeWindowSeconds } = triggers.of(event.event_type);
      for (const milestone of crossed(before, after)) pass(turn, milestone, cause);
      if (points !== 0 && surges.length > 0) {
        const { event_id, event_type, timestamp } = event;
        turn.gained({ event_id, event_type, timestamp, points, window_seconds: surgeWindowSeconds });
        if (points > 0) for (const surge of surges) rise(turn, surge, cause);
      }
    }
    if (triggers.passesRearmBound(before, after)) rearm(turn, triggers, after);
  }
  return turn.end();
}

/** Sequences. The same record twice is a no-op. */
export function decideIngested(
  ingested: records.EventsIngested,
  source: Source,
  state: LeadState,
  triggers: CompiledTriggers,
): FiringDecision {
  if (source.offset <= state.seen[source.topic] || !ingested.fire_triggers) return { events: [], state };
  const turn = new Turn(state, triggers, source, ingested.received_at);
  for (const event of ingested.events)
    for (const { trigger, steps } of matchesOf(event, triggers)) advance(turn, trigger, event, steps);
  return turn.end();
}

/**
 * What was recorded of a lead that was deleted is to be forgotten. The same record twice is a no-op.
 * @param concerned whether triggers of the OU may concern the lead; of one that they do not, and never did, nothing is known
 */
export function decideDeletion(
  { ou_id, lead_id, deletion_id, linked_to, at }: Deletion,
  source: Source,
  state: LeadState,
  concerned: boolean,
): FiringDecision {
  const { 'ingest.events': ingested, 'scoring.events': scored } = state.seen;
  if (source.offset <= state.seen[source.topic] || (!concerned && Math.max(ingested, scored) < 0))
    return { events: [], state };
  const event: FiringDraft = {
    type: 'LeadForgotten',
    payload: { ou_id, lead_id, deletion_id, ...(linked_to !== undefined && { linked_to }), source, at },
  };
  return { events: [event], state: evolveLead(state, event) };
}

interface Step {
  /** null: the score changed by itself. */
  event: records.ScoredEvent | null;
  points: number;
  before: number;
  after: number;
}

/** The way of the score, event by event: how events were put together in records makes no difference. */
function pathOf({ previous_score, score, scored_events }: records.LeadScored): Step[] {
  const path: Step[] = [];
  let before = previous_score;
  for (const event of scored_events) {
    const points = event.matches.reduce((sum, match) => sum + match.points, 0);
    const after = heldInRange(before + points);
    path.push({ event, points, before, after });
    before = after;
  }
  if (before !== score) path.push({ event: null, points: 0, before, after: score });
  return path;
}

type IngestedEvent = records.EventsIngested['events'][number];

function matchesOf(
  { event_type, metadata }: IngestedEvent,
  triggers: CompiledTriggers,
): { trigger: SequenceTrigger; steps: number[] }[] {
  return triggers.of(event_type).sequences.flatMap(({ trigger, steps, places }) => {
    const satisfied = steps.filter(({ filters }) => filters(metadata ?? {}));
    if (satisfied.length === 0) return [];
    return [
      { trigger, steps: satisfied.length === steps.length ? places : satisfied.map(({ step }) => step) },
    ];
  });
}

interface ScoredCause {
  event: records.ScoredEvent;
  before: number;
  after: number;
}

function pass(turn: Turn, { trigger, line }: CompiledMilestone, cause: ScoredCause): void {
  const { disarmed } = turn.memoryOf(trigger);
  if (disarmed !== null && !isRearmedBy(line, cause.before)) return;
  turn.fire(trigger, cause.event, (fired) => ({
    type: 'MilestoneFired',
    payload: {
      ...fired,
      trigger: { ...fired.trigger, kind: 'milestone' },
      ...scoresOf(cause),
      score_type: trigger.score_type,
      threshold: line.threshold,
      ...(line.level !== null && { threshold_level: line.level }),
      direction: line.direction,
    },
  }));
}

function rearm(turn: Turn, triggers: CompiledTriggers, score: number): void {
  for (const trigger_id of turn.disarmed()) {
    const milestone = triggers.rearmed.get(trigger_id);
    if (!milestone) continue;
    const { trigger, line } = milestone;
    if (turn.memoryOf(trigger).disarmed === null || !isRearmedBy(line, score)) continue;
    turn.rearm(trigger, score);
  }
}

function rise(turn: Turn, trigger: SurgeTrigger, cause: ScoredCause): void {
  const at = Date.parse(cause.event.timestamp);
  const gains = turn.gainsFor(trigger);
  const window = gains.some((gain) => gain.at === at) ? findSurge(gains, at, trigger) : null;
  if (!window) return;
  turn.fire(trigger, cause.event, (fired) => ({
    type: 'SurgeFired',
    payload: {
      ...fired,
      trigger: { ...fired.trigger, kind: 'surge' },
      ...scoresOf(cause),
      score_type: trigger.score_type,
      threshold: trigger.threshold,
      window_seconds: trigger.window_seconds,
      gained: window.gained,
      from: new Date(window.from).toISOString(),
      to: new Date(window.to).toISOString(),
      event_count: window.event_count,
    },
  }));
}

/** While a sequence is silent for the lead, it does not look at what the lead does. */
function advance(turn: Turn, trigger: SequenceTrigger, event: IngestedEvent, steps: number[]): void {
  const { id: event_id, event_type, timestamp } = event;
  if (turn.isSilent(trigger)) return;
  const { window_seconds } = trigger;
  turn.matched({ trigger_id: trigger.id, event_id, event_type, timestamp, steps, window_seconds });
  const matches = turn.matchesFor(trigger);
  const newest = matches.find((match) => match.event_id === event_id);
  const completed =
    newest &&
    findSequence(matches, newest, {
      steps: trigger.steps.length,
      ordered: trigger.ordered,
      windowMs: window_seconds * 1_000,
    });
  if (!completed) return;
  const cause = { event_id, event_type, timestamp, matches: [] };
  turn.fire(trigger, cause, (fired) => ({
    type: 'SequenceFired',
    payload: {
      ...fired,
      trigger: { ...fired.trigger, kind: 'sequence' },
      steps: completed.map((match) => ({
        event_id: match.event_id,
        event_type: match.event_type,
        timestamp: new Date(match.at).toISOString(),
      })),
    },
  }));
}

function scoresOf({ before, after }: ScoredCause): { score: number; previous_score: number } {
  return { score: after, previous_score: before };
}
