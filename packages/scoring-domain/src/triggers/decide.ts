// Decides which triggers a lead's events fire, re-arm or silence. Pure: times come with the records, and the only inputs are the
// lead's state and the configuration in force.
import type { LeadScoreType, MilestoneCause, records } from '@lead-scoring/contracts';
import { leadMatches, type FilteredLead } from '../filters/evaluate.js';
import { levelHolding } from '../levels.js';
import { scoredEventsOf, scoreTypeOf, type ScoreDecision } from '../score-decision.js';
import { heldInRange } from '../score-range.js';
import { pointsOfEvent } from '../scored-points.js';
import type { SequenceTrigger, SurgeTrigger } from './trigger.js';
import type { Deletion, FiringDraft, Source } from './messages.js';
import { evolveLead } from './evolve.js';
import { isRearmedBy } from './milestone.js';
import { findSequence } from './sequence.js';
import type { LeadState } from './lead-state.js';
import { findSurge } from './surge.js';
import type { CompiledMilestone, CompiledTriggers, MilestonesOfScore } from './compiled-triggers.js';
import { causeOfDecision, causeOfEvent, type Cause } from './cause.js';
import { DecisionBuilder, type FiringDecision } from './decision.js';

/** Whether a decision on scores can make a trigger do anything; if not, the lead's state is not loaded. */
export function concernsScored(scored: ScoreDecision, triggers: CompiledTriggers): boolean {
  const milestones = triggers.ofScore(scoreTypeOf(scored));
  return pathOf(scored).some((step) => {
    const { event, points, before, after } = step;
    if (milestones.passesRearmBound(before, after)) return true;
    if (!scored.fire_triggers) return false;
    const hasGain = event !== null && points !== 0 && triggers.of(event.event_type).surges.length > 0;
    return hasGain || crossedBy(step, scored, triggers).length > 0;
  });
}

/** Whether ingested events can make a trigger do anything; if not, the lead's state is not loaded. */
export function concernsIngested(ingested: records.EventsIngested, triggers: CompiledTriggers): boolean {
  return ingested.fire_triggers && ingested.events.some((event) => matchesOf(event, triggers).length > 0);
}

/** Whether the decision crosses a milestone with a filter; if so, `decideScored` needs the lead. */
export function asksFilters(scored: ScoreDecision, triggers: CompiledTriggers): boolean {
  return (
    scored.fire_triggers &&
    pathOf(scored).some((step) => crossedBy(step, scored, triggers).some(({ filter }) => filter != null))
  );
}

/**
 * Decides on milestones and surges. The same record twice is a no-op.
 * @param lead the lead after the decision on scores, where `asksFilters`; null: not known, and no filter matches
 */
export function decideScored(
  scored: ScoreDecision,
  source: Source,
  state: LeadState,
  triggers: CompiledTriggers,
  lead: FilteredLead | null = null,
): FiringDecision {
  if (source.offset <= state.seen[source.topic]) return { events: [], state };
  const decision = new DecisionBuilder(state, triggers, source, scored.decided_at);
  const milestones = triggers.ofScore(scoreTypeOf(scored));
  const causeWithoutEvent = 'scored_events' in scored ? null : causeOfDecision(scored, source);
  for (const step of pathOf(scored)) {
    const { event, before, after } = step;
    if (scored.fire_triggers) {
      for (const milestone of crossedBy(step, scored, triggers)) {
        const cause = event ? causeOfEvent(event) : causeWithoutEvent;
        if (cause && isSelected(milestone, lead && leadAt(lead, scored, after), scored.decided_at))
          crossMilestone(decision, milestone, step, { cause, scoreType: scoreTypeOf(scored) });
      }
      if (event) observeGain(decision, { ...step, event }, triggers);
    }
    if (milestones.passesRearmBound(before, after)) rearmMilestones(decision, milestones, after);
  }
  return decision.end();
}

/** Whether the milestone is of this lead: it has no filter, or the lead matches it at that time. */
function isSelected({ filter }: CompiledMilestone, lead: FilteredLead | null, at: string): boolean {
  if (filter === undefined) return true;
  if (!filter || !lead) return false;
  return leadMatches(filter.conditions, lead, { now: new Date(at), ...filter.configuration });
}

/** The lead with a score of the decision: filters on scores compare the one that crossed the milestone. */
function leadAt(lead: FilteredLead, scored: ScoreDecision, score: number): FilteredLead {
  switch (scoreTypeOf(scored)) {
    case 'engagement':
      return { ...lead, score };
    case 'profile':
      return { ...lead, profile: { score } };
    case 'deal':
      return lead;
  }
}

const noMilestones: readonly CompiledMilestone[] = [];

/** The milestones that a change of the score crosses, without regard to what they remember of the lead. */
function crossedBy(
  { event, before, after }: ScoreStep,
  scored: ScoreDecision,
  triggers: CompiledTriggers,
): readonly CompiledMilestone[] {
  if (event) return triggers.of(event.event_type).crossed(before, after);
  // The rest of a decision on events: its events are named, and none of them is the cause.
  if ('scored_events' in scored) return noMilestones;
  return triggers.ofScore(scoreTypeOf(scored)).crossed(before, after);
}

