// The history of a group of leads, replayed by the live rules and by a draft side by side. Where there is an outcome, each lead that had
// it is replayed a second time as far as it had come before. Pure.
import { compileFilters, eventTypeKey, type records } from '@lead-scoring/contracts';
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

/** When each lead had the outcome first. Takes a history before it is replayed. */
export class Outcomes {
  /** The time of the earliest event, by lead. */
  readonly times = new Map<string, string>();
  readonly #isOutcome: (event: IngestedEvent) => boolean;

  constructor(
    outcome: NonNullable<records.WhatIfWork['outcome']>,
    private readonly range: ReplayedRange,
  ) {
    if ('event_type' in outcome) {
      const key = eventTypeKey(outcome.event_type);
      this.#isOutcome = ({ event_type }) => eventTypeKey(event_type) === key;
    } else {
      const meets = compileFilters([outcome]);
      this.#isOutcome = ({ metadata }) => metadata !== undefined && meets(metadata);
    }
  }

  take(happenings: readonly Happening[]): void {
    for (const { type, payload } of happenings) {
      const { lead_id } = payload;
      // Events of the same id that follow are of a new lead.
      if (type === 'LeadDeleted') this.times.delete(lead_id);
      if (type !== 'EventsIngested') continue;
      for (const event of payload.events) {
        if (!isWithin(event, this.range) || !this.#isOutcome(event)) continue;
        const known = this.times.get(lead_id);
        if (known === undefined || event.timestamp < known) this.times.set(lead_id, event.timestamp);
      }
    }
  }
}

export interface ReplayOptions {
  /** When leads had the outcome; undefined: none is asked for. */
  readonly outcomeTimes?: ReadonlyMap<string, string> | undefined;
  /** Get the decisions on the whole history. */
  readonly observers?: Sides<{ readonly take: (event: LeadEvent) => void }>;
}

export class Replay {
  /** All of the history. */
  readonly whole: Sides<Track>;
  /** Of the leads that had the outcome, what was before it. */
  readonly before: Sides<Track>;
  /** When leads had the outcome; undefined: none is asked for. */
  readonly outcomeTimes: ReadonlyMap<string, string> | undefined;

  constructor(
    rules: Sides<CompiledRules>,
    private readonly range: ReplayedRange,
    { outcomeTimes, observers }: ReplayOptions = {},
  ) {
    this.outcomeTimes = outcomeTimes;
    this.whole = {
      live: new Track(rules.live, observers?.live.take),
      draft: new Track(rules.draft, observers?.draft.take),
    };
    this.before = { live: new Track(rules.live), draft: new Track(rules.draft) };
  }

  /** Takes what happened, in the order in which it was decided. */
  take(happenings: readonly Happening[]): void {
    const counting = happenings.flatMap((happening) => happeningWithin(happening, this.range) ?? []);
    this.whole.live.take(counting);
    this.whole.draft.take(counting);
    if (!this.outcomeTimes) return;
    const earlier = counting.flatMap((happening) => {
      const time = this.#timeOf(happening.payload.lead_id);
      return time === undefined ? [] : (happeningBefore(happening, time) ?? []);
    });
    this.before.live.take(earlier);
    this.before.draft.take(earlier);
  }

  /** Lets time pass until the end, for decay rules. */
  end(): void {
    const { until } = this.range;
    for (const track of [this.whole.live, this.whole.draft])
      for (const leadId of [...track.leads.keys()]) track.passTime(leadId, until);
    for (const track of [this.before.live, this.before.draft])
      for (const leadId of [...track.leads.keys()]) track.passTime(leadId, this.#timeOf(leadId) ?? until);
  }

  #timeOf(leadId: string): string | undefined {
    return this.outcomeTimes?.get(leadId);
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
  return withEvents(
    happening,
    happening.payload.events.filter((event) => isWithin(event, range)),
  );
}

/** What happened before a moment, of a record of ingest decided then at the latest; null where nothing did. */
function happeningBefore(happening: Happening, moment: string): Happening | null {
  if (happening.type === 'LeadDeleted') return happening;
  if (happening.type === 'ScoreReset') return happening.payload.requested_at < moment ? happening : null;
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
  if (events.length === payload.events.length) return cause;
  if (events.length === 0) return null;
  const times = new Set(events.map(({ timestamp }) => timestamp));
  const { fields: all = [], ...others } = payload;
  const fields = all.filter(({ at }) => times.has(at));
  return { ...cause, payload: { ...others, events, ...(fields.length > 0 && { fields }) } };
}
