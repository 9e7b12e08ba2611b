// Folds firing's events into a lead's state. Pure.
import { eventTypeKey, type records } from '@lead-scoring/contracts';
import type { FiringDraft, Source } from './messages.js';
import { forgetLead } from './forgetting.js';
import { withFired } from './memory.js';
import { noMemory, type LeadState, type TriggerMemory } from './lead-state.js';
import { remember } from './timeline.js';

export function evolveLead(state: LeadState, event: FiringDraft): LeadState {
  const { source } = event.payload;
  const seen =
    source.offset > state.seen[source.topic] ? { ...state.seen, [source.topic]: source.offset } : state.seen;
  return { ...evolve(state, event), seen };
}

function evolve(state: LeadState, event: FiringDraft): LeadState {
  switch (event.type) {
    case 'ActivityObserved': {
      const { gains, steps, ...observed } = event.payload;
      const withGains = gains.reduce((known, gain) => withGain(known, gain, observed), state);
      return steps.reduce((known, match) => withMatch(known, match, observed), withGains);
    }
    case 'MilestoneFired':
      return withFiring(state, event.payload, { disarmed: event.payload.configuration_version });
    case 'SurgeFired':
      return withFiring(state, event.payload, {});
    case 'SequenceFired': {
      const { trigger, steps } = event.payload;
      const used = new Set(steps.map(({ event_id }) => event_id));
      const timeline = state.matches.get(trigger.id);
      const left = timeline?.entries.filter(({ event_id }) => !used.has(event_id)) ?? [];
      const matches = new Map(state.matches);
      if (timeline && left.length > 0) matches.set(trigger.id, { ...timeline, entries: left });
      else matches.delete(trigger.id);
      return withFiring({ ...state, matches }, event.payload, {});
    }
    case 'TriggerRearmed':
      return withMemory(state, event.payload, event.payload.trigger_id, { disarmed: null });
    case 'TriggerSuppressed': {
      const { trigger, until, configuration_version } = event.payload;
      const matches = new Map(state.matches);
      matches.delete(trigger.id);
      return withMemory({ ...state, matches }, event.payload, trigger.id, {
        suppressed: { until: Date.parse(until), configuration_version },
      });
    }
    case 'LeadForgotten':
      return forgetLead(state, event.payload);
  }
}

type Observation = Pick<records.ActivityObserved, 'at' | 'configuration_version'> & { source: Source };

/** Also what a decision does with each event before it is recorded. */
export function withGain(
  state: LeadState,
  { event_type, timestamp, points, window_seconds }: records.ActivityObserved['gains'][number],
  { at, configuration_version }: Observation,
): LeadState {
  const key = eventTypeKey(event_type);
  const gain = { at: Date.parse(timestamp), points, configuration_version };
  const taken = { takenAt: Date.parse(at), windowMs: window_seconds * 1_000 };
  return { ...state, gains: new Map(state.gains).set(key, remember(state.gains.get(key), gain, taken)) };
}

/** Also what a decision does with each event before it is recorded. */
export function withMatch(
  state: LeadState,
  {
    trigger_id,
    event_id,
    event_type,
    timestamp,
    steps,
    window_seconds,
  }: records.ActivityObserved['steps'][number],
  { at, configuration_version }: Observation,
): LeadState {
  const match = { at: Date.parse(timestamp), event_id, event_type, steps, configuration_version };
  const taken = { takenAt: Date.parse(at), windowMs: window_seconds * 1_000 };
  const timeline = remember(state.matches.get(trigger_id), match, taken);
  return { ...state, matches: new Map(state.matches).set(trigger_id, timeline) };
}

function withFiring(
  state: LeadState,
  {
    source,
    trigger,
    fired_at,
    configuration_version,
  }: { source: Source; trigger: { id: string }; fired_at: string; configuration_version: number },
  change: Partial<TriggerMemory>,
): LeadState {
  const before = state.memories.get(trigger.id)?.fired ?? [];
  const fired = withFired(before, { fired_at, configuration_version });
  return withMemory(state, { source }, trigger.id, { fired, ...change });
}

function withMemory(
  state: LeadState,
  { source: { topic } }: { source: Source },
  triggerId: string,
  change: Partial<TriggerMemory>,
): LeadState {
  const memory = { ...(state.memories.get(triggerId) ?? noMemory), ...change, topic };
  return { ...state, memories: new Map(state.memories).set(triggerId, memory) };
}
