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

interface ReferenceLead {
  score: number;
  entries: ReferenceEntry[];
  holds: Hold[];
  /** `before` and `holdsBefore`: the number of entries and holds before the reset, which count no more. */
  resets: { at: string; before: number; holdsBefore: number }[];
}

const largest = 2_147_483_647;
const smallest = -2_147_483_648;

/** The leads, rulesets and rules of one organisational unit. */
export class ReferenceScoring {
  readonly rules = new Map<string, ReferenceRule>();
  readonly rulesets = new Map<string, ReferenceRuleset>();
  readonly #leads = new Map<string, ReferenceLead>();

  /** An event of a lead is taken: every rule that is in force and matches gives its weight, as far as limits allow. */
  take(lead: string, event: ReferenceEvent, takenAt: string): void {
    const known = this.#leads.get(lead) ?? { score: 0, entries: [], holds: [], resets: [] };
    this.#leads.set(lead, known);
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
  }

  /** The score restarts from zero; entries stay, and count no more. */
  reset(lead: string, at: string): void {
    const known = this.#leads.get(lead);
    if (!known) return;
    known.score = 0;
    known.resets.push({ at, before: known.entries.length, holdsBefore: known.holds.length });
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
function countsFrom({ timestamp, taken_at }: ReferenceEntry | Hold): string {
  return timestamp < taken_at ? timestamp : taken_at;
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
