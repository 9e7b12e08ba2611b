// Folds scoring's events on leads into the documents of leads and decisions.
import type { LeadFieldName, records } from '@lead-scoring/contracts';
import {
  createStateCache,
  deleteFound,
  findByIds,
  insertMissing,
  keyOf,
  withClassifiedErrors,
  type GuardedWriter,
  type ReadModel,
  type StateCache,
} from '@lead-scoring/read-model';
import { foldLead, isStored } from './fold.js';
import {
  decisionKeysBetween,
  decisions,
  leadKey,
  sharedLeads,
  toDecisionDocument,
  toLead,
  toLeadDocument,
} from './model.js';
import type { SharedLead } from './state.js';

interface LeadDecision {
  type: 'LeadScored';
  payload: records.LeadScored;
  /** The JSON text of the payload. */
  json: Buffer;
  offset: number;
}

interface LeadRemoval {
  type: 'LeadRemoved';
  payload: records.LeadRemoved;
  offset: number;
}

export type LeadEvent = LeadDecision | LeadRemoval;

/** The stored leads by their names in the cache; null for a lead that is not stored. */
type StoredLeads = ReadonlyMap<string, SharedLead | null>;

/** What a batch of events changes. Leads have their names in the cache. */
interface LeadChanges {
  /** The leads after the batch; null for a removed lead. */
  changed: ReadonlyMap<string, SharedLead | null>;
  /** The decisions to store. */
  kept: LeadDecision[];
  /** The last removal of each lead. */
  removed: ReadonlyMap<string, LeadRemoval>;
}

export interface LeadProjectionOptions {
  partition: number;
  writer: GuardedWriter;
  /** Maximum number of leads that the cache holds. */
  cachedLeads: number;
  /** Fields of leads to store besides the name. */
  keptFields: readonly LeadFieldName[];
}

/** The leads and decisions of one partition. */
export class LeadProjection {
  readonly #leads;
  readonly #decisions;
  readonly #cache: StateCache<SharedLead>;
  readonly #options: LeadProjectionOptions;

  constructor(readModel: ReadModel, options: LeadProjectionOptions) {
    this.#leads = readModel.collection(sharedLeads);
    this.#decisions = readModel.collection(decisions);
    this.#cache = createStateCache<SharedLead>({ maximumEntries: options.cachedLeads });
    this.#options = options;
  }

  async fold(events: readonly LeadEvent[]): Promise<void> {
    if (events.length === 0) return;
    try {
      const before = await this.#load(events);
      const changes = foldLeadEvents(events, before, this.#options.keptFields);
      await this.#storeDecisions(changes);
      await this.#storeLeads(changes, before);
      for (const { payload, offset } of changes.removed.values()) await this.#deleteLead(payload, offset);
      for (const [name, lead] of changes.changed) this.#cache.put(name, lead);
    } catch (error) {
      // The cache may be ahead of the database; the repeated fold starts from the stored documents.
      this.clearCache();
      throw error;
    }
  }

  clearCache(): void {
    this.#cache.clear();
  }

  #load(events: readonly LeadEvent[]): Promise<StoredLeads> {
    const owners = new Map(events.map(({ payload }) => [leadName(payload), payload]));
    return this.#cache.load(owners.keys(), async (missing) => {
      const byKey = new Map<string, { name: string; owner: LeadEvent['payload'] }>();
      const keys = missing.flatMap((name) => {
        const owner = owners.get(name);
        if (!owner) return [];
        const key = leadKey(owner.ou_id, owner.lead_id);
        byKey.set(keyOf(key), { name, owner });
        return [key];
      });
      return (await findByIds(this.#leads, keys)).flatMap((document): [string, SharedLead][] => {
        const wanted = byKey.get(keyOf(document._id));
        return wanted ? [[wanted.name, toLead(document, wanted.owner)]] : [];
      });
    });
  }

  /** Stores the decisions, except those that a removal in the same batch deletes. */
  async #storeDecisions({ kept, removed }: LeadChanges): Promise<void> {
    const { partition } = this.#options;
    const isOld = ({ payload, offset }: LeadDecision) =>
      removed.size > 0 && offset < (removed.get(leadName(payload))?.offset ?? 0);
    await insertMissing(
      this.#decisions,
      kept
        .filter((event) => !isOld(event))
        .map(({ payload, json, offset }) => toDecisionDocument(payload, json, { partition, offset })),
    );
  }

  async #storeLeads({ changed }: LeadChanges, before: StoredLeads): Promise<void> {
    const { partition, writer } = this.#options;
    const fresh = new Set<object>();
    const documents = [...changed].flatMap(([name, lead]) => {
      if (!lead) return [];
      const document = toLeadDocument(lead, partition);
      if (!before.get(name)) fresh.add(document);
      return [document];
    });
    await writer.write(this.#leads, documents, { isNew: (document) => fresh.has(document) });
  }

  /**
   * Deletes the lead, unless it was made after the removal, and then the decisions before the removal. Readers rely on
   * this order.
   */
  async #deleteLead({ ou_id, lead_id }: records.LeadRemoved, offset: number): Promise<void> {
    await withClassifiedErrors(() =>
      this.#leads.deleteMany({ _id: leadKey(ou_id, lead_id), offset: { $lt: offset } }),
    );
    await deleteFound(this.#decisions, { _id: decisionKeysBetween(ou_id, lead_id, 0, offset) });
  }
}

function foldLeadEvents(
  events: readonly LeadEvent[],
  before: StoredLeads,
  keptFields: readonly LeadFieldName[],
): LeadChanges {
  const changed = new Map<string, SharedLead | null>();
  const kept: LeadDecision[] = [];
  const removed = new Map<string, LeadRemoval>();
  for (const event of events) {
    const { payload, offset } = event;
    const name = leadName(payload);
    const current = changed.get(name);
    const lead = current === undefined ? (before.get(name) ?? null) : current;
    if (event.type === 'LeadRemoved') {
      removed.set(name, event);
      // When the removal is folded a second time, a new lead may have taken the place.
      if (!lead || lead.offset < offset) changed.set(name, null);
      continue;
    }
    const folded = foldLead(lead, event.payload, offset, keptFields);
    if (folded !== lead) changed.set(name, folded);
    if (isStored(event.payload, folded, offset)) kept.push(event);
  }
  return { changed, kept, removed };
}

/** The name of a lead in the cache. */
function leadName({ ou_id, lead_id }: LeadEvent['payload']): string {
  return `${ou_id}/${lead_id}`;
}
