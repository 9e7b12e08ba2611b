// Folds a batch of decisions into its leads.
import { records } from '@lead-scoring/contracts';
import type { FoldedRecord } from '@lead-scoring/event-log';
import { offsetToNumber } from '@lead-scoring/read-model';
import type { ContributionEvent } from '../accounts/messages.js';
import { dealScoreOf } from '../deals/lead-deal-score-model.js';
import type { LeadEvent } from '../scores/messages.js';
import { textChange, type TextChange } from '../text-index/text-model.js';
import { foldAdjusted, foldContributed } from './fold-adjusted.js';
import { foldLead } from './fold.js';
import type { Lead } from './state.js';

export type FoldedLeadEvent = (LeadEvent | ContributionEvent) & {
  offset: number;
  record: FoldedRecord;
};

export function foldedLeadEvent(record: FoldedRecord): FoldedLeadEvent {
  const offset = offsetToNumber(record.offset);
  switch (record.type) {
    case records.leadScored.type:
      return { type: 'LeadScored', payload: record.payload as records.LeadScored, offset, record };
    case records.scoreAdjusted.type:
      return { type: 'ScoreAdjusted', payload: record.payload as records.ScoreAdjusted, offset, record };
    case records.leadContributed.type:
      return { type: 'LeadContributed', payload: record.payload as records.LeadContributed, offset, record };
    default:
      return { type: 'LeadRemoved', payload: record.payload as records.LeadRemoved, offset, record };
  }
}

export interface LeadIdentity {
  ou_id: string;
  lead_id: string;
}

/** The key of a lead in maps. */
export function leadName(ouId: string, leadId: string): string {
  return `${ouId}/${leadId}`;
}

/** The OU and the lead that a leadName names. */
export function identityOf(name: string): [ouId: string, leadId: string] {
  const slash = name.indexOf('/');
  return [name.slice(0, slash), name.slice(slash + 1)];
}

/** The leads before and after a batch, by leadName; null for a lead that does not exist. */
export class LeadBatch {
  readonly after = new Map<string, Lead | null>();
  readonly changed = new Set<string>();
  /** Those whose entry in the index of due leads an event has changed, also where it is as before at the end. */
  readonly dueEntriesChanged = new Set<string>();
  readonly removed = new RemovedLeads();
  /** Changes of the leads' texts, in the order of the log. */
  readonly textChanges: TextChange[] = [];

  constructor(
    readonly events: readonly FoldedLeadEvent[],
    readonly before: ReadonlyMap<string, Lead | null>,
  ) {
    for (const event of events) this.#fold(event);
  }

  #fold(event: FoldedLeadEvent): void {
    const { payload, offset } = event;
    const name = leadName(payload.ou_id, payload.lead_id);
    const current = this.after.get(name);
    const lead = current === undefined ? (this.before.get(name) ?? null) : current;
    if (event.type === 'LeadRemoved') {
      this.removed.add(name, event.payload, offset, lead);
      // After a removal that was folded before, there may be a new lead.
      const left = lead && lead.offset > offset ? lead : null;
      this.after.set(name, left);
      this.changed.add(name);
      this.dueEntriesChanged.add(name);
      this.#noteTexts(lead, left, offset);
      return;
    }
    const folded = foldPresent(event, lead);
    if (!folded) return;
    this.after.set(name, folded);
    if (folded === lead) return;
    this.changed.add(name);
    if (folded.due_entry?.offset !== lead?.due_entry?.offset) this.dueEntriesChanged.add(name);
    this.#noteTexts(lead, folded, offset);
  }

  #noteTexts(before: Lead | null, after: Lead | null, offset: number): void {
    const change = textChange(before, after, offset);
    if (change) this.textChanges.push(change);
  }

  /** Whether the decision created its lead. */
  isFirst({ payload, offset }: FoldedLeadEvent): boolean {
    const lead = this.after.get(leadName(payload.ou_id, payload.lead_id));
    return lead?.first_offset === offset || this.removed.firstOffsets.has(offset);
  }
}

/**
 * Folds an event of a lead that stays. Only a lead that is there is adjusted or contributes; one that is not was removed, and an
 * earlier decision on it is folded once more: null.
 */
function foldPresent(
  event: Exclude<FoldedLeadEvent, { type: 'LeadRemoved' }>,
  lead: Lead | null,
): Lead | null {
  switch (event.type) {
    case 'LeadScored':
      return foldLead(lead, event.payload, event.offset);
    case 'ScoreAdjusted':
      return lead && foldAdjusted(lead, event.payload, event.offset);
    case 'LeadContributed':
      return lead && foldContributed(lead, event.payload, event.offset);
  }
}

interface LeadScores {
  engagement: number;
  profile: number;
  deal: number;
}

/** The leads that a batch removes. */
class RemovedLeads {
  /** Offsets of the decisions that created them. */
  readonly firstOffsets = new Set<number>();
  readonly #byName = new Map<string, { ou_id: string; id: string; offset: number }>();
  readonly #asTheyWere: Lead[] = [];
  /** By the offset of the removal. */
  readonly #scores = new Map<number, LeadScores>();

  get any(): boolean {
    return this.#byName.size > 0;
  }

  /** @param lead the lead before its removal; null if it was removed before */
  add(name: string, { ou_id, lead_id }: records.LeadRemoved, offset: number, lead: Lead | null): void {
    this.#byName.set(name, { ou_id, id: lead_id, offset });
    if (!lead || lead.offset > offset) return;
    this.firstOffsets.add(lead.first_offset);
    this.#asTheyWere.push(lead);
    this.#scores.set(offset, {
      engagement: lead.score,
      profile: lead.profile?.score ?? 0,
      deal: dealScoreOf(lead.deal_scores),
    });
  }

  /** The scores of the lead that the event removes; undefined where it is not stored, because its decisions are erased. */
  scoresBefore({ offset }: Pick<FoldedLeadEvent, 'offset'>): LeadScores | undefined {
    return this.#scores.get(offset);
  }

  has(name: string): boolean {
    return this.#byName.has(name);
  }

  /** Whether the decision is about a removed lead, from before its removal. */
  isOld({ payload, offset }: FoldedLeadEvent): boolean {
    return this.any && offset < (this.#byName.get(leadName(payload.ou_id, payload.lead_id))?.offset ?? 0);
  }

  /** Each removed lead, with the offset of its last removal. */
  all(): Iterable<{ ou_id: string; id: string; offset: number }> {
    return this.#byName.values();
  }

  asTheyWere(): readonly Lead[] {
    return this.#asTheyWere;
  }
}
