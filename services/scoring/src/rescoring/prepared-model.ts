// A group of leads whose scores are computed anew, while it goes on: what happens to them is decided by the rules of the rescoring. Pure.
import type { Lead } from '../leads/state.js';
import { compileRules, type CompiledRules } from '../scores/rule-model.js';
import type { LeadEvent } from '../scores/messages.js';
import { alwaysInForce } from '../what-if/draft-model.js';
import { Track, type Happening } from '../what-if/track-model.js';
import type { ScoringConfiguration } from '@lead-scoring/scoring-domain';
import { areSameParts, partsOfNewScore, ScorePoints, type ScoreParts } from './points-model.js';
import {
  isRescoredRule,
  leadOf,
  stateOf,
  textOfState,
  type PreparedLead,
  type Rescored,
} from './state-model.js';

export class PreparedGroup {
  readonly #track: Track;
  /** Of the replay, and of what is recorded of other rulesets than that which is rescored. */
  readonly #points = { replayed: new ScorePoints(), recorded: new ScorePoints() };
  /** Leads whose parts are not those that are recorded. */
  readonly #other = new Set<string>();
  /** Leads that may be other than they are recorded, although nothing has happened to them since they were prepared. */
  readonly #unsure = new Set<string>();
  readonly #touched = new Set<string>();
  readonly #isRescored;

  /**
   * @param configuration the rules of the rescoring
   * @param prepared the leads so far; those that are not among them begin anew
   */
  constructor(
    ouId: string,
    configuration: ScoringConfiguration,
    private readonly rescored: Rescored,
    prepared: Iterable<PreparedLead>,
  ) {
    this.#isRescored = isRescoredRule(configuration, rescored);
    const rules: CompiledRules = compileRules(alwaysInForce(configuration));
    this.#track = new Track(rules, this.#points.replayed.take);
    for (const { lead_id, state, parts, isSame, hasSameParts } of prepared) {
      this.#track.leads.set(lead_id, leadOf(state, { ou_id: ouId, lead_id }));
      this.#points.replayed.put(lead_id, parts);
      this.#points.recorded.put(lead_id, parts);
      if (!isSame) this.#unsure.add(lead_id);
      if (!hasSameParts) this.#other.add(lead_id);
    }
  }

  /** The leads of which something is known, by id. */
  get leadIds(): IterableIterator<string> {
    return this.#track.leads.keys();
  }

  /** Takes what has happened, and what live scoring has decided on it, both in their order. */
  take(happenings: readonly Happening[], decisions: readonly LeadEvent[]): void {
    for (const { payload } of [...happenings, ...decisions]) this.#touched.add(payload.lead_id);
    this.record(decisions);
    this.#track.take(happenings);
  }

  /** Takes what live scoring has decided. */
  record(decisions: readonly LeadEvent[]): void {
    for (const decision of decisions) this.#points.recorded.take(decision);
  }

  /** Whether a lead was as it is recorded when it was prepared, and nothing has happened to it since. */
  isUntouched(leadId: string): boolean {
    return !this.#unsure.has(leadId) && !this.#touched.has(leadId);
  }

  /** Whether a lead is as it is recorded, both at one moment: nothing of it changes. Of engagement scores. */
  isSame(recorded: Lead): boolean {
    const { id } = recorded;
    const lead = this.#track.leads.get(id);
    if (!lead || !this.#hasSameParts(id)) return false;
    const textOf = (one: Lead) => textOfState(stateOf(one, this.rescored), this.rescored, this.#isRescored);
    return textOf(lead) === textOf(recorded);
  }

  /** Decides the ticks of decay rules that are due. */
  passTime(leadId: string, upTo: string): void {
    this.#track.passTime(leadId, upTo);
  }

  /** null: the lead was deleted. */
  of(leadId: string): PreparedLead | null {
    const lead = this.#track.leads.get(leadId);
    if (!lead) return null;
    const state = stateOf(lead, this.rescored);
    const parts = this.#partsOf(leadId);
    const isSame = this.isUntouched(leadId);
    return { lead_id: leadId, state, parts, isSame, hasSameParts: isSame || this.#hasSameParts(leadId) };
  }

  *all(): Generator<PreparedLead> {
    for (const leadId of this.leadIds) {
      const lead = this.of(leadId);
      if (lead) yield lead;
    }
  }

  #hasSameParts(leadId: string): boolean {
    if (this.#other.has(leadId)) return false;
    return areSameParts(this.#partsOf(leadId), this.#points.recorded.partsOf(leadId));
  }

  #partsOf(leadId: string): ScoreParts {
    return partsOfNewScore(leadId, this.#points, this.rescored);
  }
}
