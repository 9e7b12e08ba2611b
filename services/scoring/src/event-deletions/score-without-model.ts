// A lead's engagement score without deleted events: its recorded decisions are taken again, in their order, without what these events gave.
// Every other event keeps the matches that were decided for it, by the rules of then; limits of rulesets and the fading of points follow from
// the scores that there are now. Pure.
import { eventTypeKey, type records } from '@lead-scoring/contracts';
import { heldInRange, resetsScore } from '@lead-scoring/scoring-domain';
import { decideTicks } from '../decays/decide-ticks.js';
import { adjustedLead } from '../leads/fold-adjusted.js';
import { foldLead } from '../leads/fold.js';
import type { Lead } from '../leads/state.js';
import { pointsOfMatches, ScorePoints, type ScoreParts } from '../rescoring/points-model.js';
import { leadOf } from '../rescoring/state-model.js';
import { DecisionLimits, type CompiledLimits } from '../scores/limits-model.js';
import type { LeadEvent } from '../scores/messages.js';
import type { CompiledRules } from '../scores/rule-model.js';

/** A recorded decision on a lead that stays. */
export type RecordedDecision = Exclude<LeadEvent, { type: 'LeadRemoved' }>;

/** The deleted events: those of the type in records of ingest.events before the offset. */
export type DeletedEvents = Pick<records.EventsOfTypeDeleted, 'event_type'> & { readonly before: number };

export interface WithoutRules {
  /** Of now: the score fades by these. */
  readonly live: Pick<CompiledRules, 'version' | 'decays'>;
  /** The limits of a version of the configuration; null: it had none. */
  readonly limitsOf: (version: number) => CompiledLimits | null;
}

/** A deletion, and its place among the decisions on the lead. */
interface PlacedDeletion {
  readonly key: string;
  readonly before: number;
  readonly index: number;
}

export interface ScoreWithout {
  /** All that later decisions on the engagement score need. */
  readonly lead: Lead;
  readonly parts: ScoreParts;
  /** Events that rules had matched, and that count no more. */
  readonly events: number;
}

/**
 * @param decisions all decisions on the lead, in the order of the log
 * @param until the moment of which the score is
 */
export function scoreWithout(
  { ou_id, id }: Pick<Lead, 'ou_id' | 'id'>,
  decisions: readonly RecordedDecision[],
  deleted: DeletedEvents,
  until: string,
  rules: WithoutRules,
): ScoreWithout {
  const replay = new Replay({ ou_id, lead_id: id }, decisions, deleted, rules);
  decisions.forEach((decision, index) => {
    replay.take(decision, index);
  });
  return replay.end(until);
}

class Replay {
  #lead: Lead;
  #events = 0;
  #decisions = 0;
  readonly #points = new ScorePoints();
  /** Those of before, and as the last one that which is decided. */
  readonly #deletions: readonly PlacedDeletion[];

  constructor(
    private readonly identity: { readonly ou_id: string; readonly lead_id: string },
    decisions: readonly RecordedDecision[],
    { event_type, before }: DeletedEvents,
    private readonly rules: WithoutRules,
  ) {
    this.#lead = leadOf({ score: 0, rulesets: [] }, identity);
    const earlier = decisions.flatMap(({ type, payload }, index) => {
      const { deleted } = type === 'ScoreAdjusted' ? payload : {};
      return deleted ? [{ key: eventTypeKey(deleted.event_type), before: deleted.before, index }] : [];
    });
    this.#deletions = [...earlier, { key: eventTypeKey(event_type), before, index: Infinity }];
  }

  take(decision: RecordedDecision, index: number): void {
    if (decision.type === 'LeadScored') this.#scored(decision.payload);
    else if (decision.payload.score_type === 'engagement') this.#adjusted(decision.payload, index);
  }

