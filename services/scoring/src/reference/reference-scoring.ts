// The whole of scoring written a second time, for tests: plain and slow, from SPEC.md and API.md and not from the code. It keeps every
// happening, and answers each question from the first one on. It imports nothing of the service.

/** A rule as a person has set it. */
export interface ReferenceRule {
  id: string;
  ruleset: string;
  event_type: string;
  weight: number;
  /** The rule takes only events whose path contains this text, whatever the case. */
  path_contains?: string;
  active: boolean;
  /** Events from this time on. */
  starts_at?: string;
  /** Events before this time. */
  ends_at?: string;
  max_count?: number;
  /** `value:path`: once for each path, whatever the case. */
  once_per?: 'event' | 'lead' | 'value:path';
  cap_points?: number;
  cap_days?: number;
}

/** A ruleset as a person has set it. */
export interface ReferenceRuleset {
  active: boolean;
  min_score?: number | null;
  max_score?: number | null;
}

/** What a decay rule does, as a person has set it. */
export interface ReferenceDecay {
  id: string;
  mode: 'inactivity_points' | 'percent_interval' | 'half_life';
  /** Points (negative), per cent, or days. */
  amount: number;
  interval_days: number;
  /** Absent: the whole score. */
  ruleset?: string;
  floor: number;
}

/** A time in which a decay rule was in force with the same settings. */
interface Stretch {
  decay: ReferenceDecay;
  since: string;
  until: string;
}

export interface ReferenceEvent {
  id: string;
  event_type: string;
  /** The event's own time. */
  timestamp: string;
  path?: string;
}

/** Points that a lead was given, and why. */
export interface ReferenceEntry {
  points: number;
  /** What limits of the rule left of the points. */
  counted: number;
  rule: string;
  ruleset: string;
  event: string;
  path: string;
  /** The event's own time. */
  timestamp: string;
  /** When the system took the event. */
  taken_at: string;
}

/** What limits of a ruleset did to its points. */
interface Hold {
  ruleset: string;
  points: number;
  timestamp: string;
  taken_at: string;
}

/** What a tick of a decay rule took. */
interface Fading {
  decay: string;
  ruleset: string | undefined;
  points: number;
  /** The time of the tick. */
  timestamp: string;
  taken_at: string;
}

interface ReferenceLead {
  score: number;
  entries: ReferenceEntry[];
  holds: Hold[];
  fadings: Fading[];
  /** The time of the last event that a rule took, and when the system took it. */
  last: { event: string; taken_at: string } | null;
  /** Ticks until then are decided. */
  passed: string;
  /** For each decay rule its last tick that took something, and the part of a point that it left. */
  left: Map<string, { at: string; part: number }>;
  /** The number of entries, holds and fadings before the reset, which count no more. */
  resets: { at: string; before: number; holdsBefore: number; fadingsBefore: number }[];
}

const largest = 2_147_483_647;
const smallest = -2_147_483_648;

/** The leads, rulesets and rules of one organisational unit. */
export class ReferenceScoring {
  readonly rules = new Map<string, ReferenceRule>();
  readonly rulesets = new Map<string, ReferenceRuleset>();
  readonly #leads = new Map<string, ReferenceLead>();
  readonly #stretches: Stretch[] = [];

