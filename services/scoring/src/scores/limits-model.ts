// Holds points back where limits of rules and rulesets say so, event by event in the order of the log. Pure.
import { distinctValueOf, records, type JsonObject } from '@lead-scoring/contracts';
import { onceFieldOf, type RulesetScores, type ScoringConfiguration } from '@lead-scoring/scoring-domain';
import { addUse, roomOn, type LimitUses } from './use-model.js';

type Event = records.EventsIngested['events'][number];
type Match = records.ScoredEvent['matches'][number];
type LimitUse = records.LimitUse;

/** What limits need to know of a lead. */
export interface LimitedLead {
  readonly rulesets: RulesetScores;
  readonly limit_uses?: LimitUses | undefined;
}

interface RuleLimit {
  /** Infinity without a limit. */
  max_count: number;
  /** The hash of an event's value of the field of `once_per`. */
  hashOf?: (metadata: JsonObject | undefined) => string;
  /** Infinity without a limit. */
  cap_points: number;
  cap_days?: number;
}

interface RulesetLimit {
  lowest: number;
  highest: number;
}

/** The limits of active rules and rulesets. */
export interface CompiledLimits {
  readonly ofRules: ReadonlyMap<string, RuleLimit>;
  readonly ofRulesets: ReadonlyMap<string, RulesetLimit>;
}

/** Null if no active rule or ruleset has a limit: deciding then costs nothing more. */
export function compileLimits({ rules, rulesets }: ScoringConfiguration): CompiledLimits | null {
  const ofRules = new Map<string, RuleLimit>();
  for (const rule of rules.values()) {
    if (!rule.active || rulesets.get(rule.ruleset_id)?.active !== true) continue;
    const { id, max_count, once_per, cap_points, cap_days } = rule;
    const field = onceFieldOf(rule);
    const once = once_per === 'lead' ? 1 : Infinity;
    if (max_count === undefined && once === Infinity && field === undefined && cap_points === undefined)
      continue;
    ofRules.set(id, {
      max_count: max_count ?? once,
      ...(field !== undefined && { hashOf: distinctValueOf(field) }),
      cap_points: cap_points ?? Infinity,
      ...(cap_days !== undefined && { cap_days }),
    });
  }
  const ofRulesets = new Map<string, RulesetLimit>();
  for (const { id, active, min_score, max_score } of rulesets.values())
    if (active && (min_score !== undefined || max_score !== undefined))
      ofRulesets.set(id, { lowest: min_score ?? -Infinity, highest: max_score ?? Infinity });
  return ofRules.size === 0 && ofRulesets.size === 0 ? null : { ofRules, ofRulesets };
}

/** The events of one rule in a decision. */
interface RuleTally {
  /** What all decisions so far have counted, this one included; undefined where nothing has. */
  use: LimitUse | undefined;
  /** What this decision has counted. */
  added: LimitUse | undefined;
  counted: number;
  matched: number;
  /** Points that were held back, of the sign of the weight. */
  held: number;
  latest: Match;
}

/** The limits in one decision on a lead. */
export class DecisionLimits {
  readonly #rules = new Map<string, RuleTally>();
  /** By rule; made when a rule with limits matches. */
  #before: ReadonlyMap<string, LimitUse> | null = null;
  readonly #rulesets = new Map<string, { score: number; held: number }>();

  constructor(
    private readonly limits: CompiledLimits,
    /** null: a lead that does not exist. */
    private readonly lead: Partial<LimitedLead> | null,
  ) {}

  /**
   * Holds points of an event back, and writes into its matches which ones.
   * @returns what is to be added to the points of the matches
   */
  hold(event: Event, scored: records.ScoredEvent): number {
    let adjusted = 0;
    for (const match of scored.matches) {
      const limit = this.limits.ofRules.get(match.rule_id);
      if (!limit) continue;
      const counted = this.#count(limit, match, event);
      if (counted === match.points) continue;
      match.counted_points = counted;
      adjusted += counted - match.points;
    }
    if (this.limits.ofRulesets.size === 0) return adjusted;
    const held = this.#holdRulesets(scored.matches);
    if (held.length === 0) return adjusted;
    scored.ruleset_adjustments = held;
    return held.reduce((sum, { points }) => sum + points, adjusted);
  }

