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
  rule: string;
  ruleset: string;
  event: string;
  /** The event's own time. */
  timestamp: string;
  /** When the system took the event. */
  taken_at: string;
}

interface ReferenceLead {
  score: number;
  entries: ReferenceEntry[];
  /** `before`: the number of entries before the reset, which count no more. */
  resets: { at: string; before: number }[];
}

const largest = 2_147_483_647;
const smallest = -2_147_483_648;

/** The leads, rulesets and rules of one organisational unit. */
export class ReferenceScoring {
  readonly rules = new Map<string, ReferenceRule>();
  readonly activeRulesets = new Map<string, boolean>();
  readonly #leads = new Map<string, ReferenceLead>();

  /** An event of a lead is taken: every rule that is in force and matches gives its weight. */
  take(lead: string, event: ReferenceEvent, takenAt: string): void {
    const known = this.#leads.get(lead) ?? { score: 0, entries: [], resets: [] };
    this.#leads.set(lead, known);
    let reached = known.score;
    for (const rule of this.rules.values()) {
      if (!rule.active || this.activeRulesets.get(rule.ruleset) !== true || !matches(rule, event)) continue;
      reached += rule.weight;
      known.entries.push({
        points: rule.weight,
        rule: rule.id,
        ruleset: rule.ruleset,
        event: event.id,
        timestamp: event.timestamp,
        taken_at: takenAt,
      });
    }
    known.score = held(reached);
  }

  /** The score restarts from zero; entries stay, and count no more. */
  reset(lead: string, at: string): void {
    const known = this.#leads.get(lead);
    if (!known) return;
    known.score = 0;
    known.resets.push({ at, before: known.entries.length });
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

  /** The score of each ruleset that gave the lead points; held in the same range as the score itself. */
  rulesets(lead: string): Map<string, number> {
    const scores = new Map<string, number>();
    for (const { ruleset, points } of this.entries(lead))
      scores.set(ruleset, held((scores.get(ruleset) ?? 0) + points));
    return scores;
  }

  /** The points of each rule that gave the lead any; up to a moment of the events, where one is named. */
  byRule(lead: string, until = endOfTime, knownAt = endOfTime): Map<string, number> {
    const points = new Map<string, number>();
    for (const entry of this.entries(lead, until < knownAt ? until : knownAt))
      if (countsFrom(entry) <= until && entry.taken_at <= knownAt)
        points.set(entry.rule, (points.get(entry.rule) ?? 0) + entry.points);
    return points;
  }

  /** Whether no score of the lead was ever held at the end of the range: its score is the plain sum of the points. */
  isPlainSum(lead: string): boolean {
    const { entries = [], resets = [] } = this.#leads.get(lead) ?? {};
    let sum = 0;
    for (const [index, { points }] of entries.entries()) {
      if (resets.some(({ before }) => before === index)) sum = 0;
      sum += points;
      if (held(sum) !== sum) return false;
    }
    return true;
  }
}

const endOfTime = '9999-12-31T23:59:59.999Z';

/** An event counts from its own time on, and from when the system took it if its time is later. */
function countsFrom({ timestamp, taken_at }: ReferenceEntry): string {
  return timestamp < taken_at ? timestamp : taken_at;
}

function matches(rule: ReferenceRule, event: ReferenceEvent): boolean {
  if (rule.event_type !== event.event_type) return false;
  if (rule.starts_at !== undefined && event.timestamp < rule.starts_at) return false;
  if (rule.ends_at !== undefined && event.timestamp >= rule.ends_at) return false;
  if (rule.path_contains === undefined) return true;
  return event.path?.toLowerCase().includes(rule.path_contains.toLowerCase()) === true;
}

/** A score is a whole number of 32 bits; beyond them it stays at the last one. */
function held(score: number): number {
  return Math.max(smallest, Math.min(largest, score));
}
