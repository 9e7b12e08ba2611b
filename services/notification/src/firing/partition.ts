// Firing in one partition: decides on batches of records, and folds the events of the decisions.
import type { CapabilityDecision, OpenCapability, PartitionScope } from '@lead-scoring/capability';
import type { FoldedRecord, IncomingRecord } from '@lead-scoring/event-log';
import { offsetToNumber, type ReadModel } from '@lead-scoring/read-model';
import type { ShareLinks } from '../share-links.js';
import { LeadAccounts, cacheKeyOf, type BatchAccounts, type SeenLead } from './accounts.js';
import { evolveLead } from './evolve.js';
import type { Explanations } from '../explanations/reader.js';
import { FiringBatch, recordsOf, tooLargeReason } from './firing-batch.js';
import { describeFirings } from './firing-descriptions.js';
import { FiringStore, type FoldedLead, type RecordedFiring } from './firing-store.js';
import { forgettingsOf, type ForgottenLead } from './forgetting.js';
import { leadMoments } from './filtered-leads.js';
import { findLeadRecords, type LeadRecord } from './lead-records.js';
import { firingEventOf, isForgetting } from './messages.js';
import { initialLeadState, type LeadState } from './state.js';
import type { TriggerReader } from './trigger-reader.js';

export interface FiringOptions {
  triggers: TriggerReader;
  explanations: Explanations;
  /** null: notifications have no share links. */
  shareLinks: ShareLinks | null;
  /** Maximum number of leads that the partition keeps in memory. */
  cachedLeads: number;
}

const tooLarge: CapabilityDecision = { outcome: 'split', reason: tooLargeReason };

export class FiringPartition implements OpenCapability {
  readonly #readModel: ReadModel;
  readonly #accounts: LeadAccounts;
  readonly #store: FiringStore;
  /** Of the last decided batch; see `FiringBatch`. */
  #decidedStates: ReadonlyMap<object, LeadState> = new Map();

  constructor(
    { readModel, partition }: Pick<PartitionScope, 'readModel' | 'partition'>,
    private readonly options: FiringOptions,
  ) {
    this.#readModel = readModel;
    this.#accounts = new LeadAccounts(partition, options.explanations, options);
    this.#store = new FiringStore(readModel, partition, options);
  }

  /** @param incoming records of scoring.events and of ingest.events, each in their order */
  async decide(incoming: readonly IncomingRecord[]): Promise<CapabilityDecision> {
    this.#decidedStates = new Map();
    const accounts = this.#accounts.begin();
    const batch = await this.#batchOf(incoming, accounts);
    if (!batch) return tooLarge;
    const { drafts, firings: pending } = batch;
    // The stored firings are searched, so the firings in memory are written first.
    if (drafts.some(isForgetting)) await this.#store.shown();
    const forgettings = await forgettingsOf(this.#readModel, drafts);
    const forgettingCount = [...forgettings.values()].reduce((sum, { length }) => sum + length, 0);
    if (batch.isTooLarge(forgettingCount) && incoming.length > 1) return tooLarge;
    const firings =
      pending.length > 0 ? await describeFirings(pending, accounts, this.options.explanations) : [];
    accounts.keep();
    this.#decidedStates = batch.decidedStates;
    const { shareLinks } = this.options;
    return { outcome: 'decided', ...recordsOf(drafts, { firings, forgettings, shareLinks }) };
  }

  /** Decides on all records; null where the batch is too large. */
  async #batchOf(incoming: readonly IncomingRecord[], accounts: BatchAccounts): Promise<FiringBatch | null> {
    const leadRecords = await findLeadRecords(incoming, this.options.triggers);
    const before = await this.#store.load([...leadRecords.values()]);
    const momentOf = await leadMoments(seenAt(incoming, leadRecords, accounts), accounts);
    const batch = new FiringBatch(before);
    for (const leadRecord of leadRecords.values()) {
      batch.decide(leadRecord, momentOf(leadRecord));
      if (batch.isTooLarge() && incoming.length > 1) return null;
    }
    return batch;
  }

  /** Folds events; an event that was folded before changes nothing. An error of a write rejects the next fold. */
  async fold(folded: readonly FoldedRecord[]): Promise<void> {
    const recorded = folded.flatMap((record): RecordedFiring[] => {
      const event = firingEventOf(record);
      return event ? [{ event, json: record.json, offset: offsetToNumber(record.offset) }] : [];
    });
    if (recorded.length === 0) return;
    await this.#store.room();
    const before = await this.#store.load(recorded.map(({ event }) => event.payload));
    const { changed, unfolded, forgotten } = foldFirings(recorded, before, this.#decidedStates);
    await this.#store.show(unfolded, forgotten);
    this.#store.put(changed);
  }

  /** Writes the states folded before this call, spread over time until `awaited` is aborted. */
  write(awaited: AbortSignal): Promise<void> {
    return this.#store.write(awaited);
  }

  forget(): void {
    this.#store.forget();
  }

  /** After a reset the partition is opened anew. */
  beforeReset(): Promise<void> {
    return this.close();
  }

  close(): Promise<void> {
    return this.#store.close();
  }
}

/** Adds the records to the accounts of their leads, in order; returns what had passed of each lead at its records. */
function seenAt(
  incoming: readonly IncomingRecord[],
  leadRecords: ReadonlyMap<IncomingRecord, LeadRecord>,
  accounts: BatchAccounts,
): ReadonlyMap<LeadRecord, SeenLead | undefined> {
  const seen = new Map<LeadRecord, SeenLead | undefined>();
  for (const record of incoming) {
    accounts.see(record);
    const leadRecord = leadRecords.get(record);
    if (leadRecord) seen.set(leadRecord, accounts.now(leadRecord));
  }
  return seen;
}

interface FoldedFirings {
  /** States by cache key. */
  readonly changed: ReadonlyMap<string, FoldedLead>;
  /** The events that were not folded before. The others are not stored again: their lead may have been forgotten since. */
  readonly unfolded: readonly RecordedFiring[];
  readonly forgotten: readonly ForgottenLead[];
}

/** @param decidedStates states that the decision has computed, by payload of the event */
function foldFirings(
  recorded: readonly RecordedFiring[],
  before: ReadonlyMap<string, FoldedLead | null>,
  decidedStates: ReadonlyMap<object, LeadState>,
): FoldedFirings {
  const changed = new Map<string, FoldedLead>();
  const unfolded: RecordedFiring[] = [];
  const forgotten: ForgottenLead[] = [];
  for (const one of recorded) {
    const { event, offset } = one;
    const { ou_id, lead_id, source } = event.payload;
    const key = cacheKeyOf(event.payload);
    const lead = changed.get(key) ?? before.get(key);
    if (lead && lead.offset >= offset) continue;
    const state = lead?.state ?? initialLeadState(ou_id, lead_id);
    if (event.type === 'LeadForgotten') forgotten.push({ before: state, topic: source.topic, offset });
    changed.set(key, { state: decidedStates.get(event.payload) ?? evolveLead(state, event), offset });
    unfolded.push(one);
  }
  return { changed, unfolded, forgotten };
}
