// Folds scoring's events on leads into the documents of leads and decisions.
import type { LeadFieldName, records } from '@lead-scoring/contracts';
import {
  BufferedInserts,
  BufferedStates,
  deleteFound,
  withClassifiedErrors,
  WriteBehind,
  type ReadModel,
} from '@lead-scoring/read-model';
import type { ScoreDecision } from '@lead-scoring/scoring-domain';
import { foldContributed, foldLead, isStored } from './fold.js';
import {
  decisionKeysBetween,
  decisions,
  leadKey,
  sharedLeads,
  toDecisionDocument,
  toLead,
  toLeadDocument,
  type DecisionDocument,
  type SharedLeadDocument,
} from './model.js';
import type { SharedLead } from './state.js';

interface LeadDecision {
  type: 'Decided';
  payload: ScoreDecision;
  /** The JSON text of the payload. */
  json: Buffer;
  offset: number;
}

interface LeadRemoval {
  type: 'LeadRemoved';
  payload: records.LeadRemoved;
  offset: number;
}

interface LeadContribution {
  type: 'LeadContributed';
  payload: records.LeadContributed;
  offset: number;
}

export type LeadEvent = LeadDecision | LeadContribution | LeadRemoval;

/** The leads before a batch by their names in memory; null for a lead that is not there. */
type LeadsBefore = ReadonlyMap<string, SharedLead | null>;

/** What a batch of events changes. Leads have their names in memory. */
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
  /** Maximum number of leads that the cache holds. */
  cachedLeads: number;
  /** Fields of leads to store besides the name. */
  keptFields: readonly LeadFieldName[];
  /** Whether decisions that gave no points are stored too: with them, accounts know the whole activity of a lead. */
  keepsActivity: boolean;
}

/** The leads and decisions of one partition. */
export class LeadProjection {
  readonly #stored;
  readonly #leads: BufferedStates<SharedLead, SharedLeadDocument>;
  readonly #decisions: BufferedInserts<DecisionDocument>;
  readonly #behind: WriteBehind;

  constructor(
    readModel: ReadModel,
    private readonly options: LeadProjectionOptions,
  ) {
    this.#stored = {
      leads: readModel.collection(sharedLeads),
      decisions: readModel.collection(decisions),
    };
    this.#leads = new BufferedStates(readModel, {
      collection: sharedLeads,
      idOf: (name) => leadKey(leadNamed(name).ou_id, leadNamed(name).lead_id),
      toState: (document, name) => toLead(document, leadNamed(name)),
      toDocument: (lead) => toLeadDocument(lead, options.partition),
      maximumCached: options.cachedLeads,
    });
    this.#decisions = new BufferedInserts(readModel, decisions);
    this.#behind = new WriteBehind([this.#decisions, this.#leads]);
  }

  /** Resolves when the leads and decisions are stored: the projector stores its checkpoint after each fold. */
  async fold(events: readonly LeadEvent[]): Promise<void> {
    if (events.length === 0) return;
    const before = await this.#leads.load(events.map(({ payload }) => leadName(payload)));
    const changes = foldLeadEvents(events, before, this.options);
    this.#putDecisions(changes);
    for (const [name, lead] of changes.changed)
      if (lead) this.#leads.put(name, lead);
      else this.#leads.deleted(name);
    await this.#behind.write();
    for (const { payload, offset } of changes.removed.values()) await this.#deleteLead(payload, offset);
  }

  forget(): void {
    this.#behind.forget();
  }

  /** Puts in the decisions, except those that a removal in the same batch deletes. */
  #putDecisions({ kept, removed }: LeadChanges): void {
    const { partition } = this.options;
    const isOld = ({ payload, offset }: LeadDecision) =>
      removed.size > 0 && offset < (removed.get(leadName(payload))?.offset ?? 0);
    for (const event of kept)
      if (!isOld(event)) {
        const { payload, json, offset } = event;
        this.#decisions.put(toDecisionDocument(payload, json, { partition, offset }));
      }
  }

  /**
   * Deletes the lead, unless it was made after the removal, and then the decisions before the removal. Readers rely on
   * this order.
   */
  async #deleteLead({ ou_id, lead_id }: records.LeadRemoved, offset: number): Promise<void> {
    await withClassifiedErrors(() =>
      this.#stored.leads.deleteMany({ _id: leadKey(ou_id, lead_id), offset: { $lt: offset } }),
    );
    await deleteFound(this.#stored.decisions, { _id: decisionKeysBetween(ou_id, lead_id, 0, offset) });
  }
}

function foldLeadEvents(
  events: readonly LeadEvent[],
  before: LeadsBefore,
  { keptFields, keepsActivity }: Pick<LeadProjectionOptions, 'keptFields' | 'keepsActivity'>,
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
    if (event.type === 'LeadContributed') {
      const folded = foldContributed(lead, event.payload, offset);
      if (folded !== lead) changed.set(name, folded);
      continue;
    }
    const folded = foldLead(lead, event.payload, offset, keptFields);
    if (folded !== lead) changed.set(name, folded);
    if (keepsActivity || isStored(event.payload, folded, offset)) kept.push(event);
  }
  return { changed, kept, removed };
}

/** The name of a lead in memory. */
function leadName({ ou_id, lead_id }: LeadEvent['payload']): string {
  return `${ou_id}/${lead_id}`;
}

/** The lead that `leadName` has named. */
function leadNamed(name: string): { ou_id: string; lead_id: string } {
  const slash = name.indexOf('/');
  return { ou_id: name.slice(0, slash), lead_id: name.slice(slash + 1) };
}