/** Adds the points of an event for surges, and checks the surges that watch events of its type. */
function observeGain(decision: DecisionBuilder, step: EventStep, triggers: CompiledTriggers): void {
  const { event, points } = step;
  const { surges, surgeWindowSeconds } = triggers.of(event.event_type);
  if (points === 0 || surges.length === 0) return;
  const { event_id, event_type, timestamp } = event;
  decision.addGain({ event_id, event_type, timestamp, points, window_seconds: surgeWindowSeconds });
  if (points > 0) for (const surge of surges) checkSurge(decision, surge, step);
}

/** Decides on sequences. The same record twice is a no-op. */
export function decideIngested(
  ingested: records.EventsIngested,
  source: Source,
  state: LeadState,
  triggers: CompiledTriggers,
): FiringDecision {
  if (source.offset <= state.seen[source.topic] || !ingested.fire_triggers) return { events: [], state };
  const decision = new DecisionBuilder(state, triggers, source, ingested.received_at);
  for (const event of ingested.events)
    for (const { trigger, steps } of matchesOf(event, triggers))
      advanceSequence(decision, trigger, event, steps);
  return decision.end();
}

/**
 * Decides that the firings and the memory of a deleted lead are forgotten. The same record twice is a no-op.
 * @param hasTriggers the OU has or had channels or triggers; without them no lead of the OU has firings to forget
 */
export function decideDeletion(
  { ou_id, lead_id, deletion_id, linked_to, joined_to, at }: Deletion,
  source: Source,
  state: LeadState,
  hasTriggers: boolean,
): FiringDecision {
  const { 'ingest.events': ingested, 'scoring.events': scored } = state.seen;
  if (source.offset <= state.seen[source.topic] || (!hasTriggers && Math.max(ingested, scored) < 0))
    return { events: [], state };
  const event: FiringDraft = {
    type: 'LeadForgotten',
    payload: {
      ou_id,
      lead_id,
      deletion_id,
      ...(linked_to !== undefined && { linked_to }),
      ...(joined_to !== undefined && { joined_to }),
      source,
      at,
    },
  };
  return { events: [event], state: evolveLead(state, event) };
}

interface ScoreStep {
  /** null: a change of the score that no event caused. */
  event: records.ScoredEvent | null;
  points: number;
  before: number;
  after: number;
}

type EventStep = ScoreStep & { event: records.ScoredEvent };

/** The changes of the score, one per event, so that the grouping of events into records makes no difference. */
function pathOf(decision: ScoreDecision): ScoreStep[] {
  const { previous_score, score } = decision;
  const path: ScoreStep[] = [];
  let before = previous_score;
  for (const event of scoredEventsOf(decision)) {
    const points = pointsOfEvent(event);
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

function crossMilestone(
  decision: DecisionBuilder,
  { trigger, line, levels }: CompiledMilestone,
  step: ScoreStep,
  { cause, scoreType }: { cause: Cause<MilestoneCause>; scoreType: LeadScoreType },
): void {
  const { disarmed } = decision.memoryOf(trigger);
  if (disarmed !== null && !isRearmedBy(line, step.before)) return;
  decision.fire(trigger, cause, (fired) => ({
    type: 'MilestoneFired',
    payload: {
      ...fired,
      trigger: { ...fired.trigger, kind: 'milestone' },
      ...scoresOf(step),
      score_type: scoreType,
      threshold: line.threshold,
      ...(line.level !== null && {
        threshold_level: line.level,
        previous_level: levelHolding(levels, step.before)?.name ?? null,
        level: levelHolding(levels, step.after)?.name ?? null,
      }),
      direction: line.direction,
    },
  }));
}

function rearmMilestones(decision: DecisionBuilder, milestones: MilestonesOfScore, score: number): void {
  for (const trigger_id of decision.disarmed()) {
    const milestone = milestones.rearmed.get(trigger_id);
    if (!milestone) continue;
    const { trigger, line } = milestone;
    if (decision.memoryOf(trigger).disarmed === null || !isRearmedBy(line, score)) continue;
    decision.rearm(trigger, score);
  }
}

function checkSurge(decision: DecisionBuilder, trigger: SurgeTrigger, step: EventStep): void {
  const at = Date.parse(step.event.timestamp);
  const gains = decision.gainsFor(trigger);
  const window = gains.some((gain) => gain.at === at) ? findSurge(gains, at, trigger) : null;
  if (!window) return;
  decision.fire(trigger, causeOfEvent(step.event), (fired) => ({
    type: 'SurgeFired',
    payload: {
      ...fired,
      trigger: { ...fired.trigger, kind: 'surge' },
      ...scoresOf(step),
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

/** Adds the event to the sequence's matches, and fires when they complete it. A sequence that is silent ignores the event. */
function advanceSequence(
  decision: DecisionBuilder,
  trigger: SequenceTrigger,
  event: IngestedEvent,
  steps: number[],
): void {
  const { id: event_id, event_type, timestamp } = event;
  if (decision.isSilent(trigger)) return;
  const { window_seconds } = trigger;
  decision.addMatch({ trigger_id: trigger.id, event_id, event_type, timestamp, steps, window_seconds });
  const matches = decision.matchesFor(trigger);
  const newest = matches.find((match) => match.event_id === event_id);
  const completed =
    newest &&
    findSequence(matches, newest, {
      steps: trigger.steps.length,
      ordered: trigger.ordered,
      windowMs: window_seconds * 1_000,
    });
  if (!completed) return;
  const cause = causeOfEvent({ event_id, event_type, timestamp, matches: [] });
  decision.fire(trigger, cause, (fired) => ({
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

function scoresOf({ before, after }: ScoreStep): { score: number; previous_score: number } {
  return { score: after, previous_score: before };
}