  end(until: string): ScoreWithout {
    this.#passTime(until);
    return { lead: this.#lead, parts: this.#points.partsOf(this.identity.lead_id), events: this.#events };
  }

  #scored(decision: records.LeadScored): void {
    this.#passTime(decision.decided_at);
    const offset = decision.source?.offset ?? 0;
    const left = decision.scored_events.filter((event) => {
      const by = this.#deletions.find(
        (one) => offset < one.before && eventTypeKey(event.event_type) === one.key,
      );
      if (by?.index === Infinity) this.#events += 1;
      return !by;
    });
    this.#fold({ type: 'LeadScored', payload: this.#decisionOn(decision, left) });
  }

  /** The decision on the events that are left. */
  #decisionOn(decision: records.LeadScored, left: readonly records.ScoredEvent[]): records.LeadScored {
    const compiled = this.rules.limitsOf(decision.configuration_version);
    const limits = compiled && new DecisionLimits({ ...compiled, ofRules: new Map() }, this.#lead);
    let { score } = this.#lead;
    let held = 0;
    const scored_events = left.map((event) => {
      const scored: records.ScoredEvent = { ...event };
      delete scored.ruleset_adjustments;
      let reached = score;
      for (const { points, counted_points = points } of event.matches) reached += counted_points;
      reached += limits?.hold({ id: event.event_id, ...event }, scored) ?? 0;
      score = heldInRange(reached);
      held += score - reached;
      return scored;
    });
    const adjustments = limits?.adjustments() ?? [];
    if (held !== 0)
      adjustments.push({
        reason: held < 0 ? 'held_at_largest_score' : 'held_at_smallest_score',
        points: held,
      });
    const rules = new Set(left.flatMap(({ matches }) => matches.map(({ rule_id }) => rule_id)));
    const uses = decision.limit_uses?.filter(({ rule_id }) => rules.has(rule_id)) ?? [];
    const decided = { ...decision, previous_score: this.#lead.score, score, scored_events };
    delete decided.adjustments;
    delete decided.limit_uses;
    if (adjustments.length > 0) decided.adjustments = adjustments;
    if (uses.length > 0) decided.limit_uses = uses;
    return decided;
  }

  /** Ticks are decided anew, and what earlier deletions came to follows from the events that are left. */
  #adjusted(decision: records.ScoreAdjusted, index: number): void {
    if (decision.deleted) return;
    if (decision.rescored?.engagement) {
      this.#fold({
        type: 'ScoreAdjusted',
        payload: this.#rescored(decision, decision.rescored.engagement, index),
      });
    } else if (resetsScore(decision)) {
      this.#passTime(decision.decided_at);
      const { score } = this.#lead;
      const adjustments = [{ reason: 'reset' as const, points: 0 - score }];
      this.#fold({
        type: 'ScoreAdjusted',
        payload: { ...decision, previous_score: score, score: 0, adjustments },
      });
    }
  }

  /** A rescoring says what rules gave, and not for which events: what it found of a type that was deleted after it counts no more. */
  #rescored(
    decision: records.ScoreAdjusted,
    engagement: records.RescoredEngagement,
    index: number,
  ): records.ScoreAdjusted {
    const later = new Set(this.#deletions.flatMap((one) => (one.index > index ? [one.key] : [])));
    const lost = new Map<string, number>();
    const matches = engagement.matches.filter((match) => {
      if (!later.has(eventTypeKey(match.event_type))) return true;
      lost.set(match.ruleset_id, (lost.get(match.ruleset_id) ?? 0) + pointsOfMatches(match));
      return false;
    });
    const rulesets = engagement.rulesets.map(({ ruleset_id, score }) => ({
      ruleset_id,
      score: heldInRange(score - (lost.get(ruleset_id) ?? 0)),
    }));
    const points = [...lost.values()].reduce((sum, one) => sum + one, 0);
    return {
      ...decision,
      previous_score: this.#lead.score,
      score: heldInRange(decision.score - points),
      rescored: {
        job_id: this.identity.lead_id,
        ...decision.rescored,
        engagement: { ...engagement, rulesets, matches },
      },
    };
  }

  #passTime(upTo: string): void {
    const { events } = decideTicks(this.identity, this.#lead, this.rules.live, { upTo, decidedAt: upTo });
    for (const payload of events) this.#fold({ type: 'ScoreAdjusted', payload });
  }

  #fold(decision: RecordedDecision): void {
    this.#points.take(decision);
    this.#decisions += 1;
    this.#lead =
      decision.type === 'LeadScored'
        ? foldLead(this.#lead, decision.payload, this.#decisions)
        : adjustedLead(this.#lead, decision.payload);
  }
}
