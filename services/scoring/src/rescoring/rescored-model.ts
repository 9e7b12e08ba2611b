// A group of leads on both sides of a rescoring: as they are recorded, and with the scores that the recorded history comes to by the
// rules of now, as if these had always been in force. Pure.
import type { records } from '@lead-scoring/contracts';
import { heldInRange, type ScoringConfiguration } from '@lead-scoring/scoring-domain';
import type { Lead } from '../leads/state.js';
import { emptyProfile } from '../profile/state.js';
import { compileRules } from '../scores/rule-model.js';
import { alwaysInForce } from '../what-if/draft-model.js';
import { foundAmong, scoreOf, withReasons, type ComparedLead } from '../what-if/found-model.js';
import { PointTally } from '../what-if/reasons-model.js';
import { Resets, type PlacedCause, type PlacedDecision } from '../what-if/resets-model.js';
import { Track } from '../what-if/track-model.js';
import {
  areSameParts,
  noParts,
  partsOfNewScore,
  ScorePoints,
  type ScoreParts,
  type SidesOfPoints,
} from './points-model.js';
import { RecordedLeads } from './recorded-model.js';
import {
  isRescoredRule,
  pointsIn,
  stateOf,
  textOfState,
  type PreparedLead,
  type Rescored,
  type RescoredState,
} from './state-model.js';

/** Takes all decisions on the leads first, then the records of ingest about them. */
export class GroupRescoring {
  readonly #tallies;
  readonly #recorded;
  readonly #resets = new Resets();
  readonly #replayed;
  /** Of leads whose new scores are to come into force: what makes up their scores on both sides. */
  readonly #points: SidesOfPoints | null;
  /** By lead, before time has passed. */
  readonly #settled = new Map<string, { state: RescoredState; parts: ScoreParts }>();

  /**
   * @param configuration the rules of now
   * @param at the moment of which the scores are
   * @param isPreparing whether the new scores are to come into force
   */
  constructor(
    private readonly configuration: ScoringConfiguration,
    private readonly rescored: Rescored,
    at: string,
    isPreparing = false,
  ) {
    const { score_type, ruleset_id } = rescored;
    const points = isPreparing ? { recorded: new ScorePoints(), replayed: new ScorePoints() } : null;
    this.#points = points;
    this.#tallies = {
      live: new PointTally(score_type, ruleset_id),
      draft: new PointTally(score_type, ruleset_id),
    };
    const { live, draft } = this.#tallies;
    this.#recorded = new RecordedLeads(at, (event) => {
      live.take(event);
      points?.recorded.take(event);
    });
    this.#replayed = new Track(compileRules(alwaysInForce(configuration)), (event) => {
      draft.take(event);
      points?.replayed.take(event);
    });
  }

  /** Takes decisions of scoring, in their order. */
  takeDecisions(decisions: readonly PlacedDecision[]): void {
    for (const decision of decisions) {
      this.#recorded.take(decision);
      this.#resets.take(decision);
    }
  }

  /** Takes records of ingest, in their order. Those that scoring has not decided do not count. */
  takeCauses(causes: readonly PlacedCause[]): void {
    this.#replayed.take(this.#recorded.decidedOf(this.#resets.among(causes)));
  }

  /** Lets time pass until the moment of which the scores are, on both sides. */
  end(): void {
    this.#replayed.take(this.#resets.rest());
    if (this.#points)
      for (const [id, lead] of this.#replayed.leads)
        this.#settled.set(id, { state: stateOf(lead, this.rescored), parts: this.#partsOf(id) });
    this.#recorded.passTime(compileRules(this.configuration));
    for (const leadId of this.#replayed.leads.keys()) this.#replayed.passTime(leadId, this.#recorded.until);
  }

  /** The leads, once the history has ended. */
  *compared(): Generator<ComparedLead> {
    for (const [lead_id, live] of this.#recorded.leads) {
      const replayed = this.#replayed.leads.get(lead_id);
      if (!replayed) throw new Error('the history has nothing of a lead that is recorded');
      const score = rescoredScore(live, replayed, this.rescored);
      yield { lead_id, live, draft: withScore(live, score, this.rescored) };
    }
  }

  /** The leads as they go on to be computed, with everything taken into account that the decisions of the recorded side have. */
  *prepared(): Generator<PreparedLead> {
    const isRescored = isRescoredRule(this.configuration, this.rescored);
    for (const [lead_id, { state, parts }] of this.#settled) {
      const [recorded, replayed] = [this.#recorded.leads.get(lead_id), this.#replayed.leads.get(lead_id)];
      const textOf = (lead: Lead) => textOfState(stateOf(lead, this.rescored), this.rescored, isRescored);
      const hasSameParts = areSameParts(
        this.#points?.recorded.partsOf(lead_id) ?? parts,
        this.#partsOf(lead_id),
      );
      const isSame =
        hasSameParts &&
        recorded !== undefined &&
        replayed !== undefined &&
        textOf(recorded) === textOf(replayed);
      yield { lead_id, state, parts, isSame, hasSameParts };
    }
  }

  /** What makes up the new score of a lead. */
  #partsOf(leadId: string): ScoreParts {
    return this.#points ? partsOfNewScore(leadId, this.#points, this.rescored) : noParts;
  }

  found(): records.WhatIfFound {
    const configurations = { live: this.configuration, draft: this.configuration };
    const { score_type } = this.rescored;
    const found = foundAmong(this.compared(), { configurations, score_type, hasOutcome: false });
    return withReasons(found, this.#tallies, configurations);
  }
}

/** The new score: all of it, or with other points of one ruleset. The points of the others stay then. */
function rescoredScore(recorded: Lead, replayed: Lead, { score_type, ruleset_id }: Rescored): number {
  const all = scoreOf(replayed, score_type);
  if (ruleset_id === undefined) return all;
  const pointsOf = (lead: Lead) => pointsIn(lead, { score_type, ruleset_id });
  return heldInRange(scoreOf(recorded, score_type) - pointsOf(recorded) + pointsOf(replayed));
}

function withScore(
  { score, profile = emptyProfile }: Lead,
  changed: number,
  { score_type }: Rescored,
): ComparedLead['draft'] {
  return score_type === 'engagement'
    ? { score: changed, profile }
    : { score, profile: { ...profile, score: changed } };
}
