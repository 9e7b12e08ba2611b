// What a trigger would have done: the deciding that is done live, over the history that is there, with nothing recorded.
// Every event counts as taken when it happened, history that was imported like the rest.
import { heldInRange, records, type routeDeclarations } from '@lead-scoring/contracts';
import { tail, isRecord, type EventLog } from '@lead-scoring/event-log';
import type { ExplanationReader } from '@lead-scoring/explanations';
import {
  emptyNotificationConfiguration,
  type MilestoneTrigger,
  type SequenceTrigger,
  type SurgeTrigger,
  type Trigger,
} from '../configuration/state.js';
import type { Levels } from '../levels/line-model.js';
import { concernsIngested, concernsScored, decideIngested, decideScored } from './decide.js';
import { isFired, type FiredDraft, type FiringDraft } from './events.js';
import { initialLeadState, type LeadState } from './state.js';
import { compileTriggers, type CompiledTriggers } from './trigger-model.js';

/** How much of the history is looked at, at most. */
export interface HistoryBounds {
  timeMs: number;
  events: number;
}

export interface Range {
  /** Of event time: `from` inclusive, `to` exclusive. */
  from: string;
  to: string;
}

const maximumListed = 100;
/** Future times of events reach this far. */
const dayMs = 24 * 3_600_000;

type Drafted<Type extends FiredDraft['type']> = Extract<FiredDraft, { type: Type }>['payload'];
type Examined = Pick<
  routeDeclarations.SimulatedMilestones,
  'total' | 'leads' | 'leads_examined' | 'events_examined' | 'truncated'
>;

/** @param levels the OU's as they are now: a trigger by level is simulated with them */
export async function simulateMilestone(
  { explanations, levels }: { explanations: ExplanationReader; levels: Levels },
  trigger: MilestoneTrigger,
  range: Range,
  bounds: HistoryBounds,
): Promise<routeDeclarations.SimulatedMilestones> {
  const triggers = alone(trigger, levels);
  const examined = await simulateScored<'MilestoneFired'>(
    explanations,
    trigger.ou_id,
    triggers,
    range,
    bounds,
  );
  return shown(explanations, trigger.ou_id, examined, ({ score, previous_score }) => ({
    score,
    previous_score,
  }));
}

export async function simulateSurge(
  explanations: ExplanationReader,
  trigger: SurgeTrigger,
  range: Range,
  bounds: HistoryBounds,
): Promise<routeDeclarations.SimulatedSurges> {
  const triggers = alone(trigger);
  const examined = await simulateScored<'SurgeFired'>(explanations, trigger.ou_id, triggers, range, bounds);
  return shown(explanations, trigger.ou_id, examined, ({ score, gained, from, to }) => ({
    score,
    gained,
    from,
    to,
  }));
}

/** Events as they came in, and deletions of leads, in order for each lead, from what was written at a time on. */
export type IngestedSince = (
  written: Date,
  signal: AbortSignal,
) => AsyncIterable<records.EventsIngested | records.LeadDeleted>;

/** Reads them from the log: events that no trigger is concerned with are kept nowhere else in this service. */
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
  const triggers = alone(trigger);
  const states = new Map<string, LeadState>();
  const examination = examine<'SequenceFired'>(range, bounds);
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
        examination.forget(payload.lead_id);
        continue;
      }
      if (!examination.goesOn(payload.lead_id, payload.events)) break;
      for (const event of payload.events) {
        const one = { ...payload, events: [event], received_at: event.timestamp, fire_triggers: true };
        if (event.timestamp >= range.to || !concernsIngested(one, triggers)) continue;
        const before = states.get(payload.lead_id) ?? initialLeadState(trigger.ou_id, payload.lead_id);
        const { events, state } = decideIngested(one, nextOf('ingest.events', before), before, triggers);
        states.set(payload.lead_id, state);
        examination.add(events);
      }
    }
    if (reading.signal.aborted) examination.cutShort();
  } finally {
    clearTimeout(deadline);
    reading.abort();
  }
  return shown(explanations, trigger.ou_id, examination.end(), ({ steps }) => ({ steps }));
}

async function simulateScored<Type extends 'MilestoneFired' | 'SurgeFired'>(
  explanations: ExplanationReader,
  ouId: string,
  triggers: CompiledTriggers,
  range: Range,
  bounds: HistoryBounds,
): Promise<Examination<Type>> {
  const examination = examine<Type>(range, bounds);
  let state: LeadState | null = null;
  for await (const decision of explanations.decisionsOf(ouId)) {
    if (!examination.goesOn(decision.lead_id, decision.scored_events)) break;
    if (state?.lead_id !== decision.lead_id) state = initialLeadState(ouId, decision.lead_id);
    for (const one of eventByEvent(decision)) {
      if (one.decided_at >= range.to || !concernsScored(one, triggers)) continue;
      const decided = decideScored(one, nextOf('scoring.events', state), state, triggers);
      state = decided.state;
      examination.add(decided.events);
    }
  }
  return examination.end();
}