  /** The adjustments of the decision: one for each rule that held points back, and one for each ruleset. */
  adjustments(): records.ScoreAdjustment[] {
    const adjustments: records.ScoreAdjustment[] = [];
    for (const [rule_id, { counted, matched, held, latest }] of this.#rules)
      if (held !== 0) {
        const { ruleset_id, rule_version } = latest;
        adjustments.push({
          reason: 'capped_by_rule',
          points: 0 - held,
          ruleset_id,
          rule_id,
          rule_version,
          counted,
          matched,
        });
      }
    for (const [ruleset_id, { held }] of this.#rulesets)
      if (held !== 0) adjustments.push({ reason: 'held_by_ruleset', points: held, ruleset_id });
    return adjustments;
  }

  /** What the decision has counted of rules with limits. */
  uses(): LimitUse[] {
    return [...this.#rules.values()].flatMap(({ added }) => added ?? []);
  }

  /** The points of a match that count. An event whose points do not count uses nothing up. */
  #count(limit: RuleLimit, match: Match, event: Event): number {
    const tally = this.#tallyOf(match);
    tally.matched += 1;
    const size = Math.abs(match.points);
    const value = limit.hashOf?.(event.metadata);
    const day = event.timestamp.slice(0, dayLength);
    const counts = isOpen(limit, tally.use, value) ? Math.min(size, roomOf(limit, tally.use, day)) : 0;
    if (counts > 0) {
      tally.counted += 1;
      const use: LimitUse = {
        rule_id: match.rule_id,
        ...(limit.max_count !== Infinity && { events: 1 }),
        ...(limit.cap_points !== Infinity &&
          (limit.cap_days === undefined ? { points: counts } : { days: [{ day, points: counts }] })),
        ...(value !== undefined && { values: [value] }),
      };
      tally.use = addUse(tally.use, use);
      tally.added = addUse(tally.added, use);
    }
    const counted = match.points < 0 ? 0 - counts : counts;
    tally.held += match.points - counted;
    return counted;
  }

  #tallyOf(match: Match): RuleTally {
    const known = this.#rules.get(match.rule_id);
    if (known) return known;
    this.#before ??= new Map(this.lead?.limit_uses?.map((use) => [use.rule_id, use]));
    const use = this.#before.get(match.rule_id);
    const tally = { use, added: undefined, counted: 0, matched: 0, held: 0, latest: match };
    this.#rules.set(match.rule_id, tally);
    return tally;
  }

  #holdRulesets(matches: readonly Match[]): NonNullable<records.ScoredEvent['ruleset_adjustments']> {
    const gained = new Map<string, number>();
    for (const { ruleset_id, points, counted_points = points } of matches)
      if (this.limits.ofRulesets.has(ruleset_id))
        gained.set(ruleset_id, (gained.get(ruleset_id) ?? 0) + counted_points);
    return [...gained].flatMap(([ruleset_id, points]) => {
      const ruleset = this.#rulesetOf(ruleset_id);
      const { lowest, highest } = this.limits.ofRulesets.get(ruleset_id) ?? unlimited;
      const reached = ruleset.score + points;
      // A sum that is beyond a limit that came later stays, and goes no further.
      const score = Math.max(
        Math.min(lowest, ruleset.score),
        Math.min(Math.max(highest, ruleset.score), reached),
      );
      ruleset.score = score;
      ruleset.held += score - reached;
      return score === reached ? [] : [{ ruleset_id, points: score - reached }];
    });
  }

  #rulesetOf(ruleset_id: string): { score: number; held: number } {
    const known = this.#rulesets.get(ruleset_id);
    if (known) return known;
    const { score = 0 } = this.lead?.rulesets?.find((one) => one.ruleset_id === ruleset_id) ?? {};
    const ruleset = { score, held: 0 };
    this.#rulesets.set(ruleset_id, ruleset);
    return ruleset;
  }
}

const unlimited: RulesetLimit = { lowest: -Infinity, highest: Infinity };
const dayLength = '2026-01-31'.length;

/** Whether one more event may count, with this value. */
function isOpen({ max_count }: RuleLimit, use: LimitUse | undefined, value: string | undefined): boolean {
  if ((use?.events ?? 0) >= max_count) return false;
  if (value === undefined || !use?.values) return true;
  return use.values.length < records.ruleMemory.values && !use.values.includes(value);
}

/** Points that may count on the day. */
function roomOf({ cap_points, cap_days }: RuleLimit, use: LimitUse | undefined, day: string): number {
  if (cap_points === Infinity) return Infinity;
  if (cap_days === undefined) return Math.max(0, cap_points - (use?.points ?? 0));
  return use ? roomOn(day, use, { cap_points, cap_days }) : cap_points;
}
