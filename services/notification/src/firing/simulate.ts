// Simulates a trigger: the live deciders run over the stored history, and nothing is recorded. Every event, imported history
// included, is decided on as if it had been received at its event time.
import { records, type FiringCause, type routeDeclarations } from '@lead-scoring/contracts';
import { tail, isRecord, type EventLog } from '@lead-scoring/event-log';
import {
  foldAccount,
  type ExplanationReader,
  type IsDeletedEvent,
  type LeadAccount,
} from '@lead-scoring/explanations';
import { scoredEventsOf, type ScoreLevels, type ScoringConfiguration } from '@lead-scoring/scoring-domain';
import {
  compileAlone,
  type CompiledTriggers,
  decideIngestedHistory,
  decideScoredHistory,
  initialLeadState,
  type LeadState,
  type MilestoneTrigger,
  type SequenceTrigger,
  type SurgeTrigger,
} from '@lead-scoring/scoring-domain/triggers';
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

/** Reads ingested events and deletions of leads that were written since a time, in order per lead, without deleted events. */
export type IngestedSince = (
  written: Date,
  signal: AbortSignal,
  isDeleted: IsDeletedEvent,
) => AsyncIterable<records.EventsIngested | records.LeadDeleted>;

/** Reads from the log, because the service stores only events that concern a trigger. */
export function createIngestedSince(log: EventLog): IngestedSince {
  return async function* (written, signal, isDeleted) {
    for await (const record of tail(log, 'ingest.events', { from: written, follow: false, signal }))
      if (record.error !== undefined) continue;
      else if (isRecord(record, records.leadDeleted)) yield record.payload;
      else if (isRecord(record, records.eventsIngested)) {
        const place = { partition: record.partition, offset: Number(record.offset) };
        const events = record.payload.events.filter(({ event_type }) => !isDeleted(event_type, place));
        yield { ...record.payload, events };
      }
  };
}

export async function simulateSequence(
  {
    explanations,
    ingestedSince,
  }: {
    explanations: Pick<ExplanationReader, 'names' | 'deletedEvents'>;
    ingestedSince: IngestedSince;
  },
  trigger: SequenceTrigger,
  range: Range,
  bounds: HistoryBounds,
): Promise<routeDeclarations.SimulatedSequences> {
  const triggers = compileAlone(trigger);
  const states = new Map<string, LeadState>();
  const examination = new HistoryExamination<DraftPayload<'SequenceFired'>>(range, bounds);
  const written = new Date(Date.parse(range.from) - trigger.window_seconds * 1_000 - dayMs);
  const isDeleted = await explanations.deletedEvents(trigger.ou_id);
  const reading = new AbortController();
  const deadline = setTimeout(() => {
    reading.abort();
  }, bounds.timeMs);
  try {
    for await (const payload of ingestedSince(written, reading.signal, isDeleted)) {
      if (payload.ou_id !== trigger.ou_id) continue;
      if ('deletion_id' in payload) {
        states.delete(payload.lead_id);
        examination.forget(payload.lead_id, ({ lead_id }) => lead_id === payload.lead_id);
        continue;
      }
      if (!examination.goesOn(payload.lead_id, payload.events)) break;
      const { lead_id } = payload;
      const { events, state } = decideIngestedHistory(payload, {
        triggers,
        stateBefore: () => states.get(lead_id) ?? initialLeadState(trigger.ou_id, lead_id),
        before: range.to,
      });
      if (state) states.set(lead_id, state);
      examination.add(lead_id, firingsIn<'SequenceFired'>(events));
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
    const before = state;
    const decided = decideScoredHistory(decision, () => lead, {
      triggers,
      stateBefore: () => before,
      before: range.to,
    });
    state = decided.state ?? state;
    examination.add(decision.lead_id, firingsIn<Type>(decided.events));
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