/** Leads whose points of the window that ends now reach the threshold; points and score as far as is looked at. */
export async function previewSurge(
  explanations: ExplanationReader,
  trigger: SurgeTrigger,
  now: Date,
  bounds: HistoryBounds,
): Promise<routeDeclarations.SurgePreview> {
  const range = {
    from: new Date(now.getTime() - trigger.window_seconds * 1_000).toISOString(),
    to: new Date(now.getTime() + 1).toISOString(),
  };
  const triggers = alone(trigger);
  const examination = examine<'SurgeFired'>(range, bounds);
  const gains = new Map<string, { gained: number; from: string; to: string; score: number }>();
  for await (const { lead_id, score, scored_events } of explanations.decisionsOf(trigger.ou_id)) {
    if (!examination.goesOn(lead_id, scored_events)) break;
    for (const { event_type, timestamp, matches } of scored_events) {
      if (timestamp < range.from || timestamp >= range.to) continue;
      if (triggers.of(event_type).surges.length === 0) continue;
      const known = gains.get(lead_id) ?? { gained: 0, from: timestamp, to: timestamp, score };
      gains.set(lead_id, {
        gained: heldInRange(matches.reduce((sum, { points }) => sum + points, known.gained)),
        from: timestamp < known.from ? timestamp : known.from,
        to: timestamp > known.to ? timestamp : known.to,
        score,
      });
    }
    // Also of decisions that gave nothing within the window.
    const gain = gains.get(lead_id);
    if (gain) gain.score = score;
  }
  const { leads_examined, truncated } = examination.end();
  const matching = [...gains]
    .filter(([, { gained }]) => gained >= trigger.threshold)
    .sort(([a, { gained: most }], [b, { gained: less }]) => less - most || (a < b ? -1 : 1));
  const listed = matching.slice(0, maximumListed);
  const names = await explanations.names(
    trigger.ou_id,
    listed.map(([id]) => id),
  );
  return {
    data: listed.map(([id, window]) => ({ lead: { id, name: names.get(id) ?? id }, ...window })),
    total: matching.length,
    leads_examined,
    truncated,
  };
}

interface Examination<Type extends FiredDraft['type']> extends Examined {
  /** The newest first. */
  firings: Drafted<Type>[];
}

/** Counts what is looked at, and gathers what fires within the range. */
function examine<Type extends FiredDraft['type']>({ from, to }: Range, bounds: HistoryBounds) {
  const until = performance.now() + bounds.timeMs;
  const leads = new Set<string>();
  /** How often, by lead. */
  const firedFor = new Map<string, number>();
  let firings: Drafted<Type>[] = [];
  let total = 0;
  let examined = 0;
  let truncated = false;
  const newest = (): Drafted<Type>[] =>
    firings
      .sort((a, b) =>
        a.cause.timestamp < b.cause.timestamp ? 1 : a.cause.timestamp > b.cause.timestamp ? -1 : 0,
      )
      .slice(0, maximumListed);
  return {
    /** False once it has been looked at enough. */
    goesOn: (leadId: string, events: readonly { timestamp: string }[]): boolean => {
      if (examined >= bounds.events || performance.now() > until) {
        truncated = true;
        return false;
      }
      leads.add(leadId);
      examined += events.length;
      return true;
    },
    cutShort: () => {
      truncated = true;
    },
    add: (events: readonly FiringDraft[]): void => {
      for (const event of events) {
        if (!isFired(event)) continue;
        const { timestamp } = event.payload.cause;
        if (timestamp < from || timestamp >= to) continue;
        total += 1;
        const { lead_id } = event.payload;
        firedFor.set(lead_id, (firedFor.get(lead_id) ?? 0) + 1);
        firings.push(event.payload as Drafted<Type>);
      }
      if (firings.length > 100 * maximumListed) firings = newest();
    },
    /** The lead was deleted: what it did is not shown. */
    forget: (leadId: string): void => {
      total -= firedFor.get(leadId) ?? 0;
      if (firedFor.delete(leadId)) firings = firings.filter(({ lead_id }) => lead_id !== leadId);
    },
    end: (): Examination<Type> => ({
      firings: newest(),
      total,
      leads: firedFor.size,
      leads_examined: leads.size,
      events_examined: examined,
      truncated,
    }),
  };
}

async function shown<Type extends FiredDraft['type'], Values>(
  explanations: Pick<ExplanationReader, 'names'>,
  ouId: string,
  { firings, ...examined }: Examination<Type>,
  valuesOf: (firing: Drafted<Type>) => Values,
) {
  const names = await explanations.names(ouId, [...new Set(firings.map(({ lead_id }) => lead_id))]);
  return {
    data: firings.map((firing) => {
      const { event_id, event_type, timestamp } = firing.cause;
      return {
        lead: { id: firing.lead_id, name: names.get(firing.lead_id) ?? firing.lead_id },
        at: timestamp,
        cause: { event_id, event_type, timestamp },
        ...valuesOf(firing),
      };
    }),
    ...examined,
  };
}

/** The trigger as if it were the only one, switched on, and always there. */
function alone(trigger: Trigger, levels: Levels = []): CompiledTriggers {
  const configuration = emptyNotificationConfiguration(trigger.ou_id);
  const created_at = new Date(0).toISOString();
  const there = { ...trigger, active: true, since: 0, created_at, channel_ids: [] };
  return compileTriggers({ ...configuration, triggers: new Map([[trigger.id, there]]) }, levels);
}

/** A decision as decisions on each of its events, made when the events happened, and on what the score changed by itself. */
function eventByEvent(decision: records.LeadScored): records.LeadScored[] {
  let score = decision.previous_score;
  const decisions = decision.scored_events.map((event) => {
    const previous_score = score;
    score = heldInRange(event.matches.reduce((sum, { points }) => sum + points, score));
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

function nextOf<Topic extends keyof LeadState['seen']>(topic: Topic, { seen }: LeadState) {
  return { topic, partition: 0, offset: seen[topic] + 1 };
}
