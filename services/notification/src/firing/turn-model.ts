// One record's turn: what is decided on it so far, and the lead's state as that leaves it. What was observed is gathered,
// and told before whatever follows from it, so that folding what is told gives the state that was decided with.
import { eventTypeKey, firingIdOf, type records } from '@lead-scoring/contracts';
import type { SequenceTrigger, SurgeTrigger, Trigger } from '../configuration/state.js';
import type { FiredDraft, FiringDraft, Source } from './events.js';
import { evolveLead, rememberedFirings, withGain, withMatch } from './evolve.js';
import { noMemory, type Gain, type LeadState, type StepMatch, type TriggerMemory } from './state.js';
import type { CompiledTriggers } from './trigger-model.js';

/** A trigger that would fire more often than this for one lead in this time is silent for the lead for a while. */
export const flood = { firings: rememberedFirings, windowSeconds: 600, silenceSeconds: 3_600 };

/** Clocks of those who take requests may differ by this much. */
const clockToleranceMs = 60_000;

/** Observations in one record. */
const maximumObserved = 2_000;
const maximumRuleIds = 20;

export interface FiringDecision {
  readonly events: readonly FiringDraft[];
  /** The lead's state with the events folded. */
  readonly state: LeadState;
}

type ObservedGain = records.ActivityObserved['gains'][number];
type ObservedMatch = records.ActivityObserved['steps'][number];

/** What all firings say, whatever the trigger's kind. */
type Fired = Omit<Extract<FiredDraft, { type: 'SequenceFired' }>['payload'], 'trigger' | 'steps'> & {
  trigger: { id: string; name: string };
};

export interface Turn {
  /** What the trigger remembers of the lead since it looks for what it looks for now. */
  memoryOf(trigger: Trigger): TriggerMemory;
  /** Milestones that have fired and were not re-armed. */
  disarmed(): string[];
  /** By event time. */
  gainsFor(trigger: SurgeTrigger): readonly Gain[];
  /** By event time. */
  matchesFor(trigger: SequenceTrigger): readonly StepMatch[];
  isSilent(trigger: Trigger): boolean;
  gained(gain: ObservedGain): void;
  matched(match: ObservedMatch): void;
  rearm(trigger: Trigger, score: number): void;
  /** Unless the trigger is silent for the lead; one that fires too often falls silent instead. */
  fire(trigger: Trigger, cause: records.ScoredEvent, drafted: (fired: Fired) => FiredDraft): void;
  end(): FiringDecision;
}

export function beginTurn(
  before: LeadState,
  { version }: CompiledTriggers,
  source: Source,
  at: string,
): Turn {
  const { ou_id, lead_id } = before;
  const now = Date.parse(at);
  const decided = { ou_id, lead_id, configuration_version: version, source };
  const observed = { ...decided, at };
  const events: FiringDraft[] = [];
  let state = before;
  let gains: ObservedGain[] = [];
  let steps: ObservedMatch[] = [];

  /** What is in the state already, told. */
  const tellObserved = () => {
    if (gains.length + steps.length === 0) return;
    events.push({ type: 'ActivityObserved', payload: { ...observed, gains, steps } });
    state = evolveLead(state, { type: 'ActivityObserved', payload: { ...observed, gains: [], steps: [] } });
    gains = [];
    steps = [];
  };
  const happen = (event: FiringDraft) => {
    tellObserved();
    events.push(event);
    state = evolveLead(state, event);
  };

  const memoryOf = ({ id, since }: Trigger): TriggerMemory => {
    const memory = state.memories.get(id);
    if (!memory) return noMemory;
    const { fired, disarmed, suppressed } = memory;
    return {
      fired: fired.filter(({ configuration_version }) => configuration_version >= since),
      disarmed: disarmed !== null && disarmed >= since ? disarmed : null,
      suppressed: suppressed && suppressed.configuration_version >= since ? suppressed : null,
    };
  };
  const isSilent = (trigger: Trigger): boolean => {
    // The backlog of a service that starts late is no news.
    if (now < Date.parse(trigger.created_at) - clockToleranceMs) return true;
    const { fired, suppressed } = memoryOf(trigger);
    const last = fired.at(-1);
    return (
      (suppressed !== null && now < suppressed.until) ||
      (last !== undefined && now < last.at + cooldownSecondsOf(trigger) * 1_000)
    );
  };

  return {
    memoryOf,
    isSilent,
    disarmed: () => [...state.memories].flatMap(([id, { disarmed }]) => (disarmed === null ? [] : [id])),
    gainsFor: ({ event_type, since }) => {
      const timelines =
        event_type === null ? [...state.gains.values()] : [state.gains.get(eventTypeKey(event_type))];
      const entries = timelines
        .flatMap((timeline) => timeline?.entries ?? [])
        .filter(({ configuration_version }) => configuration_version >= since);
      return timelines.length > 1 ? entries.sort((a, b) => a.at - b.at) : entries;
    },
    matchesFor: ({ id, since }) =>
      (state.matches.get(id)?.entries ?? []).filter(
        ({ configuration_version }) => configuration_version >= since,
      ),
    gained: (gain) => {
      gains.push(gain);
      state = withGain(state, gain, observed);
      if (gains.length >= maximumObserved) tellObserved();
    },
    matched: (match) => {
      steps.push(match);
      state = withMatch(state, match, observed);
      if (steps.length >= maximumObserved) tellObserved();
    },
    rearm: ({ id }, score) => {
      happen({ type: 'TriggerRearmed', payload: { ...decided, trigger_id: id, score, at } });
    },
    fire: (trigger, { event_id, event_type, timestamp, matches }, drafted) => {
      if (isSilent(trigger)) return;
      const { id, name, kind } = trigger;
      const recently = memoryOf(trigger).fired.filter((one) => one.at > now - flood.windowSeconds * 1_000);
      if (recently.length >= flood.firings) {
        happen({
          type: 'TriggerSuppressed',
          payload: {
            ...decided,
            trigger: { id, name, kind },
            firings: recently.length,
            window_seconds: flood.windowSeconds,
            at,
            until: new Date(now + flood.silenceSeconds * 1_000).toISOString(),
          },
        });
        return;
      }
      const rule_ids = [...new Set(matches.map(({ rule_id }) => rule_id))].slice(0, maximumRuleIds);
      happen(
        drafted({
          ...decided,
          firing_id: firingIdOf(id, lead_id, event_id),
          fired_at: at,
          trigger: { id, name },
          cause: { event_id, event_type, timestamp, rule_ids },
          channel_ids: trigger.channel_ids,
        }),
      );
    },
    end: () => {
      tellObserved();
      return { events, state };
    },
  };
}

function cooldownSecondsOf(trigger: Trigger): number {
  return trigger.kind === 'milestone' ? trigger.rearm.cooldown_seconds : trigger.cooldown_seconds;
}