  /** An event of a lead is taken: every rule that is in force and matches gives its weight, as far as limits allow. */
  take(lead: string, event: ReferenceEvent, takenAt: string): void {
    const known = this.#leads.get(lead) ?? newLead();
    this.#leads.set(lead, known);
    this.pass(lead, takenAt);
    const sumsBefore = this.rulesetScores(lead);
    const taken: ReferenceEntry[] = [];
    for (const rule of this.rules.values()) {
      if (!rule.active || this.rulesets.get(rule.ruleset)?.active !== true || !matches(rule, event)) continue;
      taken.push({
        points: rule.weight,
        counted: countedOf(rule, event, this.entries(lead)),
        rule: rule.id,
        ruleset: rule.ruleset,
        event: event.id,
        path: pathOf(event),
        timestamp: event.timestamp,
        taken_at: takenAt,
      });
    }
    let reached = known.score;
    for (const { counted } of taken) reached += counted;
    for (const [name, ruleset] of this.rulesets) {
      const sumBefore = sumsBefore.get(name) ?? 0;
      let change = 0;
      for (const { counted, ruleset: own } of taken) if (own === name) change += counted;
      let after = sumBefore + change;
      const highest = ruleset.max_score ?? Infinity;
      const lowest = ruleset.min_score ?? -Infinity;
      // Beyond a limit that came later, the sum goes no further.
      if (change > 0 && after > highest) after = sumBefore > highest ? sumBefore : highest;
      if (change < 0 && after < lowest) after = sumBefore < lowest ? sumBefore : lowest;
      if (after === sumBefore + change) continue;
      known.holds.push({
        ruleset: name,
        points: after - sumBefore - change,
        timestamp: event.timestamp,
        taken_at: takenAt,
      });
      reached += after - sumBefore - change;
    }
    known.entries.push(...taken);
    known.score = held(reached);
    if (taken.length === 0) return;
    const moment = event.timestamp < takenAt ? event.timestamp : takenAt;
    const latest = known.last && known.last.event > moment ? known.last.event : moment;
    known.last = { event: latest, taken_at: takenAt };
    known.left.clear();
  }

  /** A decay rule is in force from now on. */
  startDecay(decay: ReferenceDecay, at: string): void {
    this.#stretches.push({ decay, since: at, until: endOfTime });
  }

  /** It is not any more, or not with these settings. */
  endDecay(id: string, at: string): void {
    for (const stretch of this.#stretches)
      if (stretch.decay.id === id && stretch.until === endOfTime) stretch.until = at;
  }

  /** Time passes for a lead: every tick up to now takes what it takes. */
  pass(lead: string, now: string): void {
    const known = this.#leads.get(lead);
    if (!known?.last) return;
    const { event, taken_at } = known.last;
    const begin = [event, taken_at, known.resets.at(-1)?.at ?? ''].sort().at(-1) ?? '';
    const ticks = this.#stretches
      .map((stretch) => ({
        stretch,
        times: ticksOf(stretch.decay, event, now).filter(
          (time) => time > begin && time > stretch.since && time <= stretch.until,
        ),
      }))
      .flatMap(({ stretch, times }) => times.map((time) => ({ stretch, times, time })))
      .filter(({ time }) => time > known.passed)
      .sort((a, b) =>
        a.time === b.time ? (a.stretch.decay.id < b.stretch.decay.id ? -1 : 1) : a.time < b.time ? -1 : 1,
      );
    for (const { stretch, times, time } of ticks) {
      const last = known.left.get(stretch.decay.id)?.at ?? '';
      const count = times.filter((one) => one > last && one <= time).length;
      this.#fade(lead, stretch.decay, { count, time, now });
    }
    if (now > known.passed) known.passed = now;
  }

  #fade(
    lead: string,
    decay: ReferenceDecay,
    { count, time, now }: { count: number; time: string; now: string },
  ): void {
    const known = this.#leads.get(lead);
    if (!known) return;
    const { id, mode, amount, interval_days, ruleset, floor } = decay;
    const score = ruleset === undefined ? known.score : (this.rulesetScores(lead).get(ruleset) ?? 0);
    const most = Math.min(score - floor, known.score - smallest);
    if (most <= 0) return;
    let taken = Math.min(most, -amount);
    let part = 0;
    if (mode !== 'inactivity_points') {
      if (score <= 0) return;
      const factor = mode === 'half_life' ? 2 ** (-interval_days / amount) : 1 - amount / 100;
      const exact = (score + (known.left.get(id)?.part ?? 0)) * factor ** count;
      taken = score - Math.round(exact);
      if (taken < most) part = Math.round((exact - Math.round(exact)) * 1e6) / 1e6 || 0;
      else taken = most;
      if (taken <= 0) return;
    }
    known.score -= taken;
    known.left.set(id, { at: time, part });
    known.fadings.push({ decay: id, ruleset, points: -taken, timestamp: time, taken_at: now });
  }

