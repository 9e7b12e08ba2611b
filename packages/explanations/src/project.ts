// Folds scoring's events into the read model that an explanation is put together from when it is asked for.
import {
  configurationEventOf,
  emptyConfiguration,
  evolveConfiguration,
  records,
  type ConfigurationEvent,
  type ScoringConfiguration,
} from '@lead-scoring/contracts';
import { isRecord, type FoldedRecord, type ProjectionState } from '@lead-scoring/event-log';
import {
  createCheckpoints,
  createGuardedWriter,
  createStateCache,
  deletePartition,
  findByIds,
  insertMissing,
  keyOf,
  offsetToNumber,
  uuidToBinary,
  type ReadModel,
} from '@lead-scoring/read-model';
import { foldLead } from './fold.js';
import {
  configurations,
  decisions,
  leadKey,
  sharedLeads,
  toConfiguration,
  toConfigurationDocument,
  toDecisionDocument,
  toLead,
  toLeadDocument,
} from './model.js';
import type { SharedLead } from './state.js';

interface FoldedDecision {
  payload: records.LeadScored;
  /** The payload's own text. */
  json: Buffer;
  offset: number;
}

export interface ExplanationPartitionOptions {
  /** The projector that folds: its checkpoints have this name. */
  projectorName: string;
  /** What is to be done before anything of the partition is dropped. */
  beforeReset: () => Promise<void>;
  /** Leads that a partition keeps in hand. */
  cachedLeads: number;
}

export function openExplanationPartition(
  readModel: ReadModel,
  partition: number,
  { projectorName, beforeReset, cachedLeads }: ExplanationPartitionOptions,
): ProjectionState {
  const storedLeads = readModel.collection(sharedLeads);
  const storedDecisions = readModel.collection(decisions);
  const storedConfigurations = readModel.collection(configurations);
  const checkpoints = createCheckpoints(readModel);
  const writer = createGuardedWriter(readModel);
  const cache = createStateCache<SharedLead>({ maximumEntries: cachedLeads });

  async function foldLeads(scored: readonly FoldedDecision[]): Promise<void> {
    if (scored.length === 0) return;
    try {
      await foldLoaded(scored, await loadLeads(scored));
    } catch (error) {
      // What is in hand may be ahead of what is stored; the same fold again starts from what is stored.
      cache.clear();
      throw error;
    }
  }

  async function foldLoaded(
    scored: readonly FoldedDecision[],
    before: ReadonlyMap<string, SharedLead | null>,
  ): Promise<void> {
    const changed = new Map<string, SharedLead>();
    for (const { payload, offset } of scored) {
      const name = leadName(payload);
      const lead = changed.get(name) ?? before.get(name) ?? null;
      const folded = foldLead(lead, payload, offset);
      if (folded !== lead) changed.set(name, folded);
    }
    // Before the leads: whoever sees a lead's score finds the decisions that led to it.
    await insertMissing(
      storedDecisions,
      scored.flatMap(({ payload, json, offset }) =>
        payload.scored_events.length > 0 ? [toDecisionDocument(payload, json, { partition, offset })] : [],
      ),
    );
    const fresh = new Set<object>();
    const documents = [...changed].map(([name, lead]) => {
      const document = toLeadDocument(lead, partition);
      if (!before.get(name)) fresh.add(document);
      return document;
    });
    await writer.write(storedLeads, documents, { isNew: (document) => fresh.has(document) });
    for (const [name, lead] of changed) cache.put(name, lead);
  }

  async function loadLeads(
    scored: readonly FoldedDecision[],
  ): Promise<ReadonlyMap<string, SharedLead | null>> {
    const owners = new Map(scored.map(({ payload }) => [leadName(payload), payload]));
    return cache.load(owners.keys(), async (missing) => {
      const byKey = new Map<string, { name: string; owner: records.LeadScored }>();
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
    const folded = new Map<string, { configuration: ScoringConfiguration; offset: number }>(
      found.map((document) => {
        const configuration = toConfiguration(document);
        return [configuration.ou_id, { configuration, offset: document.offset }];
      }),
    );
    for (const { event, offset } of changes) {
      const { ou_id } = event.payload;
      const known = folded.get(ou_id);
      if (known && known.offset >= offset) continue;
      const configuration = evolveConfiguration(known?.configuration ?? emptyConfiguration(ou_id), event);
      folded.set(ou_id, { configuration, offset });
    }
    await writer.write(
      storedConfigurations,
      [...folded.values()].map(({ configuration, offset }) =>
        toConfigurationDocument(configuration, { partition, offset }),
      ),
    );
  }

  return {
    checkpoint: () => checkpoints.load(projectorName, partition),
    store: (checkpoint) => checkpoints.store(projectorName, partition, checkpoint),
    fold: async (incoming: FoldedRecord[]): Promise<void> => {
      const scored: FoldedDecision[] = [];
      const changes: { event: ConfigurationEvent; offset: number }[] = [];
      for (const record of incoming) {
        const offset = offsetToNumber(record.offset);
        if (isRecord(record, records.leadScored))
          scored.push({ payload: record.payload, json: record.json, offset });
        else {
          const event = configurationEventOf(record);
          if (event) changes.push({ event, offset });
        }
      }
      await foldConfigurations(changes);
      await foldLeads(scored);
    },
    reset: async () => {
      await beforeReset();
      await checkpoints.reset(projectorName, partition);
      await deletePartition(readModel, sharedLeads, partition);
      await deletePartition(readModel, decisions, partition);
      await deletePartition(readModel, configurations, partition);
      cache.clear();
    },
  };
}

/** A lead's name among those in hand. */
function leadName({ ou_id, lead_id }: records.LeadScored): string {
  return `${ou_id}/${lead_id}`;
}
