// The ticks of decay rules on one lead: when the next one takes points, and how many. A tick comes each interval after the last
// scored event. Only ticks that take points are recorded; the others follow from them. Pure.
import { smallestScore, type DecayPeriod } from '@lead-scoring/contracts';

/** What decay knows of a lead beside its score. */
export interface LeadDecay {
  /** Ticks up to this moment are not made up for: when the last event that scored was decided, or the score was reset. */
  readonly since?: string;
  /** The last recorded tick of each rule since then. */
  readonly ticks?: readonly RecordedTick[];
  /** When the next tick takes points; absent: never. */
  readonly due_at?: string;
}

export interface RecordedTick {
  readonly rule_id: string;
  readonly at: string;
  /** The part of a point that was left beside the score. */
  readonly fraction?: number;
}

export interface DecayingLead {
  readonly score: number;
  readonly rulesets: readonly { readonly ruleset_id: string; readonly score: number }[];
  /** The time of the last scored event; without one nothing fades. */
  readonly last_scored_at?: string | undefined;
  readonly decay?: LeadDecay | undefined;
}

/** A tick that takes points. */
export interface DecayTick {
  readonly period: DecayPeriod;
  readonly at: string;
  /** Counted from the last scored event. */
  readonly number: number;
  /** Negative. */
  readonly points: number;
  readonly fraction?: number;
}

interface CompiledPeriod {
  readonly period: DecayPeriod;
  readonly intervalMs: number;
  readonly sinceMs: number;
  readonly untilMs: number;
  /** What a tick leaves of a score, between 0 and 1; null: it takes a number of points. */
  readonly factor: number | null;
}

export type CompiledDecays = readonly CompiledPeriod[];

const dayMs = 86_400_000;
/** Later times have no form on the log. */
const lastMs = Date.parse('9999-12-31T23:59:59.999Z');

/** Done once for each version of the rules. */
export function compileDecays(periods: readonly DecayPeriod[]): CompiledDecays {
  return periods.map((period) => ({
    period,
    intervalMs: period.interval_days * dayMs,
    sinceMs: Date.parse(period.since),
    untilMs: period.until === undefined ? lastMs : Date.parse(period.until),
    factor: factorOf(period),
  }));
}

function factorOf({ mode, percent = 0, half_life_days = 1, interval_days }: DecayPeriod): number | null {
  switch (mode) {
    case 'inactivity_points':
      return null;
    case 'percent_interval':
      return 1 - percent / 100;
    case 'half_life':
      return 2 ** (-interval_days / half_life_days);
  }
}

/** The earliest tick that takes points and is not recorded yet, whether its time has come or not; null: there is none. */
export function nextTick(lead: DecayingLead, decays: CompiledDecays): DecayTick | null {
  const { last_scored_at, decay = noDecay } = lead;
  if (last_scored_at === undefined) return null;
  const anchorMs = Date.parse(last_scored_at);
  const sinceMs = decay.since === undefined ? anchorMs : Math.max(anchorMs, Date.parse(decay.since));
  let next: (Loss & { compiled: CompiledPeriod; number: number; atMs: number }) | null = null;
  for (const compiled of decays) {
    const { period, intervalMs, untilMs } = compiled;
    if (untilMs <= sinceMs) continue;
    const recorded = decay.ticks?.find(({ rule_id }) => rule_id === period.rule_id);
    const doneMs = Math.max(sinceMs, compiled.sinceMs, recorded ? Date.parse(recorded.at) : sinceMs);
    const loss = lossOf(compiled, lead, recorded?.fraction ?? 0);
    if (!loss) continue;
    const number = Math.floor((doneMs - anchorMs) / intervalMs) + loss.ticks;
    const atMs = anchorMs + number * intervalMs;
    if (atMs > untilMs || (next && next.atMs <= atMs)) continue;
    next = { ...loss, compiled, number, atMs };
  }
  if (!next) return null;
  const { points, fraction, number } = next;
  return {
    period: next.compiled.period,
    at: new Date(next.atMs).toISOString(),
    number,
    points,
    ...(fraction !== 0 && { fraction }),
  };
}

const noDecay: LeadDecay = {};

