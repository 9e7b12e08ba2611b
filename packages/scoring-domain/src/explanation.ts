// Why a lead has its score, computed from the decisions on its events. A moment is named on one of two clocks: that of the events,
// which an imported past has as well, or that of the system, which says what was known. Pure.
import { jobIdOf, type records, type routeDeclarations } from '@lead-scoring/contracts';
import type { ScoringConfiguration } from './configuration.js';
import { contributeMatch, driversOf, rescoredContributions, type Contribution } from './contributions.js';
import { withoutDeletedEvents } from './deleted-events.js';
import { DecayTally } from './decays/decay-tally.js';
import { AdjustmentTally } from './explained-adjustments.js';
import { levelOf } from './levels.js';
import { momentOfAdjustments, momentOfEvent, startOfRange } from './moments.js';
import { heldInRange } from './score-range.js';
import { resetsScore } from './score-decision.js';
import { isOfEvents, pointsOfEvent } from './scored-points.js';

type PublicScoreExplanation = routeDeclarations.PublicScoreExplanation;
type ScoreExplanation = routeDeclarations.ScoreExplanation;

/** A decision that gave points. */
export interface ExplainedDecision {
  decided_at: string;
  /** The moment of the events' clock that a decision without an event is about; absent: `decided_at`. */
  as_of?: string | undefined;
  configuration_version: number;
  scored_events: readonly records.ScoredEvent[];
  adjustments?: readonly records.ScoreAdjustment[] | undefined;
  /** Of a decision that has put a score that was computed anew in the place of the one of before. */
  rescored?: records.Rescored | undefined;
  /** Of such a decision that was made because events were deleted. */
  deleted?: records.ScoreAdjusted['deleted'];
  /** Where the record that was decided is on ingest.events. */
  source?: records.LeadScored['source'];
}

export interface ExplainedLead {
  id: string;
  name: string;
  /** The score after all decisions on the lead, including those after the explained moment. */
  score: number;
}

export interface ExplanationRequest {
  /** The explained moment by the clock of the events, ISO 8601 UTC with milliseconds. */
  at: string;
  /** Decisions after this moment of the system's clock do not count; absent: all decisions count. */
  known_at?: string | undefined;
  range_hours: number;
}

/**
 * The moment of an explanation of now: every decision counts, also one of a machine whose clock is ahead of this one's. No event
 * counts later than the decision on it, so this is a moment of both clocks.
 */
export function momentOfNow(decisions: readonly Pick<ExplainedDecision, 'decided_at'>[], now: Date): string {
  return decisions.reduce(
    (latest, { decided_at }) => (decided_at > latest ? decided_at : latest),
    now.toISOString(),
  );
}

const shownEntries = 1_000;
const shownDrivers = 1_000;
const shownAdjustments = 1_000;

type Entry = ScoreExplanation['entries'][number];

/**
 * Explains a score as of a moment of the events' clock, from the decisions that were known at a moment of the system's clock. An
 * event counts from its own time on (`momentOfEvent`), whenever it was decided. Drivers, adjustments and entries cover the last
 * `range_hours` before the moment; drivers and adjustments begin anew with a reset of the score, and with a rescoring, whose points count
 * from the moment at which they came into force.
 * @param decisions all decisions on the lead, in the order in which they were made
 * @param current the configuration now: describes the rules that gave the points
 * @param then the configuration in force at `known_at`, or now: decides which rules count and names the level of the score
 */
