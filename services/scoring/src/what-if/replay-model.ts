// The history of a group of leads, replayed by the live rules and by a draft side by side. Where there is an outcome, what was decided on a
// lead when it comes is what the lead is judged by; only the leads whose history is not in the order of its times are replayed again. Pure.
import { compileFilters, eventTypeKey, type records } from '@lead-scoring/contracts';
import type { Lead } from '../leads/state.js';
import type { LeadCause, LeadEvent } from '../scores/messages.js';
import type { CompiledRules } from '../scores/rule-model.js';
import { Track, type Happening } from './track-model.js';

/** The events that count, by their own times: from the first moment on, and before the second. */
export interface ReplayedRange {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  /** The moment of which the scores are. */
  readonly until: string;
}

type IngestedEvent = records.EventsIngested['events'][number];

export interface Sides<Of> {
  readonly live: Of;
  readonly draft: Of;
}

export type Outcome = NonNullable<records.WhatIfWork['outcome']>;

/** Whether an event is the outcome. */
function outcomeTest(outcome: Outcome): (event: IngestedEvent) => boolean {
  if ('event_type' in outcome) {
    const key = eventTypeKey(outcome.event_type);
    return ({ event_type }) => eventTypeKey(event_type) === key;
  }
  const meets = compileFilters([outcome]);
  return ({ metadata }) => metadata !== undefined && meets(metadata);
}

/** When each lead had the outcome first. */
export class Outcomes {
  /** The time of the earliest event, by lead. */
  readonly times = new Map<string, string>();
  readonly #isOutcome: (event: IngestedEvent) => boolean;

  constructor(
    outcome: Outcome,
    private readonly range: ReplayedRange,
  ) {
    this.#isOutcome = outcomeTest(outcome);
  }

  take(happenings: readonly Happening[]): void {
    for (const happening of happenings) this.takeOne(happening);
  }

  /** @returns whether the lead had the outcome earlier than was known */
  takeOne({ type, payload }: Happening): boolean {
    const { lead_id } = payload;
    // Events of the same id that follow are of a new lead.
    if (type === 'LeadDeleted') this.times.delete(lead_id);
    if (type !== 'EventsIngested') return false;
    let isEarlier = false;
    for (const event of payload.events) {
      if (!this.#isOutcome(event) || !isWithin(event, this.range)) continue;
      const known = this.times.get(lead_id);
      if (known !== undefined && event.timestamp >= known) continue;
      this.times.set(lead_id, event.timestamp);
      isEarlier = true;
    }
    return isEarlier;
  }
}

export interface ReplayOptions {
  /** Undefined: no lead is judged by an outcome. */
  readonly outcome?: Outcome | undefined;
  /** Get the decisions on the whole history, and the lead after each. */
  readonly observers?: Sides<{ readonly take: (event: LeadEvent, lead: Lead | null) => void }> | undefined;
  /** Gets what happened, as far as it counts. */
  readonly onHappenings?: ((happenings: readonly Happening[]) => void) | undefined;
}

export class Replay {
  /** All of the history. */
  readonly whole: Sides<Track>;
  /** Of the leads that had the outcome, what was before it. */
  readonly before: Sides<Track>;
  readonly #judged: JudgedLeads | null;
  readonly #onHappenings: ReplayOptions['onHappenings'];

  constructor(
    rules: Sides<CompiledRules>,
    private readonly range: ReplayedRange,
    { outcome, observers, onHappenings }: ReplayOptions = {},
  ) {
    this.whole = {
      live: new Track(rules.live, observers?.live.take),
      draft: new Track(rules.draft, observers?.draft.take),
    };
    this.before = { live: new Track(rules.live), draft: new Track(rules.draft) };
    const fades = rules.live.decays !== null || rules.draft.decays !== null;
    this.#onHappenings = onHappenings;
    this.#judged = outcome ? new JudgedLeads(new Outcomes(outcome, range), fades) : null;
  }

  /** When leads had the outcome; undefined: none is asked for. */
  get outcomeTimes(): ReadonlyMap<string, string> | undefined {
    return this.#judged?.outcomes.times;
  }

  /** The leads of which something came with the outcome or later, before the outcome was known: their history is to be taken again. */
  get disordered(): ReadonlySet<string> {
    return this.#judged?.disordered ?? nobody;
  }

  /** Takes what happened, in the order in which it was decided. */
  take(happenings: readonly Happening[]): void {
    const counting = happenings.flatMap((happening) => happeningWithin(happening, this.range) ?? []);
    this.#onHappenings?.(counting);
    if (!this.#judged) {
      takeOnBoth(this.whole, counting);
      return;
    }
    let waiting: Happening[] = [];
    let earlier: Happening[] = [];
    for (const happening of counting) {
      if (this.#judged.meet(happening)) {
        takeOnBoth(this.whole, waiting);
        takeOnBoth(this.before, earlier);
        [waiting, earlier] = [[], []];
        this.#beginBefore(happening.payload.lead_id);
      }
      waiting.push(happening);
      earlier.push(...this.#earlierIn(happening));
    }
    takeOnBoth(this.whole, waiting);
    takeOnBoth(this.before, earlier);
  }

  /** Takes the whole history of the disordered leads once more, when all of it was taken. */
  takeAgain(happenings: readonly Happening[]): void {
    const counting = happenings.flatMap((happening) => happeningWithin(happening, this.range) ?? []);
    const earlier = counting.flatMap((happening) => {
      const time = this.outcomeTimes?.get(happening.payload.lead_id);
      return time === undefined ? [] : (happeningBefore(happening, time) ?? []);
    });
    takeOnBoth(this.before, earlier);
  }

  /** Lets time pass until the end, for decay rules. */
  end(): void {
    const { until } = this.range;
    for (const track of [this.whole.live, this.whole.draft])
      for (const leadId of [...track.leads.keys()]) track.passTime(leadId, until);
    for (const track of [this.before.live, this.before.draft])
      for (const leadId of [...track.leads.keys()])
        track.passTime(leadId, this.outcomeTimes?.get(leadId) ?? until);
  }

  /** A lead has just had the outcome. What was decided on it is what was before, unless the lead is disordered. */
  #beginBefore(leadId: string): void {
    for (const side of sides) {
      const known = this.whole[side].leads.get(leadId);
      if (known && !this.disordered.has(leadId)) this.before[side].adopt(known);
      else this.before[side].leads.delete(leadId);
    }
  }

