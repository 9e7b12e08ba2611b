// Why a lead has another score by a draft: the points of each rule on both sides, compared. Pure.
import { records } from '@lead-scoring/contracts';
import {
  conditionRuleOf,
  countedPoints,
  decayNameOf,
  isOfEvents,
  profileEventType,
  resetsScore,
  type ScoringConfiguration,
} from '@lead-scoring/scoring-domain';
import { pointsOfMatches } from '../rescoring/points-model.js';
import type { LeadEvent } from '../scores/messages.js';
import type { Sides } from './replay-model.js';

type Reason = records.WhatIfReason;
type Cause = Pick<Reason, 'kind' | 'id'>;

/** The points of a lead by what gave them or took them; of a name, its cause and the sum. */
type PointsByCause = Map<string, Cause & { points: number }>;

/** Sums up the points of leads, decision by decision, as far as they make up their scores of one type. */
export class PointTally {
  readonly #leads = new Map<string, PointsByCause>();

  /** @param rulesetId only the points of this ruleset */
  constructor(
    private readonly scoreType: records.WhatIfWork['score_type'],
    private readonly rulesetId?: string,
  ) {}

  readonly take = ({ type, payload }: LeadEvent): void => {
    if (type === 'LeadRemoved') this.#leads.delete(payload.lead_id);
    else if (type === 'LeadScored') this.#takeScored(payload);
    else this.#takeAdjusted(payload);
  };

  of(leadId: string): PointsByCause {
    const known = this.#leads.get(leadId) ?? new Map<string, Cause & { points: number }>();
    this.#leads.set(leadId, known);
    return known;
  }

  #takeScored({ lead_id, scored_events, adjustments = [] }: records.LeadScored): void {
    if (this.scoreType !== 'engagement') return;
    for (const { matches, ruleset_adjustments = [] } of scored_events) {
      for (const match of matches)
        if (this.#isWanted(match))
          this.#add(lead_id, { kind: 'rule', id: match.rule_id }, countedPoints(match));
      for (const adjustment of ruleset_adjustments)
        if (this.#isWanted(adjustment))
          this.#add(lead_id, { kind: 'limit', id: adjustment.ruleset_id }, adjustment.points);
    }
    for (const adjustment of adjustments)
      if (!isOfEvents(adjustment) && this.#isWanted(adjustment))
        this.#add(lead_id, { kind: 'limit' }, adjustment.points);
  }

  #takeAdjusted(decision: records.ScoreAdjusted): void {
    const { lead_id, score_type, adjustments } = decision;
    if (score_type !== this.scoreType) return;
    if (resetsScore(decision) || decision.rescored?.engagement) this.#leads.delete(lead_id);
    if (decision.rescored?.engagement) this.#takeRescored(lead_id, decision.rescored.engagement);
    else if (!resetsScore(decision))
      for (const adjustment of adjustments)
        if (this.#isWanted(adjustment)) this.#add(lead_id, causeOf(adjustment), adjustment.points);
  }

  /** A score that was computed anew names all that it is made of. */
  #takeRescored(leadId: string, { matches, others }: records.RescoredEngagement): void {
    for (const match of matches)
      if (this.#isWanted(match))
        this.#add(leadId, { kind: 'rule', id: match.rule_id }, pointsOfMatches(match));
    for (const other of others) if (this.#isWanted(other)) this.#add(leadId, causeOf(other), other.points);
  }

  #isWanted({ ruleset_id }: { readonly ruleset_id?: string | undefined }): boolean {
    return this.rulesetId === undefined || ruleset_id === this.rulesetId;
  }

  /** Changes what is known in place: this runs for every match of a history. */
  #add(leadId: string, cause: Cause, points: number): void {
    const known = this.of(leadId);
    const name = cause.kind === 'rule' ? (cause.id ?? '') : `${cause.kind} ${cause.id ?? ''}`;
    const entry = known.get(name);
    if (entry) entry.points += points;
    else known.set(name, { ...cause, points });
  }
}

function causeOf({ reason, rule_id, ruleset_id }: records.ScoreAdjustment): Cause {
  if (reason === 'decay') return { kind: 'decay', ...(rule_id !== undefined && { id: rule_id }) };
  if (rule_id !== undefined) return { kind: 'rule', id: rule_id };
  return { kind: 'limit', ...(ruleset_id !== undefined && { id: ruleset_id }) };
}

/** Where the points of a lead differ, the largest difference first. */
export function reasonsOf(
  leadId: string,
  tallies: Sides<PointTally>,
  configurations: Sides<ScoringConfiguration>,
): Reason[] {
  const [live, draft] = [tallies.live.of(leadId), tallies.draft.of(leadId)];
  return [...new Map([...live, ...draft])]
    .map(([name, { kind, id }]): Reason => {
      const cause: Cause = { kind, ...(id !== undefined && { id }) };
      return {
        ...cause,
        label: (labelIn(configurations.draft, cause) ?? labelIn(configurations.live, cause) ?? '').slice(
          0,
          200,
        ),
        live: live.get(name)?.points ?? 0,
        draft: draft.get(name)?.points ?? 0,
      };
    })
    .filter((reason) => reason.live !== reason.draft)
    .sort((one, other) => differenceOf(other) - differenceOf(one) || (one.label < other.label ? -1 : 1))
    .slice(0, records.whatIfLimits.reasons);
}

function differenceOf({ live, draft }: Reason): number {
  return Math.abs(draft - live);
}

function labelIn(configuration: ScoringConfiguration, { kind, id }: Cause): string | undefined {
  if (id === undefined) return 'The range of scores';
  switch (kind) {
    case 'rule': {
      const rule = configuration.rules.get(id);
      if (rule) return rule.label ?? rule.event_type;
      const conditional = conditionRuleOf(configuration, id);
      if (conditional) return conditional.label ?? conditional.filter_label;
      const deleted = configuration.former.get(id)?.at(-1);
      return (
        deleted?.label ??
        (deleted?.event_type === profileEventType ? deleted.filter_label : deleted?.event_type)
      );
    }
    case 'decay':
      return decayNameOf(configuration.decays, id);
    case 'limit':
      return (configuration.rulesets.get(id) ?? configuration.former_rulesets.get(id))?.name;
  }
}
