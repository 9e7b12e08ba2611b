// Decides which deals the events of a batch name: pure. What they say is sent to the partition of each deal, in the transaction of
// the decisions on the events; the decisions record which deals a lead named for the first time.
import { dealKeyOf, dealLimits, type records } from '@lead-scoring/contracts';
import type { LeadCause, LeadEvent } from '../scores/messages.js';
import { mentionsIn, nameDeals } from './mention-model.js';
import type { DealCommand } from './messages.js';

/** What the deals of a batch come to. */
export interface BatchedDeals {
  /** The decisions, with the deals that were named. */
  readonly decided: readonly LeadEvent[];
  readonly ignored: readonly records.DealsIgnored[];
  readonly commands: readonly DealCommand[];
}

/** The part of a lead that says which deals it named. */
export interface DealingLead {
  readonly deals?: readonly string[] | undefined;
}

/** More commands of several causes are sent in several transactions. */
const defaultMaximumCommands = 20_000;

/**
 * @param decided the decisions on the causes, each with the source of its cause
 * @param leadBefore the lead before the batch; null for a lead that does not exist
 * @returns null where several causes come to more commands than `maximumCommands`
 */
export function withDeals(
  decided: readonly LeadEvent[],
  causes: readonly LeadCause[],
  leadBefore: (ouId: string, leadId: string) => DealingLead | null,
  maximumCommands = defaultMaximumCommands,
): BatchedDeals | null {
  const batch = new DealBatch(leadBefore);
  const named = new Map<number, string[]>();
  for (const [index, cause] of causes.entries()) {
    const keys = batch.take(cause);
    if (keys.length > 0) named.set(index, keys);
    if (batch.commands.length > maximumCommands && causes.length > 1) return null;
  }
  const { ignored, commands } = batch;
  return { decided: named.size === 0 ? decided : withNamed(decided, causes, named), ignored, commands };
}

/** The deals of the leads of a batch, as far as it is decided. */
class DealBatch {
  readonly commands: DealCommand[] = [];
  ignored: records.DealsIgnored[] = [];
  readonly #deals = new Map<string, readonly string[]>();

  constructor(private readonly leadBefore: (ouId: string, leadId: string) => DealingLead | null) {}

  /** @returns the keys of deals that the lead names for the first time */
  take({ type, payload }: LeadCause): string[] {
    if (type === 'LeadDeleted') {
      this.#forget(payload);
      return [];
    }
    // Metadata that is set for a lead names no deals: what happens to a deal is an event.
    if (type === 'LeadMetadataPatched') return [];
    return nameDeals(payload.events) ? this.#record(payload) : [];
  }

  #record({
    ou_id,
    lead_id,
    events,
    received_at: decided_at,
    fire_triggers,
  }: records.EventsIngested): string[] {
    const { deals, ignored } = mentionsIn(events);
    if (ignored.length > 0)
      this.ignored.push({
        ou_id,
        lead_id,
        count: ignored.length,
        deals: ignored.slice(0, dealLimits.ignored),
        decided_at,
      });
    const before = this.#dealsOf(ou_id, lead_id);
    const known = new Set(before);
    const named: string[] = [];
    for (const { deal_id, changes } of deals) {
      const deal_key = dealKeyOf(ou_id, deal_id);
      const isNew = !known.has(deal_key);
      const isFull = isNew && before.length + named.length >= dealLimits.dealsOfLead;
      if (isNew && !isFull) named.push(deal_key);
      this.commands.push({
        type: 'RecordDeal',
        payload: {
          ou_id,
          deal_key,
          deal_id,
          ...(!isFull && { lead_id }),
          changes: [...changes],
          decided_at,
          fire_triggers,
        },
      });
    }
    if (named.length > 0) this.#deals.set(`${ou_id}/${lead_id}`, [...before, ...named]);
    return named;
  }

  #forget({ ou_id, lead_id, deletion_id, deleted_at: removed_at }: records.LeadDeleted): void {
    for (const deal_key of this.#dealsOf(ou_id, lead_id))
      this.commands.push({
        type: 'ForgetDealLead',
        payload: { ou_id, deal_key, lead_id, deletion_id, removed_at },
      });
    this.#deals.set(`${ou_id}/${lead_id}`, []);
    // On the log they would follow the deletion, and stay.
    this.ignored = this.ignored.filter((one) => one.ou_id !== ou_id || one.lead_id !== lead_id);
  }

  #dealsOf(ouId: string, leadId: string): readonly string[] {
    return this.#deals.get(`${ouId}/${leadId}`) ?? this.leadBefore(ouId, leadId)?.deals ?? [];
  }
}

/** Records the named deals with the last decision on each cause. */
function withNamed(
  decided: readonly LeadEvent[],
  causes: readonly LeadCause[],
  named: ReadonlyMap<number, string[]>,
): LeadEvent[] {
  const bySource = new Map(
    [...named].map(([index, deals]) => [causes[index]?.source?.offset, deals] as const),
  );
  return decided
    .toReversed()
    .map((event): LeadEvent => {
      if (event.type !== 'LeadScored') return event;
      const offset = event.payload.source?.offset;
      const deals = bySource.get(offset);
      bySource.delete(offset);
      return deals ? { type: 'LeadScored', payload: { ...event.payload, deals } } : event;
    })
    .toReversed();
}
