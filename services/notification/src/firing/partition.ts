// Firing in one partition: decides on batches of records, and folds the events of the decisions.
import type { CapabilityDecision, OpenCapability, PartitionScope } from '@lead-scoring/capability';
import type { FoldedRecord, IncomingRecord } from '@lead-scoring/event-log';
import { leadKey } from '@lead-scoring/explanations';
import type { FiringEvent, LeadState } from '@lead-scoring/scoring-domain/triggers';
import type { ShareLinks } from '../share-links.js';
import { LeadAccounts, type BatchAccounts, type SeenLead } from './accounts.js';
import { leadStates } from './documents.js';
import { leadFold } from './lead-fold.js';
import type { Explanations } from '../explanations/reader.js';
import { FiringBatch, recordsOf, tooLargeReason } from './firing-batch.js';
import { describeFirings } from './firing-descriptions.js';
import { FiringStore, type StoredSubjects } from './firing-store.js';
import { countForgettings } from './forgetting.js';
import { leadMoments } from './filtered-leads.js';
import { findLeadRecords, type LeadRecord } from './lead-records.js';
import { firingEventOf } from './messages.js';
import { packState, unpackState } from './state-text.js';
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

const storedLeads: StoredSubjects<FiringEvent, LeadState> = {
  ...leadFold,
  eventOf: firingEventOf,
  collection: leadStates,
  keyOf: ({ ou_id, id }) => leadKey(ou_id, id),
  pack: packState,
  unpack: (text, { ou_id, id }) => ({ ou_id, lead_id: id, ...unpackState(text) }),
};

export class FiringPartition implements OpenCapability {
  readonly #accounts: LeadAccounts;
  readonly #store;
  /** Of the last decided batch; see `FiringBatch`. */
  #decidedStates: ReadonlyMap<object, LeadState> = new Map();

  constructor(
    { readModel, partition }: Pick<PartitionScope, 'readModel' | 'partition'>,
    private readonly options: FiringOptions,
  ) {
    this.#accounts = new LeadAccounts(partition, options.explanations, options);
    this.#store = new FiringStore(readModel, partition, storedLeads, { maximumCached: options.cachedLeads });
  }

  /** @param incoming records of scoring.events and of ingest.events, each in their order */
  async decide(incoming: readonly IncomingRecord[]): Promise<CapabilityDecision> {
    this.#decidedStates = new Map();
    const accounts = this.#accounts.begin();
    const batch = await this.#batchOf(incoming, accounts);
    if (!batch) return tooLarge;
    const { drafts, firings: pending } = batch;
    const forgettings = await this.#store.forgettingsOf(drafts);
    if (batch.isTooLarge(countForgettings(forgettings)) && incoming.length > 1) return tooLarge;
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
  fold(folded: readonly FoldedRecord[]): Promise<void> {
    return this.#store.fold(folded, this.#decidedStates);
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
