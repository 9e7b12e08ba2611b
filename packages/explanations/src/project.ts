// Folds scoring's events into the read model from which explanations are computed.
import {
  emptyConfiguration,
  evolveConfiguration,
  records,
  type ConfigurationEvent,
  type LeadFieldName,
  type ScoringConfiguration,
} from '@lead-scoring/contracts';
import { takenOf, type FoldedRecord, type ProjectionState } from '@lead-scoring/event-log';
import {
  createCheckpoints,
  createGuardedWriter,
  createStateCache,
  deleteFound,
  deletePartition,
  findByIds,
  insertMissing,
  keyOf,
  offsetToNumber,
  uuidToBinary,
  withClassifiedErrors,
  type ReadModel,
} from '@lead-scoring/read-model';
import { explanationInputs } from './inputs.js';
import { foldLead, isStored } from './fold.js';
import { emptyLevelHistory, evolveLevels, type LevelHistory } from './levels-model.js';
import {
  configurations,
  decisionKeysBetween,
  decisions,
  leadKey,
  sharedLeads,
  toConfiguration,
  toConfigurationDocument,
  toDecisionDocument,
  toLead,
  toLeadDocument,
  toLevelHistory,
} from './model.js';
import type { SharedLead } from './state.js';

interface FoldedDecision {
  type: 'LeadScored';
  payload: records.LeadScored;
  /** The JSON text of the payload. */
  json: Buffer;
  offset: number;
}

type FoldedLeadEvent = FoldedDecision | { type: 'LeadRemoved'; payload: records.LeadRemoved; offset: number };

interface FoldedConfiguration {
  configuration: ScoringConfiguration;
  levels: LevelHistory;
  offset: number;
}

export interface ExplanationPartitionOptions {
  /** Name of the projector that folds, and of its checkpoints. */
  projectorName: string;
  /** Called before documents of the partition are dropped. */
  beforeReset: () => Promise<void>;
  /** Maximum number of leads that a partition caches. */
  cachedLeads: number;
  /** Fields of leads to store besides the name. Default: none. */
  keptFields?: readonly LeadFieldName[];
}

