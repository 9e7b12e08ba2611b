// Why a lead has its score, computed from the decisions on its events. Pure.
import type { records, routeDeclarations } from '@lead-scoring/contracts';
import type { ScoringConfiguration } from './configuration.js';
import { contributeMatch, driversOf, type Contribution, type Contributions } from './contributions.js';
import { levelOf } from './levels.js';

type PublicScoreExplanation = routeDeclarations.PublicScoreExplanation;
type ScoreExplanation = routeDeclarations.ScoreExplanation;

/** A decision that gave points. */
export interface ExplainedDecision {
  decided_at: string;
  configuration_version: number;
  scored_events: readonly records.ScoredEvent[];
  adjustments?: readonly records.ScoreAdjustment[] | undefined;
}

export interface ExplainedLead {
  id: string;
  name: string;
  /** The score after all decisions on the lead, including those after the explained moment. */
  score: number;
}

export interface ExplanationRequest {
  /** The explained moment, ISO 8601 UTC with milliseconds. */
  at: string;
  range_hours: number;
}

/**
 * Whether a decision is needed to explain a score: it scored events, or changed the score without an event. Every service that
 * explains scores stores these.
 */
export function explainsScore({
  scored_events,
  previous_score,
  score,
}: Pick<records.LeadScored, 'scored_events' | 'previous_score' | 'score'>): boolean {
  return scored_events.length > 0 || previous_score !== score;
}

/** The moment of an explanation of now: every decision counts, also one of a machine whose clock is ahead of this one's. */
export function momentOfNow(decisions: readonly Pick<ExplainedDecision, 'decided_at'>[], now: Date): string {
  return decisions.reduce(
    (latest, { decided_at }) => (decided_at > latest ? decided_at : latest),
    now.toISOString(),
  );
}

const shownEntries = 1_000;
const shownDrivers = 1_000;

type Entry = ScoreExplanation['entries'][number];
type Adjustment = NonNullable<ScoreExplanation['adjustments']>[number];

/**
 * Explains a score as of a moment. Decisions whose `decided_at` is later do not count. Drivers and entries cover the
 * event times of the last `range_hours` before the moment.
 * @param decisions all decisions on the lead, in the order in which they were made
 * @param current the configuration now: describes the rules that gave the points
 * @param then the configuration in force at the moment: decides which rules counted and names the level of the score
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
  const { listed, later, entries, contributions, adjustments } = tallyOf(decisions, from, at);
  const score = lead.score - later;
  return {
    lead_id: lead.id,
    lead_name: lead.name,
    score,
    level: levelOf(then.levels, score),
    top_drivers: driversOf(contributions, current).slice(0, shownDrivers),
    ...(adjustments.size > 0 && { adjustments: [...adjustments.values()] }),
    snapshot: [...then.rules.values()]
      .filter((rule) => rule.active && then.rulesets.get(rule.ruleset_id)?.active === true)
      .map(({ event_type, weight }) => ({ event_type, weight })),
    decay_applied: 0,
    range_hours,
    at,
    unattributed: score - listed,
    entries: newestFirst(entries).slice(0, shownEntries),
    entries_total: entries.length,
  };
}

/** What the decisions on a lead gave it until the explained moment, and after. */
interface Tally {
  /** Points of all decisions up to the moment. */
  listed: number;
  /** Points of the decisions after the moment. */
  later: number;
  /** The matches in the range, in the order of the decisions. */
  entries: Entry[];
  contributions: Contributions;
  adjustments: ReadonlyMap<string, Adjustment>;
}

/**
 * @param from the beginning of the range; earlier events give points, and no entries
 * @param at the explained moment
 */
function tallyOf(decisions: readonly ExplainedDecision[], from: string, at: string): Tally {
  let listed = 0;
  let later = 0;
  const entries: Entry[] = [];
  const contributions = new Map<string, Contribution>();
  const adjustments = new Map<string, Adjustment>();
  for (const decision of decisions) {
    const counts = decision.decided_at <= at;
    for (const { reason, points } of decision.adjustments ?? []) {
      if (!counts) later += points;
      else {
        listed += points;
        if (decision.decided_at >= from) addAdjustment(adjustments, reason, points, decision.decided_at);
      }
    }
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
  return { listed, later, entries, contributions, adjustments };
}

/** Sorts by the times of the events; of two events of one time the later decision comes first. */
function newestFirst(entries: readonly Entry[]): Entry[] {
  return entries
    .map((entry, index) => ({ entry, index }))
    .sort((a, b) =>
      a.entry.timestamp === b.entry.timestamp
        ? b.index - a.index
        : a.entry.timestamp < b.entry.timestamp
          ? 1
          : -1,
    )
    .map(({ entry }) => entry);
}

function addAdjustment(
  to: Map<string, Adjustment>,
  reason: records.ScoreAdjustment['reason'],
  points: number,
  last_at: string,
): void {
  const known = to.get(reason) ?? { reason, count: 0, points: 0, last_at };
  to.set(reason, {
    reason,
    count: known.count + 1,
    points: known.points + points,
    last_at: last_at > known.last_at ? last_at : known.last_at,
  });
}

/** The part of an explanation that anyone with a share link may see (SPEC.md, Score explanation, public form). */
export function publicExplanation(explanation: ScoreExplanation): PublicScoreExplanation {
  const { lead_name, score, top_drivers, adjustments, snapshot, decay_applied, range_hours } = explanation;
  return {
    lead_name,
    score,
    top_drivers: top_drivers.map(({ rule_id, event_type, count, weight, total, filter_label, label }) => ({
      rule_id,
      event_type,
      count,
      weight,
      total,
      ...(filter_label !== undefined && { filter_label }),
      ...(label !== undefined && { label }),
    })),
    ...(adjustments && { adjustments }),
    snapshot,
    decay_applied,
    range_hours,
  };
}
