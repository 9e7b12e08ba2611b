// One set of rules at work on a history: the deciders and folds of live scoring, with the leads in memory and no log. Pure.
import type { records } from '@lead-scoring/contracts';
import { decideTicks } from '../decays/decide-ticks.js';
import { foldAdjusted } from '../leads/fold-adjusted.js';
import { foldLead } from '../leads/fold.js';
import type { Lead } from '../leads/state.js';
import { withProfiles } from '../profile/decide-batch.js';
import { decideLeads } from '../scores/decide.js';
import type { LeadCause, LeadEvent } from '../scores/messages.js';
import { decideResets } from '../scores/resets.js';
import type { CompiledRules } from '../scores/rule-model.js';

/** Something that happened to a lead, in the order in which it was decided. */
export type Happening = LeadCause | { type: 'ScoreReset'; payload: records.ResetScores };

export class Track {
  /** By id. */
  readonly leads = new Map<string, Lead>();
  /** Counts the decisions, as the offsets of the log do. */
  #decisions = 0;

  /** @param onDecision gets each decision, and the lead after it; null: it was removed */
  constructor(
    private readonly rules: CompiledRules,
    private readonly onDecision: (event: LeadEvent, lead: Lead | null) => void = () => undefined,
  ) {}

  /** Decides on what happened, in its order; on records of ingest that follow one another together. */
  take(happenings: readonly Happening[]): void {
    let causes: LeadCause[] = [];
    for (const happening of happenings) {
      if (happening.type !== 'ScoreReset') {
        causes.push(happening);
        continue;
      }
      this.#decide(causes);
      causes = [];
      this.#reset(happening.payload);
    }
    this.#decide(causes);
  }

  /** Goes on with a lead as another track has it. */
  adopt(lead: Lead): void {
    this.leads.set(lead.id, { ...lead, offset: this.#decisions });
  }

  /** Decides the ticks of decay rules on a lead up to a moment. */
  passTime(leadId: string, upTo: string): void {
    const lead = this.leads.get(leadId);
    if (!lead || !this.rules.decays) return;
    const identity = { ou_id: lead.ou_id, lead_id: leadId };
    const { events } = decideTicks(identity, lead, this.rules, { upTo, decidedAt: upTo });
    for (const payload of events) this.#fold({ type: 'ScoreAdjusted', payload });
  }

  #decide(causes: readonly LeadCause[]): void {
    if (causes.length === 0) return;
    const { rules } = this;
    const leadBefore = (_ouId: string, leadId: string) => this.leads.get(leadId) ?? null;
    const decided = decideLeads(causes, leadBefore, () => rules);
    const events = rules.profile
      ? withProfiles(decided, causes, {
          profileOf: () => rules.profile,
          versionOf: () => rules.version,
          leadBefore,
        })
      : decided;
    for (const event of events ?? []) this.#fold(event);
  }

  #reset(command: records.ResetScores): void {
    const [decision] = decideResets(
      [command],
      (_ouId, leadId) => this.leads.get(leadId) ?? null,
      () => this.rules,
    );
    if (decision?.outcome !== 'reset' || !decision.event) return;
    for (const payload of [...(decision.ticks ?? []), decision.event])
      this.#fold({ type: 'ScoreAdjusted', payload });
  }

  #fold(event: LeadEvent): void {
    this.#decisions += 1;
    const { lead_id } = event.payload;
    const lead = this.leads.get(lead_id) ?? null;
    switch (event.type) {
      case 'LeadScored':
        this.leads.set(lead_id, foldLead(lead, event.payload, this.#decisions));
        break;
      case 'ScoreAdjusted':
        if (lead) this.leads.set(lead_id, foldAdjusted(lead, event.payload, this.#decisions));
        break;
      case 'LeadRemoved':
        this.leads.delete(lead_id);
    }
    this.onDecision(event, this.leads.get(lead_id) ?? null);
  }
}
