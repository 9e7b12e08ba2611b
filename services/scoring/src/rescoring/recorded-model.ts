// The recorded decisions on a group of leads, folded as live scoring folds them: the scores that the leads have, and how much of the
// history these decisions have taken into account. Pure.
import { decideTicks } from '../decays/decide-ticks.js';
import { foldAdjusted } from '../leads/fold-adjusted.js';
import { foldLead } from '../leads/fold.js';
import type { Lead } from '../leads/state.js';
import type { LeadEvent } from '../scores/messages.js';
import type { CompiledRules } from '../scores/rule-model.js';
import type { PlacedDecision } from '../what-if/resets-model.js';
import type { Happening } from '../what-if/track-model.js';

export class RecordedLeads {
  /** By id. */
  readonly leads = new Map<string, Lead>();
  /** The offset of the last decided record of ingest, by lead. */
  readonly #decided = new Map<string, number>();

  /**
   * @param until the moment of which the scores are: a later tick of a decay rule that is recorded moves it
   * @param onDecision gets each decision
   */
  constructor(
    public until: string,
    private readonly onDecision: (event: LeadEvent) => void = () => undefined,
  ) {}

  /** Takes the decisions on the leads, in their order. */
  take(decision: PlacedDecision): void {
    if (decision.type === 'ScoreAdjusted') {
      const { as_of } = decision.payload;
      if (as_of !== undefined && as_of > this.until) this.until = as_of;
    } else {
      const { lead_id, source } = decision.payload;
      // Decisions of an earlier version do not say which record they decide: all records of such a lead are taken into account.
      const offset = source?.offset ?? Infinity;
      this.#decided.set(lead_id, Math.max(this.#decided.get(lead_id) ?? -1, offset));
    }
    this.#fold(decision);
  }

  /** What the decisions have taken into account, of what happened to the leads. */
  decidedOf(happenings: readonly Happening[]): Happening[] {
    return happenings.filter(
      (happening) =>
        happening.type === 'ScoreReset' ||
        (happening.source?.offset ?? 0) <= (this.#decided.get(happening.payload.lead_id) ?? -1),
    );
  }

  /** Decides the ticks of decay rules that are due and not recorded yet, so that the scores are those of one moment. */
  passTime(rules: CompiledRules): void {
    for (const lead of this.leads.values()) {
      const identity = { ou_id: lead.ou_id, lead_id: lead.id };
      const { events } = decideTicks(identity, lead, rules, { upTo: this.until, decidedAt: this.until });
      let { offset } = lead;
      for (const payload of events) this.#fold({ type: 'ScoreAdjusted', payload, offset: (offset += 1) });
    }
  }

  #fold(decision: PlacedDecision): void {
    this.onDecision(decision);
    const { lead_id } = decision.payload;
    const lead = this.leads.get(lead_id) ?? null;
    switch (decision.type) {
      case 'LeadScored':
        this.leads.set(lead_id, foldLead(lead, decision.payload, decision.offset));
        return;
      case 'ScoreAdjusted':
        if (lead) this.leads.set(lead_id, foldAdjusted(lead, decision.payload, decision.offset));
        return;
      case 'LeadRemoved':
        this.leads.delete(lead_id);
    }
  }
}
