// What the scoring service knows of one partition: decides on configurations and scores with it, and folds its own
// events into it.
import {
  configurationEventOf,
  configurationRecords,
  emptyConfiguration,
  evolveConfiguration,
  records,
  type ConfigurationEvent,
  type JsonValue,
  type ScoringConfiguration,
} from '@lead-scoring/contracts';
import {
  BatchTooLarge,
  isRecord,
  outgoing,
  takenOf,
  wasSentAgain,
  type Checkpoint,
  type Decision,
  type FoldedRecord,
  type IncomingRecord,
  type OutgoingRecord,
  type PartitionState,
  type Reply,
} from '@lead-scoring/event-log';
import {
  createCheckpoints,
  createGuardedWriter,
  deletePartition,
  findByIds,
  insertMissing,
  offsetToNumber,
  packJson,
  uuidToBinary,
  type ReadModel,
} from '@lead-scoring/read-model';
import { decideConfiguration, resultOf } from './configuration/decide.js';
import type { ConfigurationCommand } from './configuration/events.js';
import {
  configurationChanges,
  configurations,
  publish,
  publishedConfigurations,
  toConfiguration,
  toDocument,
  type ConfigurationReader,
} from './configuration/store.js';
import { scoringInputs } from './inputs.js';
import { recordKey } from './keys.js';
import {
  histograms,
  lateDecisionId,
  lateDecisions,
  leadAliases,
  leads,
  timeline,
  type LateDecisionDocument,
} from './leads/model.js';
import { createLeadProjection, leadName, type FoldedLeadEvent } from './leads/project.js';
import { decideLeads } from './scores/decide.js';
import { endAfter, undecided } from './scores/source-model.js';
import type { LeadCause, LeadEvent } from './scores/events.js';
import { compileRules, type CompiledRules } from './scores/rule-model.js';

export const processorName = 'scoring';
const positionsAcceptedType = 'PositionsAccepted';
export const scoringCollections = [
  configurations,
  publishedConfigurations,
  configurationChanges,
  leads,
  leadAliases,
  timeline,
  histograms,
  lateDecisions,
];

export interface PartitionOptions {
  /** Shared by the partitions of a process. */
  configurations: ConfigurationReader;
  /** Leads that a partition keeps in hand. */
  cachedLeads: number;
  /**
   * Matches decided in one batch; one with more is handed back to be decided in halves, so that very many matching rules cost
   * time and not memory. Default 200,000.
   */
  maximumMatches?: number;
}

const defaultMaximumMatches = 200_000;

