// Builds the decision on one record: the events so far, and the lead's state after them. Observations (gains and matches) are
// grouped into one event, before the firings that they cause, so that folding the events gives the state of the decision.
import { eventTypeKey, type records } from '@lead-scoring/contracts';
import type { SequenceTrigger, SurgeTrigger, Trigger } from './trigger.js';
import type { Cause } from './cause.js';
import { firingIdOf } from './ids.js';
import type { FiredDraft, FiringDraft, Source } from './messages.js';
import { evolveLead, withGain, withMatch } from './evolve.js';
import { flood, isSilent, memorySince, reactionOf, recentFirings, silentUntil } from './memory.js';
import type { Gain, LeadState, StepMatch, TriggerMemory } from './lead-state.js';
import type { CompiledTriggers } from './compiled-triggers.js';

/** Maximum number of observations in one event. */
const maximumObserved = 2_000;

export interface FiringDecision {
  readonly events: readonly FiringDraft[];
  /** The lead's state with the events folded. */
  readonly state: LeadState;
}

type ObservedGain = records.ActivityObserved['gains'][number];
type ObservedMatch = records.ActivityObserved['steps'][number];

/** The fields of a firing that all kinds of triggers share. */
type FiringBase<Form> = Omit<
  Extract<FiredDraft, { type: 'SequenceFired' }>['payload'],
  'trigger' | 'steps' | 'cause'
> & { trigger: { id: string; name: string }; cause: Form };

interface EventBase {
  readonly ou_id: string;
  readonly lead_id: string;
  readonly configuration_version: number;
  readonly source: Source;
}

export class DecisionBuilder {
  /** The fields that all events of the decision share. */
  readonly #base: EventBase;
  readonly #observed: EventBase & { at: string };
  readonly #now: number;
  readonly #events: FiringDraft[] = [];
  #state: LeadState;
  /** Observations that are in the state and not yet in an event. */
  #gains: ObservedGain[] = [];
  #steps: ObservedMatch[] = [];

  /** @param at the record's time: of the decision on scores, or of receipt */
  constructor(
    before: LeadState,
    { version }: CompiledTriggers,
    source: Source,
    private readonly at: string,
  ) {
    const { ou_id, lead_id } = before;
    this.#base = { ou_id, lead_id, configuration_version: version, source };
    this.#observed = { ...this.#base, at };
    this.#now = Date.parse(at);
    this.#state = before;
  }

  /** The trigger's memory of the lead since its current definition: an older memory does not count. */
  memoryOf(trigger: Trigger): TriggerMemory {
    return memorySince(trigger, this.#state.memories.get(trigger.id));
  }

  /** Ids of milestones that have fired and were not re-armed. */
  disarmed(): string[] {
    return [...this.#state.memories].flatMap(([id, { disarmed }]) => (disarmed === null ? [] : [id]));
  }

  /** By event time. */
  gainsFor({ event_type, since }: SurgeTrigger): readonly Gain[] {
    const { gains } = this.#state;
    const timelines = event_type === null ? [...gains.values()] : [gains.get(eventTypeKey(event_type))];
    const entries = timelines
      .flatMap((timeline) => timeline?.entries ?? [])
      .filter(({ configuration_version }) => configuration_version >= since);
    return timelines.length > 1 ? entries.sort((a, b) => a.at - b.at) : entries;
  }

  /** By event time. */
  matchesFor({ id, since }: SequenceTrigger): readonly StepMatch[] {
    const entries = this.#state.matches.get(id)?.entries ?? [];
    return entries.filter(({ configuration_version }) => configuration_version >= since);
  }

  isSilent(trigger: Trigger): boolean {
    return isSilent(trigger, this.memoryOf(trigger), this.#now);
  }

  addGain(gain: ObservedGain): void {
    this.#gains.push(gain);
    this.#state = withGain(this.#state, gain, this.#observed);
    if (this.#gains.length >= maximumObserved) this.#recordObserved();
  }

  addMatch(match: ObservedMatch): void {
    this.#steps.push(match);
    this.#state = withMatch(this.#state, match, this.#observed);
    if (this.#steps.length >= maximumObserved) this.#recordObserved();
  }

  rearm({ id }: Trigger, score: number): void {
    this.#append({
      type: 'TriggerRearmed',
      payload: { ...this.#base, trigger_id: id, score, at: this.at },
    });
  }

  /** Fires unless the trigger is silent for the lead. A trigger that fires too often is silenced instead. */
  fire<Form>(
    trigger: Trigger,
    { id: causeId, form: cause }: Cause<Form>,
    drafted: (firing: FiringBase<Form>) => FiredDraft,
  ): void {
    const { id, name, channel_ids } = trigger;
    switch (reactionOf(trigger, this.memoryOf(trigger), this.#now)) {
      case 'silent':
        return;
      case 'suppress':
        this.#suppress(trigger);
        return;
      case 'fire':
        this.#append(
          drafted({
            ...this.#base,
            firing_id: firingIdOf(id, this.#base.lead_id, causeId),
            fired_at: this.at,
            trigger: { id, name },
            cause,
            channel_ids,
          }),
        );
    }
  }

  #suppress(trigger: Trigger): void {
    const { id, name, kind } = trigger;
    this.#append({
      type: 'TriggerSuppressed',
      payload: {
        ...this.#base,
        trigger: { id, name, kind },
        firings: recentFirings(this.memoryOf(trigger), this.#now),
        window_seconds: flood.windowSeconds,
        at: this.at,
        until: silentUntil(this.#now),
      },
    });
  }

  #append(event: FiringDraft): void {
    this.#recordObserved();
    this.#events.push(event);
    this.#state = evolveLead(this.#state, event);
  }

  /** Adds the event with the observations. The state has them already; folding the empty event moves the state's offset. */
  #recordObserved(): void {
    if (this.#gains.length + this.#steps.length === 0) return;
    this.#events.push({
      type: 'ActivityObserved',
      payload: { ...this.#observed, gains: this.#gains, steps: this.#steps },
    });
    this.#state = evolveLead(this.#state, {
      type: 'ActivityObserved',
      payload: { ...this.#observed, gains: [], steps: [] },
    });
    this.#gains = [];
    this.#steps = [];
  }

  end(): FiringDecision {
    this.#recordObserved();
    return { events: this.#events, state: this.#state };
  }
}
