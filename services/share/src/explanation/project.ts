// Folds scoring's events into share's own read model: what an explanation is put together from when a link is read.
import {
  emptyConfiguration,
  evolveConfiguration,
  projectorNames,
  records,
  type ConfigurationEvent,
  type ScoringConfiguration,
} from '@lead-scoring/contracts';
import { isRecord, type IncomingRecord, type ProjectionState } from '@lead-scoring/event-log';
import {
  createCheckpoints,
  createGuardedWriter,
  deletePartition,
  insertMissing,
  keyOf,
  offsetToNumber,
  uuidToBinary,
  withClassifiedErrors,
  type Binary,
  type ReadModel,
} from '@lead-scoring/read-model';
import { beginRebuild, type EndOf } from '../rebuilds.js';
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

export const [projectorName] = projectorNames.share;

/** Ids looked up in one call. */
const chunkSize = 1_000;

export function openExplanationPartition(
  readModel: ReadModel,
  partition: number,
  { endOf }: { endOf: EndOf },
): ProjectionState {
  const storedLeads = readModel.collection(sharedLeads);
  const storedDecisions = readModel.collection(decisions);
  const storedConfigurations = readModel.collection(configurations);
  const checkpoints = createCheckpoints(readModel);
  const writer = createGuardedWriter(readModel);

  async function foldLeads(
    scored: readonly { payload: records.LeadScored; offset: number }[],
  ): Promise<void> {
    if (scored.length === 0) return;
    const keys = new Map<string, Binary>();
    for (const { payload } of scored) {
      const key = leadKey(payload.ou_id, payload.lead_id);
      keys.set(keyOf(key), key);
    }
    const before = await loadLeads([...keys.values()]);
    const after = new Map(before);
    for (const { payload, offset } of scored) {
      const key = keyOf(leadKey(payload.ou_id, payload.lead_id));
      after.set(key, foldLead(after.get(key) ?? null, payload, offset));
    }
    // Before the leads: whoever sees a lead's score finds the decisions that led to it.
    await insertMissing(
      storedDecisions,
      scored.flatMap(({ payload, offset }) =>
        payload.scored_events.length > 0 ? [toDecisionDocument(payload, { partition, offset })] : [],
      ),
    );
    const fresh = new Set<object>();
    const documents = [...after].flatMap(([key, lead]) => {
      const known = before.get(key);
      if (known === lead) return [];
      const document = toLeadDocument(lead, partition);
      if (!known) fresh.add(document);
      return [document];
    });
    await writer.write(storedLeads, documents, { isNew: (document) => fresh.has(document) });
  }

  async function loadLeads(keys: Binary[]): Promise<Map<string, SharedLead>> {
    const found = new Map<string, SharedLead>();
    for (let from = 0; from < keys.length; from += chunkSize)
      await withClassifiedErrors(async () => {
        const chunk = keys.slice(from, from + chunkSize);
        for (const document of await storedLeads.find({ _id: { $in: chunk } }).toArray())
          found.set(keyOf(document._id), toLead(document));
      });
    return found;
  }

  async function foldConfigurations(
    changes: readonly { event: ConfigurationEvent; offset: number }[],
  ): Promise<void> {
    if (changes.length === 0) return;
    const ouIds = [...new Set(changes.map(({ event }) => event.payload.ou_id))];
    const found = await withClassifiedErrors(() =>
      storedConfigurations.find({ _id: { $in: ouIds.map(uuidToBinary) } }).toArray(),
    );
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
    fold: async (incoming: IncomingRecord[]): Promise<void> => {
      const scored: { payload: records.LeadScored; offset: number }[] = [];
      const changes: { event: ConfigurationEvent; offset: number }[] = [];
      for (const record of incoming) {
        const offset = offsetToNumber(record.offset);
        if (isRecord(record, records.leadScored)) scored.push({ payload: record.payload, offset });
        else {
          const event = configurationEvent(record);
          if (event) changes.push({ event, offset });
        }
      }
      await foldConfigurations(changes);
      await foldLeads(scored);
    },
    reset: async () => {
      await beginRebuild(readModel, { name: projectorName, partition, topic: 'scoring.events' }, endOf);
      await checkpoints.reset(projectorName, partition);
      await deletePartition(readModel, sharedLeads, partition);
      await deletePartition(readModel, decisions, partition);
      await deletePartition(readModel, configurations, partition);
    },
  };
}

function configurationEvent(record: IncomingRecord): ConfigurationEvent | null {
  if (isRecord(record, records.rulesetCreated)) return { type: 'RulesetCreated', payload: record.payload };
  if (isRecord(record, records.rulesetUpdated)) return { type: 'RulesetUpdated', payload: record.payload };
  if (isRecord(record, records.ruleCreated)) return { type: 'RuleCreated', payload: record.payload };
  if (isRecord(record, records.rulesActivationChanged))
    return { type: 'RulesActivationChanged', payload: record.payload };
  return null;
}