export function openExplanationPartition(
  readModel: ReadModel,
  partition: number,
  { projectorName, beforeReset, cachedLeads, keptFields = [] }: ExplanationPartitionOptions,
): ProjectionState {
  const storedLeads = readModel.collection(sharedLeads);
  const storedDecisions = readModel.collection(decisions);
  const storedConfigurations = readModel.collection(configurations);
  const checkpoints = createCheckpoints(readModel);
  const writer = createGuardedWriter(readModel);
  const cache = createStateCache<SharedLead>({ maximumEntries: cachedLeads });

  async function foldLeads(events: readonly FoldedLeadEvent[]): Promise<void> {
    if (events.length === 0) return;
    try {
      await foldLoaded(events, await loadLeads(events));
    } catch (error) {
      // The cache may be ahead of the database; the repeated fold starts from the stored documents.
      cache.clear();
      throw error;
    }
  }

  async function foldLoaded(
    events: readonly FoldedLeadEvent[],
    before: ReadonlyMap<string, SharedLead | null>,
  ): Promise<void> {
    const changed = new Map<string, SharedLead | null>();
    const kept: FoldedDecision[] = [];
    /** The last removal of each lead, by the lead's cache name. */
    const removed = new Map<string, { payload: records.LeadRemoved; offset: number }>();
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
    const isOld = ({ payload, offset }: FoldedDecision) =>
      removed.size > 0 && offset < (removed.get(leadName(payload))?.offset ?? 0);
    await insertMissing(
      storedDecisions,
      kept
        .filter((event) => !isOld(event))
        .map(({ payload, json, offset }) => toDecisionDocument(payload, json, { partition, offset })),
    );
    const fresh = new Set<object>();
    const documents = [...changed].flatMap(([name, lead]) => {
      if (!lead) return [];
      const document = toLeadDocument(lead, partition);
      if (!before.get(name)) fresh.add(document);
      return [document];
    });
    await writer.write(storedLeads, documents, { isNew: (document) => fresh.has(document) });
    for (const { payload, offset } of removed.values()) await deleteLead(payload, offset);
    for (const [name, lead] of changed) cache.put(name, lead);
  }

  /**
   * Deletes the lead, unless it was made after the removal, and then the decisions before the removal. Readers rely on
   * this order.
   */
  async function deleteLead({ ou_id, lead_id }: records.LeadRemoved, offset: number): Promise<void> {
    await withClassifiedErrors(() =>
      storedLeads.deleteMany({ _id: leadKey(ou_id, lead_id), offset: { $lt: offset } }),
    );
    await deleteFound(storedDecisions, { _id: decisionKeysBetween(ou_id, lead_id, 0, offset) });
  }

  async function loadLeads(
    events: readonly FoldedLeadEvent[],
  ): Promise<ReadonlyMap<string, SharedLead | null>> {
    const owners = new Map(events.map(({ payload }) => [leadName(payload), payload]));
    return cache.load(owners.keys(), async (missing) => {
      const byKey = new Map<string, { name: string; owner: FoldedLeadEvent['payload'] }>();
      const keys = missing.flatMap((name) => {
        const owner = owners.get(name);
        if (!owner) return [];
        const key = leadKey(owner.ou_id, owner.lead_id);
        byKey.set(keyOf(key), { name, owner });
        return [key];
      });
      return (await findByIds(storedLeads, keys)).flatMap((document): [string, SharedLead][] => {
        const wanted = byKey.get(keyOf(document._id));
        return wanted ? [[wanted.name, toLead(document, wanted.owner)]] : [];
      });
    });
  }

  async function foldConfigurations(
    changes: readonly { event: ConfigurationEvent; offset: number }[],
  ): Promise<void> {
    if (changes.length === 0) return;
    const ouIds = [...new Set(changes.map(({ event }) => event.payload.ou_id))];
    const found = await findByIds(storedConfigurations, ouIds.map(uuidToBinary));
    const folded = new Map<string, FoldedConfiguration>(
      found.map((document) => {
        const configuration = toConfiguration(document);
        const { offset } = document;
        return [configuration.ou_id, { configuration, levels: toLevelHistory(document), offset }];
      }),
    );
    for (const { event, offset } of changes) {
      const { ou_id } = event.payload;
      const known = folded.get(ou_id);
      if (known && known.offset >= offset) continue;
      const configuration = evolveConfiguration(known?.configuration ?? emptyConfiguration(ou_id), event);
      const levels = evolveLevels(known?.levels ?? emptyLevelHistory(ou_id), event);
      folded.set(ou_id, { configuration, levels, offset });
    }
    await writer.write(
      storedConfigurations,
      [...folded.values()].map(({ configuration, levels, offset }) =>
        toConfigurationDocument(configuration, levels, { partition, offset }),
      ),
    );
  }

  return {
    checkpoint: () => checkpoints.load(projectorName, partition),
    store: (checkpoint) => checkpoints.store(projectorName, partition, checkpoint),
    fold: async (incoming: FoldedRecord[]): Promise<void> => {
      const leadEvents: FoldedLeadEvent[] = [];
      const changes: { event: ConfigurationEvent; offset: number }[] = [];
      for (const record of incoming) {
        const taken = takenOf('scoring.events', explanationInputs['scoring.events'], record);
        if (!taken) continue;
        const offset = offsetToNumber(taken.offset);
        if (taken.type === 'LeadScored')
          leadEvents.push({ type: 'LeadScored', payload: taken.payload, json: taken.json, offset });
        else if (taken.type === 'LeadRemoved')
          leadEvents.push({ type: 'LeadRemoved', payload: taken.payload, offset });
        else changes.push({ event: taken, offset });
      }
      await foldConfigurations(changes);
      await foldLeads(leadEvents);
    },
    reset: async (touch) => {
      await beforeReset();
      await checkpoints.reset(projectorName, partition);
      // Leads before decisions, as in a removal.
      await deletePartition(readModel, sharedLeads, partition, touch);
      await deletePartition(readModel, decisions, partition, touch);
      await deletePartition(readModel, configurations, partition, touch);
      cache.clear();
    },
  };
}

/** The name of a lead in the cache. */
function leadName({ ou_id, lead_id }: FoldedLeadEvent['payload']): string {
  return `${ou_id}/${lead_id}`;
}