export function openPartition(
  readModel: ReadModel,
  partition: number,
  options: PartitionOptions,
): PartitionState {
  const storedConfigurations = readModel.collection(configurations);
  const storedChanges = readModel.collection(configurationChanges);
  const { maximumMatches = defaultMaximumMatches } = options;
  const storedLateDecisions = readModel.collection(lateDecisions);
  const checkpoints = createCheckpoints(readModel);
  const writer = createGuardedWriter(readModel);
  const projection = createLeadProjection(readModel, { partition, cachedLeads: options.cachedLeads });
  /** Configurations of the OUs that this partition owns, as folded. */
  const folded = new Map<string, { configuration: ScoringConfiguration; offset: number }>();
  const compiled = new Map<string, CompiledRules>();
  /** The next offset of ingest.events behind all that is decided on, as the checkpoint and the own events tell. */
  let decidedUpTo = 0;

  async function loadFolded(ouIds: Iterable<string>): Promise<void> {
    const missing = [...new Set(ouIds)].filter((ouId) => !folded.has(ouId));
    if (missing.length === 0) return;
    const found = await findByIds(storedConfigurations, missing.map(uuidToBinary));
    for (const ouId of missing) folded.set(ouId, { configuration: emptyConfiguration(ouId), offset: -1 });
    for (const document of found) {
      const configuration = toConfiguration(document);
      folded.set(configuration.ou_id, { configuration, offset: document.offset });
    }
  }

  async function decideCommands(incoming: readonly IncomingRecord[]): Promise<Decision> {
    const commands = incoming.flatMap((record) => {
      const command: ConfigurationCommand | null = takenOf(
        'scoring.commands',
        scoringInputs['scoring.commands'],
        record,
      );
      return command ? [{ record, command }] : [];
    });
    await loadFolded(commands.map(({ command }) => command.payload.ou_id));
    const events: OutgoingRecord[] = [];
    const replies: Reply[] = [];
    const current = new Map<string, ScoringConfiguration>();
    for (const { record, command } of commands) {
      const ouId = command.payload.ou_id;
      let configuration = current.get(ouId) ?? folded.get(ouId)?.configuration ?? emptyConfiguration(ouId);
      const decision = decideConfiguration(command, configuration);
      if (decision.outcome === 'rejected') {
        replies.push({ to: record, reply: decision });
        continue;
      }
      configuration = decision.events.reduce(evolveConfiguration, configuration);
      current.set(ouId, configuration);
      events.push(...decision.events.map(eventRecord));
      replies.push({ to: record, reply: { outcome: 'done', result: resultOf(command, configuration) } });
    }
    return { events, replies };
  }

  async function decideScores(incoming: readonly IncomingRecord[]): Promise<Decision> {
    // Those of a batch that are of this topic have all come from it, or have all been sent again.
    const isSentAgain = incoming[0] !== undefined && wasSentAgain(incoming[0]);
    const fresh = isSentAgain ? await notDecidedLate(incoming) : undecided(incoming, decidedUpTo);
    const causes = fresh.flatMap((record) => leadCause(record, isSentAgain) ?? []);
    if (causes.length === 0) return { events: [] };
    const [rules, before] = await Promise.all([
      rulesOf(new Set(causes.map(({ payload }) => payload.ou_id))),
      projection.load(causes.map(({ payload }) => payload)),
    ]);
    const decided = decideLeads(
      causes,
      (ouId, leadId) => before.get(leadName(ouId, leadId))?.score ?? null,
      (ouId) => {
        const ofUnit = rules.get(ouId);
        if (!ofUnit) throw new Error(`the rules of OU ${ouId} were not loaded`);
        return ofUnit;
      },
      maximumMatches,
    );
    if (!decided) throw new BatchTooLarge(`more than ${String(maximumMatches)} rules match in one batch`);
    return { events: decided.map(leadEventRecord) };
  }

  /** Of records that were sent again, those that no decision is recorded for. */
  async function notDecidedLate(incoming: readonly IncomingRecord[]): Promise<IncomingRecord[]> {
    const idOf = ({ offset }: IncomingRecord) => lateDecisionId(partition, offsetToNumber(offset));
    const known = new Set(
      (await findByIds(storedLateDecisions, [...new Set(incoming.map(idOf))])).map(({ _id }) => _id),
    );
    return incoming.filter((record) => {
      const id = idOf(record);
      if (known.has(id)) return false;
      known.add(id);
      return true;
    });
  }

  async function foldSources(events: readonly FoldedRecord[]): Promise<void> {
    let late: LateDecisionDocument[] = [];
    for (const record of events) {
      if (record.type === positionsAcceptedType) {
        // The offsets of before are of a log that is no more.
        const { inputs } = record.payload as records.PositionsAccepted;
        decidedUpTo = inputs.find(({ topic }) => topic === 'ingest.events')?.position ?? 0;
        late = [];
        // A handful at most.
        await deletePartition(readModel, lateDecisions, partition, () => undefined);
      }
      if (!isRecord(record, records.leadScored) && !isRecord(record, records.leadRemoved)) continue;
      const { source } = record.payload;
      decidedUpTo = endAfter(decidedUpTo, source);
      if (source?.sent_again) late.push({ _id: lateDecisionId(partition, source.offset), partition });
    }
    if (late.length > 0) await insertMissing(storedLateDecisions, late);
  }

  /** A rule change counts for events that are decided from then on: versions are looked at for every batch. */
  async function rulesOf(ouIds: ReadonlySet<string>): Promise<Map<string, CompiledRules>> {
    const rules = new Map<string, CompiledRules>();
    for (const [ouId, configuration] of await options.configurations.load(ouIds)) {
      let known = compiled.get(ouId);
      if (known?.version !== configuration.version) {
        known = compileRules(configuration);
        compiled.set(ouId, known);
      }
      rules.set(ouId, known);
    }
    return rules;
  }

  async function foldConfigurations(
    changes: readonly { event: ConfigurationEvent; offset: number }[],
  ): Promise<void> {
    if (changes.length === 0) return;
    await loadFolded(changes.map(({ event }) => event.payload.ou_id));
    await insertMissing(
      storedChanges,
      changes.map(({ event, offset }) => ({
        _id: recordKey(event.payload.ou_id, offset),
        event: packJson(event as unknown as JsonValue),
        partition,
      })),
    );
    const touched = new Set<string>();
    for (const { event, offset } of changes) {
      const ouId = event.payload.ou_id;
      const known = folded.get(ouId);
      touched.add(ouId);
      if (known && known.offset < offset)
        folded.set(ouId, { configuration: evolveConfiguration(known.configuration, event), offset });
    }
    for (const ouId of touched) {
      const known = folded.get(ouId);
      if (!known) continue;
      const document = toDocument(known.configuration, { partition, offset: known.offset });
      await writer.write(storedConfigurations, [document]);
      await publish(readModel, document);
    }
  }

  return {
    checkpoint: async () => {
      const checkpoint = await checkpoints.load(processorName, partition);
      decidedUpTo = offsetToNumber(checkpoint.positions['ingest.events'] ?? 0n);
      return checkpoint;
    },
    decide: (incoming: IncomingRecord[]): Promise<Decision> =>
      incoming[0]?.topic === 'scoring.commands' ? decideCommands(incoming) : decideScores(incoming),
    fold: async (events: FoldedRecord[]): Promise<void> => {
      const leadEvents: FoldedLeadEvent[] = [];
      const changes: { event: ConfigurationEvent; offset: number }[] = [];
      for (const record of events) {
        const offset = offsetToNumber(record.offset);
        if (isRecord(record, records.leadScored))
          leadEvents.push({ type: 'LeadScored', payload: record.payload, json: record.json, offset });
        else if (isRecord(record, records.leadRemoved))
          leadEvents.push({ type: 'LeadRemoved', payload: record.payload, offset });
        else {
          const event = configurationEventOf(record);
          if (event) changes.push({ event, offset });
        }
      }
      try {
        await foldConfigurations(changes);
      } catch (error) {
        folded.clear();
        throw error;
      }
      await foldSources(events);
      await projection.fold(leadEvents);
    },
    store: async (checkpoint: Checkpoint) => {
      await projection.write();
      await checkpoints.store(processorName, partition, checkpoint);
    },
    reset: async (touch) => {
      await checkpoints.reset(processorName, partition);
      // What is published stays in force for the other partitions until the fold has come to it again.
      await deletePartition(readModel, configurations, partition, touch);
      await deletePartition(readModel, configurationChanges, partition, touch);
      await deletePartition(readModel, lateDecisions, partition, touch);
      await deletePartition(readModel, leads, partition, touch);
      await deletePartition(readModel, leadAliases, partition, touch);
      await deletePartition(readModel, timeline, partition, touch);
      await deletePartition(readModel, histograms, partition, touch);
      folded.clear();
      projection.clear();
      decidedUpTo = 0;
    },
  };
}

function leadCause(record: IncomingRecord, isSentAgain: boolean): LeadCause | null {
  const source = { offset: offsetToNumber(record.offset), ...(isSentAgain && { sent_again: true as const }) };
  const taken = takenOf('ingest.events', scoringInputs['ingest.events'], record);
  switch (taken?.type) {
    case 'EventsIngested':
      return { type: 'EventsIngested', payload: taken.payload, source };
    case 'LeadDeleted':
      return { type: 'LeadDeleted', payload: taken.payload, source };
    case undefined:
      return null;
  }
}

function leadEventRecord({ type, payload }: LeadEvent): OutgoingRecord {
  return type === 'LeadScored'
    ? outgoing(records.leadScored, { key: payload.lead_id, payload })
    : outgoing(records.leadRemoved, { key: payload.lead_id, payload });
}

function eventRecord({ type, payload }: ConfigurationEvent): OutgoingRecord {
  return outgoing(configurationRecords[type], { key: payload.ou_id, payload });
}