  /** What of a happening was before the lead's outcome; nothing of disordered leads, and of leads without an outcome. */
  #earlierIn(happening: Happening): Happening[] {
    const { lead_id } = happening.payload;
    if (happening.type === 'LeadDeleted') return [happening];
    const time = this.disordered.has(lead_id) ? undefined : this.outcomeTimes?.get(lead_id);
    const earlier = time === undefined ? null : happeningBefore(happening, time);
    return earlier ? [earlier] : [];
  }
}

const sides = ['live', 'draft'] as const;
const nobody: ReadonlySet<string> = new Set();

function takeOnBoth({ live, draft }: Sides<Track>, happenings: readonly Happening[]): void {
  live.take(happenings);
  draft.take(happenings);
}

/** Finds the outcomes of leads while their history is read, and the leads whose history is not in the order of its times. */
class JudgedLeads {
  readonly disordered = new Set<string>();
  /** The latest time in the history of each lead that has had no outcome. */
  readonly #latest = new Map<string, string>();

  /** @param fades whether a decision depends on when events were received, and not on their own times alone */
  constructor(
    readonly outcomes: Outcomes,
    private readonly fades: boolean,
  ) {}

  /** @returns whether the lead has had the outcome with this, or earlier than was known */
  meet(happening: Happening): boolean {
    const { lead_id } = happening.payload;
    const known = this.outcomes.times.has(lead_id);
    const isEarlier = this.outcomes.takeOne(happening);
    if (happening.type === 'LeadDeleted') {
      this.disordered.delete(lead_id);
      this.#latest.delete(lead_id);
    } else if (isEarlier) {
      const time = this.outcomes.times.get(lead_id) ?? '';
      if (known || (this.#latest.get(lead_id) ?? '') >= time) this.disordered.add(lead_id);
      this.#latest.delete(lead_id);
    } else if (!known) this.#latest.set(lead_id, this.#latestOf(happening));
    return isEarlier;
  }

  #latestOf({ type, payload }: Exclude<Happening, { type: 'LeadDeleted' }>): string {
    let latest = this.#latest.get(payload.lead_id) ?? '';
    const take = (time: string) => {
      if (time > latest) latest = time;
    };
    if (type === 'ScoreReset') take(payload.requested_at);
    else if (type === 'LeadMetadataPatched') take(payload.patched_at);
    else {
      for (const { timestamp } of payload.events) take(timestamp);
      if (this.fades) take(payload.received_at);
    }
    return latest;
  }
}

export function isWithin(
  { timestamp }: { readonly timestamp: string },
  { from, to }: ReplayedRange,
): boolean {
  return (from === undefined || timestamp >= from) && (to === undefined || timestamp < to);
}

/** A record of ingest with the events that count, or a reset; null where nothing of it counts. */
function happeningWithin(happening: Happening, range: ReplayedRange): Happening | null {
  if (happening.type === 'LeadDeleted' || (range.from === undefined && range.to === undefined))
    return happening;
  if (happening.type === 'ScoreReset')
    return isWithin({ timestamp: happening.payload.requested_at }, range) ? happening : null;
  if (happening.type === 'LeadMetadataPatched')
    return isWithin({ timestamp: happening.payload.patched_at }, range) ? happening : null;
  return withEvents(
    happening,
    happening.payload.events.filter((event) => isWithin(event, range)),
  );
}

/** What happened before a moment, of a record of ingest decided then at the latest; null where nothing did. */
function happeningBefore(happening: Happening, moment: string): Happening | null {
  if (happening.type === 'LeadDeleted') return happening;
  if (happening.type === 'ScoreReset') return happening.payload.requested_at < moment ? happening : null;
  if (happening.type === 'LeadMetadataPatched')
    return happening.payload.patched_at < moment ? happening : null;
  // All of its events were deleted; it has made the lead known.
  if (happening.payload.events.length === 0) return happening.payload.received_at < moment ? happening : null;
  const earlier = withEvents(
    happening,
    happening.payload.events.filter(({ timestamp }) => timestamp < moment),
  );
  if (!earlier) return null;
  const { received_at } = earlier.payload;
  return {
    ...earlier,
    payload: { ...earlier.payload, received_at: received_at < moment ? received_at : moment },
  };
}

type EventCause = Extract<LeadCause, { type: 'EventsIngested' }>;

function withEvents(cause: EventCause, events: IngestedEvent[]): EventCause | null {
  const { payload } = cause;
  if (events.length === 0) return null;
  if (events.length === payload.events.length) return cause;
  const times = new Set(events.map(({ timestamp }) => timestamp));
  const { fields: all = [], ...others } = payload;
  const fields = all.filter(({ at }) => times.has(at));
  return { ...cause, payload: { ...others, events, ...(fields.length > 0 && { fields }) } };
}