  /** What decay took since the last reset, up to a moment. */
  faded(lead: string, until = endOfTime, knownAt = endOfTime): number {
    const counts = (of: Fading) => countsFrom(of) <= until && of.taken_at <= knownAt;
    return this.#fadings(lead, until < knownAt ? until : knownAt)
      .filter(counts)
      .reduce((sum, { points }) => sum + points, 0);
  }

  #fadings(lead: string, until = endOfTime): readonly Fading[] {
    const { fadings = [], resets = [] } = this.#leads.get(lead) ?? {};
    return fadings.slice(resets.findLast(({ at }) => at <= until)?.fadingsBefore ?? 0);
  }

  /** The score restarts from zero; entries stay, and count no more. */
  reset(lead: string, at: string): void {
    const known = this.#leads.get(lead);
    if (!known) return;
    this.pass(lead, at);
    known.score = 0;
    known.left.clear();
    known.resets.push({
      at,
      before: known.entries.length,
      holdsBefore: known.holds.length,
      fadingsBefore: known.fadings.length,
    });
  }

  delete(lead: string): void {
    this.#leads.delete(lead);
  }

  leads(): string[] {
    return [...this.#leads.keys()];
  }

  /** The score; null for a lead that does not exist. */
  score(lead: string): number | null {
    return this.#leads.get(lead)?.score ?? null;
  }

  /** The entries since the last reset up to a moment. */
  entries(lead: string, until = endOfTime): readonly ReferenceEntry[] {
    const known = this.#leads.get(lead);
    if (!known) return [];
    return known.entries.slice(known.resets.findLast(({ at }) => at <= until)?.before ?? 0);
  }

  /** What limits of rulesets did since the last reset up to a moment. */
  #holds(lead: string, until = endOfTime): readonly Hold[] {
    const { holds = [], resets = [] } = this.#leads.get(lead) ?? {};
    return holds.slice(resets.findLast(({ at }) => at <= until)?.holdsBefore ?? 0);
  }

  /** The score of each ruleset that gave the lead points; held in the same range as the score itself. */
  rulesetScores(lead: string): Map<string, number> {
    const scores = new Map<string, number>();
    for (const { ruleset, counted } of this.entries(lead))
      scores.set(ruleset, held((scores.get(ruleset) ?? 0) + counted));
    for (const { ruleset, points } of this.#holds(lead))
      scores.set(ruleset, (scores.get(ruleset) ?? 0) + points);
    for (const { ruleset, points } of this.#fadings(lead))
      if (ruleset !== undefined) scores.set(ruleset, (scores.get(ruleset) ?? 0) + points);
    return scores;
  }

  /** What limits held back, by rule and by ruleset; up to a moment of the events, where one is named. */
  heldBack(lead: string, until = endOfTime, knownAt = endOfTime): Map<string, number> {
    const points = new Map<string, number>();
    const add = (name: string, more: number) => points.set(name, (points.get(name) ?? 0) + more);
    const counts = (of: ReferenceEntry | Hold) => countsFrom(of) <= until && of.taken_at <= knownAt;
    const from = until < knownAt ? until : knownAt;
    for (const entry of this.entries(lead, from))
      if (counts(entry) && entry.counted !== entry.points) add(entry.rule, entry.counted - entry.points);
    for (const hold of this.#holds(lead, from)) if (counts(hold)) add(hold.ruleset, hold.points);
    return points;
  }

  /** The points of each rule that gave the lead any; up to a moment of the events, where one is named. */
  byRule(lead: string, until = endOfTime, knownAt = endOfTime): Map<string, number> {
    const points = new Map<string, number>();
    for (const entry of this.entries(lead, until < knownAt ? until : knownAt))
      if (countsFrom(entry) <= until && entry.taken_at <= knownAt)
        points.set(entry.rule, (points.get(entry.rule) ?? 0) + entry.points);
    return points;
  }

  /** Whether no score of the lead can have been held at the end of the range: its score is the plain sum of the points. */
  isPlainSum(lead: string): boolean {
    const { entries = [] } = this.#leads.get(lead) ?? {};
    let moved = 0;
    for (const { points } of entries) moved += Math.abs(points);
    return held(moved) === moved;
  }
}

const endOfTime = '9999-12-31T23:59:59.999Z';

/** An event counts from its own time on, and from when the system took it if its time is later. */
function countsFrom({ timestamp, taken_at }: ReferenceEntry | Hold | Fading): string {
  return timestamp < taken_at ? timestamp : taken_at;
}

function newLead(): ReferenceLead {
  return {
    score: 0,
    entries: [],
    holds: [],
    fadings: [],
    last: null,
    passed: '',
    left: new Map(),
    resets: [],
  };
}

/** All ticks after the event, until now. */
function ticksOf({ interval_days }: ReferenceDecay, event: string, now: string): string[] {
  const ticks: string[] = [];
  for (let days = interval_days; ; days += interval_days) {
    const time = new Date(Date.parse(event) + days * 86_400_000).toISOString();
    if (time > now) return ticks;
    ticks.push(time);
  }
}

function matches(rule: ReferenceRule, event: ReferenceEvent): boolean {
  if (rule.event_type !== event.event_type) return false;
  if (rule.starts_at !== undefined && event.timestamp < rule.starts_at) return false;
  if (rule.ends_at !== undefined && event.timestamp >= rule.ends_at) return false;
  if (rule.path_contains === undefined) return true;
  return event.path?.toLowerCase().includes(rule.path_contains.toLowerCase()) === true;
}

/** What counts of the rule's weight for the event, after all earlier events of the lead. */
function countedOf(rule: ReferenceRule, event: ReferenceEvent, entries: readonly ReferenceEntry[]): number {
  const earlier = entries.filter((entry) => entry.rule === rule.id && entry.counted !== 0);
  if (rule.once_per === 'lead' && earlier.length >= 1) return 0;
  if (rule.max_count !== undefined && earlier.length >= rule.max_count) return 0;
  if (rule.once_per === 'value:path' && earlier.some(({ path }) => path === pathOf(event))) return 0;
  if (rule.cap_points === undefined) return rule.weight;
  const sumBetween = (first: number, last: number) =>
    earlier
      .filter(({ timestamp }) => dayOf(timestamp) >= first && dayOf(timestamp) <= last)
      .reduce((sum, { counted }) => sum + Math.abs(counted), 0);
  let used = sumBetween(-Infinity, Infinity);
  if (rule.cap_days !== undefined) {
    // Every stretch of so many days that has the event's day in it.
    used = 0;
    const day = dayOf(event.timestamp);
    for (let first = day - rule.cap_days + 1; first <= day; first += 1)
      used = Math.max(used, sumBetween(first, first + rule.cap_days - 1));
  }
  const room = Math.max(0, rule.cap_points - used);
  return rule.weight > 0 ? Math.min(rule.weight, room) : -Math.min(-rule.weight, room) || 0;
}

function dayOf(timestamp: string): number {
  return Math.floor(Date.parse(timestamp) / 86_400_000);
}

function pathOf({ path }: ReferenceEvent): string {
  return path?.toLowerCase() ?? 'no path';
}

/** A score is a whole number of 32 bits; beyond them it stays at the last one. */
function held(score: number): number {
  return Math.max(smallest, Math.min(largest, score));
}