interface Loss {
  /** Ticks until a whole point is lost. */
  ticks: number;
  points: number;
  fraction: number;
}

/** What the next ticks of a rule take; null: nothing, however many there are. */
function lossOf({ period, factor }: CompiledPeriod, lead: DecayingLead, carried: number): Loss | null {
  const { floor, ruleset_id, points = 0 } = period;
  const score = ruleset_id === undefined ? lead.score : rulesetScoreOf(lead, ruleset_id);
  // The score of a ruleset may be larger than the whole score, which stays in its range.
  const most = Math.min(score - floor, lead.score - smallestScore);
  if (most <= 0) return null;
  if (factor === null) return { ticks: 1, points: 0 - Math.min(-points, most), fraction: 0 };
  if (score <= 0) return null;
  const exact = score + carried;
  const ticks = ticksUntilBelow(score - 0.5, exact, factor);
  if (ticks === null) return null;
  const left = exact * factor ** ticks;
  const taken = score - Math.round(left);
  if (taken >= most) return { ticks, points: 0 - most, fraction: 0 };
  return { ticks, points: 0 - taken, fraction: rounded(left - Math.round(left)) };
}

function rulesetScoreOf({ rulesets }: DecayingLead, id: string): number {
  return rulesets.find(({ ruleset_id }) => ruleset_id === id)?.score ?? 0;
}

/** The number of ticks after which the exact score is rounded to less than the score; null: it never is. */
function ticksUntilBelow(bound: number, exact: number, factor: number): number | null {
  if (factor === 0) return 1;
  const isBelow = (ticks: number) => exact * factor ** ticks < bound;
  // The logarithm may be off by one.
  const estimate = Math.max(1, Math.floor(Math.log(bound / exact) / Math.log(factor)));
  for (let ticks = Math.max(1, estimate - 1); ticks <= estimate + 2; ticks += 1)
    if (isBelow(ticks)) return ticks;
  return null;
}

const decimals = 1e6;

function rounded(fraction: number): number {
  return Math.round(fraction * decimals) / decimals || 0;
}

/** The lead after a tick: the same as when the recorded tick is folded. */
export function afterTick<Lead extends DecayingLead>(lead: Lead, tick: DecayTick): Lead {
  const { period, at, points, fraction } = tick;
  const { rule_id, ruleset_id } = period;
  return {
    ...lead,
    score: lead.score + points,
    ...(ruleset_id !== undefined && { rulesets: withPoints(lead.rulesets, ruleset_id, points) }),
    decay: withTick(lead.decay, { rule_id, at, ...(fraction !== undefined && { fraction }) }),
  };
}

/** A ruleset that gave the lead nothing so far goes below zero where the floor of the rule is below. */
function withPoints(
  rulesets: DecayingLead['rulesets'],
  ruleset_id: string,
  points: number,
): DecayingLead['rulesets'] {
  if (!rulesets.some((one) => one.ruleset_id === ruleset_id))
    return [...rulesets, { ruleset_id, score: points }];
  return rulesets.map((one) => (one.ruleset_id === ruleset_id ? { ...one, score: one.score + points } : one));
}

/** Rules whose last ticks a lead remembers: more than an OU has. */
const maximumTicks = 50;

/** Replaces the last recorded tick of a rule. */
export function withTick(decay: LeadDecay | undefined, tick: RecordedTick): LeadDecay {
  const others = decay?.ticks?.filter(({ rule_id }) => rule_id !== tick.rule_id) ?? [];
  return { ...decay, ticks: [...others, tick].slice(-maximumTicks) };
}

/** Ticks up to a moment, in their order. @param maximum further ticks are left out */
export function ticksUpTo<Lead extends DecayingLead>(
  lead: Lead,
  decays: CompiledDecays,
  upTo: string,
  maximum = Infinity,
): { ticks: { tick: DecayTick; after: Lead }[]; lead: Lead } {
  const ticks: { tick: DecayTick; after: Lead }[] = [];
  let current = lead;
  while (ticks.length < maximum) {
    const tick = nextTick(current, decays);
    if (!tick || tick.at > upTo) break;
    current = afterTick(current, tick);
    ticks.push({ tick, after: current });
  }
  return { ticks, lead: current };
}
