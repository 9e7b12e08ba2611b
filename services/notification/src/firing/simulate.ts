// Simulates a trigger: the live deciders run over the stored history, and nothing is recorded. Every event, imported history
// included, is decided on as if it had been received at its event time.
import { records, type FiringCause, type routeDeclarations } from '@lead-scoring/contracts';
import { tail, isRecord, type EventLog } from '@lead-scoring/event-log';
import { foldAccount, type ExplanationReader, type LeadAccount } from '@lead-scoring/explanations';
import {
  heldInRange,
  momentOfAdjustments,
  pointsOfEvent,
  scoredEventsOf,
  type ScoreDecision,
  type ScoreLevels,
  type ScoringConfiguration,
} from '@lead-scoring/scoring-domain';
import type { MilestoneTrigger, SequenceTrigger, SurgeTrigger } from '../configuration/state.js';
import { concernsIngested, concernsScored, decideIngested, decideScored } from './decide.js';
import { filteredLeadOf } from './filtered-leads.js';
import {
  firingsIn,
  HistoryExamination,
  type DraftPayload,
  type ExaminationResult,
  type ExaminedFiring,
  type HistoryBounds,
  type Range,
} from './history-examination.js';
import { initialLeadState, type LeadState } from './state.js';
import { compileAlone, type CompiledTriggers } from './trigger-model.js';

/** The event time of an event is at most this far after its receipt. */
const dayMs = 24 * 3_600_000;

/** The simulation of a trigger by a score of leads. */
export interface SimulatedLeadMilestones extends Omit<routeDeclarations.SimulatedMilestones, 'data'> {
  data: Extract<routeDeclarations.SimulatedMilestones['data'][number], { lead: unknown }>[];
}

/** @param scoring the OU's current levels and filters, with which a trigger that names one is simulated */
export async function simulateMilestone(
  { explanations, scoring }: { explanations: ExplanationReader; scoring: ScoringConfiguration },
  trigger: MilestoneTrigger,
  range: Range,
  bounds: HistoryBounds,
): Promise<SimulatedLeadMilestones> {
  const triggers = compileAlone(trigger, { ...levelsIn(scoring), filters: scoring });
  const examined = await simulateScored<'MilestoneFired'>(
    explanations,
    trigger.ou_id,
    triggers,
    range,
    bounds,
  );
  return answerOf(explanations, trigger.ou_id, examined, ({ cause, score, previous_score }) => {
    const { event_id, event_type, reason, timestamp } = cause;
    return {
      cause: { event_id, event_type, ...(reason && { reason }), timestamp },
      score,
      previous_score,
    };
  });
}

export async function simulateSurge(
  explanations: ExplanationReader,
  trigger: SurgeTrigger,
  range: Range,
  bounds: HistoryBounds,
): Promise<routeDeclarations.SimulatedSurges> {
  const triggers = compileAlone(trigger);
  const examined = await simulateScored<'SurgeFired'>(explanations, trigger.ou_id, triggers, range, bounds);
  return answerOf(explanations, trigger.ou_id, examined, ({ cause, score, gained, from, to }) => ({
    cause: eventIn(cause),
    score,
    gained,
    from,
    to,
  }));
}

/** Reads ingested events and deletions of leads that were written since a time, in order per lead. */
export type IngestedSince = (
  written: Date,
  signal: AbortSignal,
) => AsyncIterable<records.EventsIngested | records.LeadDeleted>;

/** Reads from the log, because the service stores only events that concern a trigger. */
export function createIngestedSince(log: EventLog): IngestedSince {
  return async function* (written, signal) {
    for await (const record of tail(log, 'ingest.events', { from: written, follow: false, signal }))
      if (
        record.error === undefined &&
        (isRecord(record, records.eventsIngested) || isRecord(record, records.leadDeleted))
      )
        yield record.payload;
  };
}