export function explainScore(
  lead: ExplainedLead,
  decisions: readonly ExplainedDecision[],
  current: ScoringConfiguration,
  then: ScoringConfiguration,
  { at, known_at, range_hours }: ExplanationRequest,
): ScoreExplanation {
  const tally = new Tally({ from: startOfRange({ at, range_hours }), at, known_at });
  for (const decision of withoutDeletedEvents(decisions)) tally.add(decision);
  const { counted, others, entries, contributions, adjustments, decays, resetAt, rescored } = tally;
  // In the order of the events' times the points may add up to a score that there is not.
  const score = heldInRange(lead.score - others);
  const held = score - (lead.score - others);
  if (held !== 0)
    adjustments.add(
      { reason: held < 0 ? 'held_at_largest_score' : 'held_at_smallest_score', points: held },
      at,
    );
  const adjusted = adjustments.inWords(contributions, current).slice(0, shownAdjustments);
  return {
    lead_id: lead.id,
    lead_name: lead.name,
    score,
    level: levelOf(then.levels, score),
    top_drivers: driversOf(contributions, current).slice(0, shownDrivers),
    ...(adjusted.length > 0 && { adjustments: adjusted }),
    snapshot: [...then.rules.values()]
      .filter((rule) => rule.active && then.rulesets.get(rule.ruleset_id)?.active === true)
      .map(({ event_type, weight }) => ({ event_type, weight })),
    ...decays.explained(current),
    range_hours,
    at,
    ...(known_at !== undefined && { known_at }),
    ...(resetAt !== undefined && { score_reset_at: resetAt }),
    ...(rescored && { rescored }),
    unattributed: score - counted - held,
    entries: newestFirst(entries).slice(0, shownEntries),
    entries_total: entries.length,
  };
}

/** The points that decisions gave a lead: those that count at the explained moment, and the others. */
class Tally {
  /** Points that count. */
  counted = 0;
  /** Points that count later, or were not known yet. */
  others = 0;
  /** The matches in the range, in the order of the decisions. */
  readonly entries: Entry[] = [];
  /** In the range, since the last reset. */
  readonly contributions = new Map<string, Contribution>();
  readonly adjustments = new AdjustmentTally();
  readonly decays = new DecayTally();
  /** The moment of the last reset that counts. */
  resetAt: string | undefined;
  /** The last rescoring that counts, since the last reset. */
  rescored: ScoreExplanation['rescored'];
  /** The latest `decided_at` so far. */
  #latest = '';

  constructor(private readonly period: TallyPeriod) {}

  add(decision: ExplainedDecision): void {
    const { known_at } = this.period;
    const { decided_at, scored_events, adjustments = [] } = decision;
    if (decided_at > this.#latest) this.#latest = decided_at;
    if (resetsScore(decision)) {
      this.#reset(decision);
      return;
    }
    if (decision.rescored?.engagement) {
      this.#rescore(decision, decision.rescored, decision.rescored.engagement);
      return;
    }
    const isKnown = known_at === undefined || decided_at <= known_at;
    const adjusted = adjustments.length > 0 ? momentOfAdjustments(decision) : '';
    for (const adjustment of adjustments)
      if (!isOfEvents(adjustment) && this.#count(adjustment.points, adjusted, isKnown)) {
        if (adjustment.reason === 'decay') this.decays.add(adjustment, decision, adjusted);
        else this.adjustments.add(adjustment, adjusted);
      }
    for (const event of scored_events) {
      const moment = momentOfEvent(event, decision);
      if (!this.#count(pointsOfEvent(event), moment, isKnown)) continue;
      this.adjustments.addEvent(event, moment);
      for (const match of event.matches) {
        contributeMatch(this.contributions, event.event_type, match);
        this.entries.push(entryOf(decision, event, match));
      }
    }
  }

  /** Counts points; returns whether they belong into the range. */
  #count(points: number, moment: string, isKnown: boolean): boolean {
    const counts = isKnown && moment <= this.period.at;
    if (counts) this.counted += points;
    else this.others += points;
    return counts && moment >= this.period.from;
  }

  /** A reset takes back what was decided before it, also what the clock of another machine dates later. */
  #reset({ decided_at, adjustments = [] }: ExplainedDecision): void {
    const { at, known_at } = this.period;
    const isKnown = known_at === undefined || this.#latest <= known_at;
    for (const { points } of adjustments) this.#count(points, this.#latest, isKnown);
    if (!isKnown || this.#latest > at) return;
    this.resetAt = decided_at;
    this.rescored = undefined;
    this.contributions.clear();
    this.adjustments.clear();
    this.decays.reset();
    for (const entry of this.entries) entry.before_reset = true;
  }

  /** A rescoring takes the place of what was decided before it, like a reset, and has points of its own. */
  #rescore(
    { decided_at, adjustments = [], deleted }: ExplainedDecision,
    { job_id }: records.Rescored,
    engagement: records.RescoredEngagement,
  ): void {
    const { at, from, known_at } = this.period;
    const moment = this.#latest;
    const isKnown = known_at === undefined || moment <= known_at;
    for (const { points } of adjustments) this.#count(points, moment, isKnown);
    if (!isKnown || moment > at) return;
    const job = jobIdOf(deleted ? 'ingest' : 'scoring', job_id);
    this.rescored = { job_id: job, at: decided_at };
    this.contributions.clear();
    this.adjustments.clear();
    this.decays.replaced(job);
    for (const entry of this.entries) entry.replaced_by ??= job;
    if (moment < from) return;
    for (const [name, contribution] of rescoredContributions(engagement))
      this.contributions.set(name, contribution);
    this.adjustments.addRescored(engagement, decided_at);
  }
}

