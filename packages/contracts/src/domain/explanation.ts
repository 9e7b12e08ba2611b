// Why a lead has its score: put together from the decisions on its events. Pure.
import type { ScoredEvent } from '../records/scoring.js';
import type { PublicScoreExplanation } from '../routes/shares.js';
import type { ScoreExplanation } from '../routes/leads.js';
import { levelOf } from './levels.js';
import type { ScoringConfiguration } from './scoring-configuration.js';

/** A decision that gave points. */
export interface ExplainedDecision {
  decided_at: string;
  configuration_version: number;
  scored_events: readonly ScoredEvent[];
}

export interface ExplainedLead {
  id: string;
  name: string;
  /** All decisions on the lead count in it, also those after the moment that is explained. */
  score: number;
}

export interface ExplanationRequest {
  /** The moment, ISO 8601 UTC with milliseconds. */
  at: string;
  range_hours: number;
}

const shownEntries = 1_000;

type Entry = ScoreExplanation['entries'][number];
type Driver = ScoreExplanation['top_drivers'][number];

/**
 * The explanation as of a moment: a decision counts from its decided_at on. Drivers and entries cover event times
 * from `range_hours` before the moment on.
 * @param decisions all of the lead's, in the order in which they were made
 * @param current the configuration now: says what the rules are that gave the points
 * @param then the configuration that was in force at the moment: says what counted, and what the score was called
 */
export function explainScore(
  lead: ExplainedLead,
  decisions: readonly ExplainedDecision[],
  current: ScoringConfiguration,
  then: ScoringConfiguration,
  { at, range_hours }: ExplanationRequest,
): ScoreExplanation {
  const from = new Date(
    Math.max(Date.parse(at) - range_hours * 3_600_000, -62_167_219_200_000),
  ).toISOString();
  let listed = 0;
  let later = 0;
  const entries: Entry[] = [];
  const contributions = new Map<string, Contribution>();
  for (const decision of decisions) {
    const counts = decision.decided_at <= at;
    for (const { event_id, event_type, timestamp, matches } of decision.scored_events)
      for (const match of matches) {
        const { rule_id, rule_version, points } = match;
        if (!counts) {
          later += points;
          continue;
        }
        listed += points;
        if (timestamp < from) continue;
        contributeMatch(contributions, event_type, match);
        entries.push({
          event_id,
          event_type,
          timestamp,
          scored_at: decision.decided_at,
          rule_id,
          rule_version,
          points,
          configuration_version: decision.configuration_version,
        });
      }
  }
  const score = lead.score - later;
  return {
    lead_id: lead.id,
    lead_name: lead.name,
    score,
    level: levelOf(then.levels, score),
    top_drivers: driversOf(contributions, current),
    snapshot: [...then.rules.values()]
      .filter((rule) => rule.active && then.rulesets.get(rule.ruleset_id)?.active === true)
      .map(({ event_type, weight }) => ({ event_type, weight })),
    decay_applied: 0,
    range_hours,
    at,
    unattributed: score - listed,
    entries: entries
      .map((entry, index) => ({ entry, index }))
      .sort((a, b) =>
        a.entry.timestamp === b.entry.timestamp
          ? b.index - a.index
          : a.entry.timestamp < b.entry.timestamp
            ? 1
            : -1,
      )
      .slice(0, shownEntries)
      .map(({ entry }) => entry),
    entries_total: entries.length,
  };
}

/** What a rule gave a lead. */
export interface Contribution {
  /** Of the first event that it matched. */
  event_type: string;
  count: number;
  /** Points of the first match. */
  weight: number;
  total: number;
  /** The highest that matched. */
  rule_version: number;
}

/** By rule, in the order of their first matches. */
export type Contributions = ReadonlyMap<string, Contribution>;

/** Adds what a rule gave after what is there. */
export function contribute(to: Map<string, Contribution>, rule_id: string, more: Contribution): void {
  const { count, total, rule_version } = more;
  const known = to.get(rule_id);
  to.set(
    rule_id,
    known
      ? {
          ...known,
          count: known.count + count,
          total: known.total + total,
          rule_version: Math.max(known.rule_version, rule_version),
        }
      : more,
  );
}

/** Adds what a rule gave for one event. */
export function contributeMatch(
  to: Map<string, Contribution>,
  event_type: string,
  { rule_id, rule_version, points }: ScoredEvent['matches'][number],
): void {
  contribute(to, rule_id, { event_type, count: 1, weight: points, total: points, rule_version });
}

/**
 * What each rule gave, the largest contribution of either sign first.
 * @param configuration says what the rules are
 */
export function driversOf(contributions: Contributions, configuration: ScoringConfiguration): Driver[] {
  return [...contributions]
    .map(([rule_id, { event_type, count, weight, total, rule_version }]): Driver => {
      const rule = configuration.rules.get(rule_id);
      return {
        rule_id,
        event_type: rule?.event_type ?? event_type,
        count,
        weight,
        total,
        ...(rule?.filter_label !== undefined && { filter_label: rule.filter_label }),
        ...(rule?.label !== undefined && { label: rule.label }),
        rule_version,
      };
    })
    .sort(
      (a, b) =>
        Math.abs(b.total) - Math.abs(a.total) || b.count - a.count || (a.rule_id < b.rule_id ? -1 : 1),
    );
}

/** What of an explanation anybody may see who has a link (SPEC.md, Score explanation, public form). */
export function publicExplanation(explanation: ScoreExplanation): PublicScoreExplanation {
  const { lead_name, score, top_drivers, snapshot, decay_applied, range_hours } = explanation;
  return {
    lead_name,
    score,
    top_drivers: top_drivers.map(({ rule_id, event_type, count, weight, total, filter_label }) => ({
      rule_id,
      event_type,
      count,
      weight,
      total,
      ...(filter_label !== undefined && { filter_label }),
    })),
    snapshot,
    decay_applied,
    range_hours,
  };
}