export async function simulateSequence(
  {
    explanations,
    ingestedSince,
  }: { explanations: Pick<ExplanationReader, 'names'>; ingestedSince: IngestedSince },
  trigger: SequenceTrigger,
  range: Range,
  bounds: HistoryBounds,
): Promise<routeDeclarations.SimulatedSequences> {
  const triggers = compileAlone(trigger);
  const states = new Map<string, LeadState>();
  const examination = new HistoryExamination<DraftPayload<'SequenceFired'>>(range, bounds);
  const written = new Date(Date.parse(range.from) - trigger.window_seconds * 1_000 - dayMs);
  const reading = new AbortController();
  const deadline = setTimeout(() => {
    reading.abort();
  }, bounds.timeMs);
  try {
    for await (const payload of ingestedSince(written, reading.signal)) {
      if (payload.ou_id !== trigger.ou_id) continue;
      if ('deletion_id' in payload) {
        states.delete(payload.lead_id);
        examination.forget(payload.lead_id, ({ lead_id }) => lead_id === payload.lead_id);
        continue;
      }
      if (!examination.goesOn(payload.lead_id, payload.events)) break;
      for (const event of payload.events) {
        const one = { ...payload, events: [event], received_at: event.timestamp, fire_triggers: true };
        if (event.timestamp >= range.to || !concernsIngested(one, triggers)) continue;
        const before = states.get(payload.lead_id) ?? initialLeadState(trigger.ou_id, payload.lead_id);
        const { events, state } = decideIngested(one, nextOf('ingest.events', before), before, triggers);
        states.set(payload.lead_id, state);
        examination.add(payload.lead_id, firingsIn<'SequenceFired'>(events));
      }
    }
    if (reading.signal.aborted) examination.cutShort();
  } finally {
    clearTimeout(deadline);
    reading.abort();
  }
  return answerOf(explanations, trigger.ou_id, examination.end(), ({ cause, steps }) => ({
    cause: eventIn(cause),
    steps,
  }));
}

function levelsIn({ levels, profile_levels }: ScoringConfiguration): ScoreLevels {
  return { levels, ...(profile_levels && { profile_levels }) };
}

async function simulateScored<Type extends 'MilestoneFired' | 'SurgeFired'>(
  explanations: ExplanationReader,
  ouId: string,
  triggers: CompiledTriggers,
  range: Range,
  bounds: HistoryBounds,
): Promise<ExaminationResult<DraftPayload<Type>>> {
  const examination = new HistoryExamination<DraftPayload<Type>>(range, bounds);
  let state = initialLeadState(ouId, '');
  let account: LeadAccount | null = null;
  for await (const decision of explanations.decisionsOf(ouId)) {
    if (!examination.goesOn(decision.lead_id, scoredEventsOf(decision))) break;
    if (state.lead_id !== decision.lead_id)
      [state, account] = [initialLeadState(ouId, decision.lead_id), null];
    // The account is of the lead after the decision; its offsets have no meaning here.
    account = foldAccount(account, decision, (account?.offset ?? 0) + 1);
    const lead = filteredLeadOf(account);
    for (const one of eventByEvent(decision)) {
      if (one.decided_at >= range.to || !concernsScored(one, triggers)) continue;
      const decided = decideScored(one, nextOf('scoring.events', state), state, triggers, lead);
      state = decided.state;
      examination.add(decision.lead_id, firingsIn<Type>(decided.events));
    }
  }
  return examination.end();
}

async function answerOf<Firing extends ExaminedFiring & { readonly lead_id: string }, Values>(
  explanations: Pick<ExplanationReader, 'names'>,
  ouId: string,
  { firings, ...examined }: ExaminationResult<Firing>,
  valuesOf: (firing: Firing) => Values,
) {
  const names = await explanations.names(ouId, [...new Set(firings.map(({ lead_id }) => lead_id))]);
  return {
    data: firings.map((firing) => {
      return {
        lead: { id: firing.lead_id, name: names.get(firing.lead_id) ?? firing.lead_id },
        at: firing.cause.timestamp,
        ...valuesOf(firing),
      };
    }),
    ...examined,
  };
}

function eventIn({ event_id, event_type, timestamp }: FiringCause): Omit<FiringCause, 'rule_ids'> {
  return { event_id, event_type, timestamp };
}

/** Splits a decision into one per event, made at event time, and one for the change of the score that no event caused. */
function eventByEvent(decision: ScoreDecision): ScoreDecision[] {
  if (!('scored_events' in decision)) return [adjustedAsOfEvents(decision)];
  let score = decision.previous_score;
  const decisions = decision.scored_events.map((event) => {
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