interface TallyPeriod {
  /** The beginning of the range; what counts from an earlier moment on gives points, and no entries. */
  from: string;
  at: string;
  known_at: string | undefined;
}

function entryOf(
  { decided_at, configuration_version }: ExplainedDecision,
  { event_id, event_type, timestamp }: records.ScoredEvent,
  { rule_id, rule_version, points, counted_points }: records.ScoredEvent['matches'][number],
): Entry {
  return {
    event_id,
    event_type,
    timestamp,
    scored_at: decided_at,
    rule_id,
    rule_version,
    points,
    ...(counted_points !== undefined && { counted_points }),
    configuration_version,
  };
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

/** The part of an explanation that anyone with a share link may see (SPEC.md, Score explanation, public form). */
export function publicExplanation(explanation: ScoreExplanation): PublicScoreExplanation {
  const { lead_name, score, top_drivers, adjustments, snapshot, decay_applied, range_hours } = explanation;
  const { score_type, profile_entries, deal_entries, entries_total, account } = explanation;
  return {
    lead_name,
    ...(score_type !== undefined && { score_type }),
    score,
    top_drivers: top_drivers.map(publicDriver),
    ...(adjustments && { adjustments }),
    snapshot,
    decay_applied,
    range_hours,
    ...(profile_entries && {
      profile_entries: profile_entries.map(({ rule_id, points, decided_at, words }) => ({
        rule_id,
        points,
        decided_at,
        words,
      })),
      entries_total,
    }),
    ...(deal_entries && {
      deal_entries: deal_entries.map(({ deal_id, rule_id, points, decided_at, words }) => ({
        ...(deal_id !== undefined && { deal_id }),
        ...(rule_id !== undefined && { rule_id }),
        points,
        decided_at,
        words,
      })),
      entries_total,
    }),
    ...(account && { account: publicAccount(account) }),
  };
}

/** The account without its id and the versions of its rules. It names no lead. */
function publicAccount({
  name,
  leads,
  roll_up,
  reasons,
}: NonNullable<ScoreExplanation['account']>): NonNullable<PublicScoreExplanation['account']> {
  return {
    name,
    leads,
    roll_up,
    reasons: reasons.map(({ reason, rule_id, points, words }) => ({
      reason,
      ...(rule_id !== undefined && { rule_id }),
      points,
      words,
    })),
  };
}

/** A driver without its version, which is for those who may read the rule. */
function publicDriver(
  driver: ScoreExplanation['top_drivers'][number],
): PublicScoreExplanation['top_drivers'][number] {
  const { rule_id, event_type, count, weight, total } = driver;
  const { filter_label, label, counted, counted_total, limits } = driver;
  return {
    rule_id,
    event_type,
    count,
    weight,
    total,
    ...(filter_label !== undefined && { filter_label }),
    ...(label !== undefined && { label }),
    ...(counted !== undefined && { counted }),
    ...(counted_total !== undefined && { counted_total }),
    ...(limits !== undefined && { limits }),
  };
}
