// What a partition knows of the configurations of the OUs that it owns: decides on their commands, folds their events,
// and publishes them.
import { records } from '@lead-scoring/contracts';
import {
  isRecord,
  outgoing,
  takenOf,
  type Decision,
  type FoldedRecord,
  type IncomingRecord,
  type OutgoingRecord,
  type Reply,
  type Touch,
} from '@lead-scoring/event-log';
import {
  createGuardedWriter,
  findByIds,
  deletePartition,
  offsetToNumber,
  uuidToBinary,
  type ReadModel,
} from '@lead-scoring/read-model';
import { configurationCommands, resealingCommands } from '../inputs.js';
import { lineOf } from '../levels/line-model.js';
import type { LevelReader } from '../levels/reader.js';
import { decideConfiguration, resultOf, type DestinationCheck, type KnownLevels } from './decide.js';
import type { ConfigurationCommand, ConfigurationEvent } from './events.js';
import { evolveConfiguration } from './evolve.js';
import { resealPartition, type ResealOptions } from './reseal.js';
import { emptyNotificationConfiguration, type NotificationConfiguration } from './state.js';
import { configurations, publish, toConfiguration, toDocument } from './store.js';

export interface ConfigurationOptions {
  destinations: DestinationCheck;
  sealing: ResealOptions['sealing'];
  levels: Pick<LevelReader, 'upToDate'>;
}

export interface ConfigurationPartition {
  /** Decides on the commands of configurations among these records of one topic. */
  decide(
    incoming: readonly IncomingRecord[],
  ): Promise<Required<Pick<Decision, 'events' | 'commands'>> & { replies: Reply[] }>;
  /** Folds the events of configurations among these. */
  fold(events: readonly FoldedRecord[]): Promise<void>;
  /** Drops this partition's documents. What is published stays in force until the fold has come to it again. */
  reset(touch: Touch): Promise<void>;
}

export function openConfiguration(
  readModel: ReadModel,
  partition: number,
  { destinations, levels, sealing }: ConfigurationOptions,
): ConfigurationPartition {
  const stored = readModel.collection(configurations);
  const writer = createGuardedWriter(readModel);
  /** Configurations of the OUs that this partition owns, as folded. */
  const folded = new Map<string, { configuration: NotificationConfiguration; offset: number }>();

  async function loadFolded(ouIds: Iterable<string>): Promise<void> {
    const missing = [...new Set(ouIds)].filter((ouId) => !folded.has(ouId));
    if (missing.length === 0) return;
    const found = await findByIds(stored, missing.map(uuidToBinary));
    for (const ouId of missing)
      folded.set(ouId, { configuration: emptyNotificationConfiguration(ouId), offset: -1 });
    for (const document of found) {
      const configuration = toConfiguration(document);
      folded.set(configuration.ou_id, { configuration, offset: document.offset });
    }
  }

  /** Of the OUs with commands on triggers by level: up to date where a level is named that was not there. */
  async function levelsFor(commands: readonly ConfigurationCommand[]): Promise<Map<string, KnownLevels>> {
    const named = new Map<string, records.MilestoneDefinition[]>();
    for (const { type, payload } of commands) {
      if (type !== 'CreateTrigger' && type !== 'ReplaceTrigger') continue;
      const { ou_id, definition } = payload;
      if (definition.kind === 'milestone' && definition.level !== undefined)
        named.set(ou_id, [...(named.get(ou_id) ?? []), definition]);
    }
    const known = new Map<string, KnownLevels>();
    for (const [ouId, definitions] of named)
      known.set(
        ouId,
        await levels.upToDate(ouId, (now) => definitions.every((one) => lineOf(one, now) !== null)),
      );
    return known;
  }

  async function foldChanges(
    changes: readonly { event: ConfigurationEvent; offset: number }[],
  ): Promise<void> {
    await loadFolded(changes.map(({ event }) => event.payload.ou_id));
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
      await writer.write(stored, [document]);
      await publish(readModel, document);
    }
  }

  return {
    decide: async (incoming) => {
      const commands = incoming.flatMap((record) => {
        const command: ConfigurationCommand | null = takenOf(
          'notification.commands',
          configurationCommands,
          record,
        );
        return command ? [{ record, command }] : [];
      });
      await loadFolded(commands.map(({ command }) => command.payload.ou_id));
      const levelsByOu = await levelsFor(commands.map(({ command }) => command));
      const events: OutgoingRecord[] = [];
      const toChannels: OutgoingRecord[] = [];
      const replies: Reply[] = [];
      const current = new Map<string, NotificationConfiguration>();
      for (const { record, command } of commands) {
        const ouId = command.payload.ou_id;
        const before =
          current.get(ouId) ?? folded.get(ouId)?.configuration ?? emptyNotificationConfiguration(ouId);
        const known = levelsByOu.get(ouId) ?? null;
        const decision = decideConfiguration(command, before, destinations, known);
        if (decision.outcome === 'rejected') {
          replies.push({ to: record, reply: decision });
          continue;
        }
        const after = decision.events.reduce(evolveConfiguration, before);
        current.set(ouId, after);
        events.push(...decision.events.map(eventRecord));
        // Also when nothing has changed: whoever puts a channel anew wants it delivered to.
        // A deleted channel's partition is told as well: what waits there is then discarded at once.
        if (command.type === 'ReplaceChannel' || command.type === 'DeleteChannel')
          toChannels.push(lookAnew(command.payload, after.version));
        const result = resultOf(command, after, known, destinations);
        replies.push({ to: record, reply: { outcome: 'done', ...(result !== undefined && { result }) } });
      }
      for (const one of incoming) {
        const record = takenOf('notification.commands', resealingCommands, one);
        if (!record) continue;
        const sealedAnew = await resealPartition(stored, partition, {
          sealing,
          maximum: record.payload.maximum_channels,
          at: record.payload.requested_at,
          // What this batch has changed is not stored yet.
          changing: current,
        });
        for (const [ouId, configuration] of sealedAnew.changed) current.set(ouId, configuration);
        events.push(...sealedAnew.events.map(eventRecord));
        replies.push({ to: record, reply: { outcome: 'done', result: sealedAnew.result } });
      }
      return { events, commands: toChannels, replies };
    },
    fold: async (incoming) => {
      const changes = incoming.flatMap((record) => {
        const event = configurationEvent(record);
        return event ? [{ event, offset: offsetToNumber(record.offset) }] : [];
      });
      if (changes.length === 0) return;
      try {
        await foldChanges(changes);
      } catch (error) {
        folded.clear();
        throw error;
      }
    },
    reset: async (touch) => {
      await deletePartition(readModel, configurations, partition, touch);
      folded.clear();
    },
  };
}

function lookAnew(
  { ou_id, channel_id, requested_at, actor }: records.DeleteChannel,
  configuration_version: number,
): OutgoingRecord {
  return outgoing(records.resumeChannel, {
    key: channel_id,
    payload: { ou_id, channel_id, cause: 'replacement', configuration_version, requested_at, actor },
  });
}

function configurationEvent(record: FoldedRecord): ConfigurationEvent | null {
  if (isRecord(record, records.channelCreated)) return { type: 'ChannelCreated', payload: record.payload };
  if (isRecord(record, records.channelReplaced)) return { type: 'ChannelReplaced', payload: record.payload };
  if (isRecord(record, records.channelSecretRotated))
    return { type: 'ChannelSecretRotated', payload: record.payload };
  if (isRecord(record, records.channelResealed)) return { type: 'ChannelResealed', payload: record.payload };
  if (isRecord(record, records.channelDeleted)) return { type: 'ChannelDeleted', payload: record.payload };
  if (isRecord(record, records.triggerCreated)) return { type: 'TriggerCreated', payload: record.payload };
  if (isRecord(record, records.triggerReplaced)) return { type: 'TriggerReplaced', payload: record.payload };
  if (isRecord(record, records.triggerDeleted)) return { type: 'TriggerDeleted', payload: record.payload };
  return null;
}

function eventRecord(event: ConfigurationEvent): OutgoingRecord {
  const key = event.payload.ou_id;
  switch (event.type) {
    case 'ChannelCreated':
      return outgoing(records.channelCreated, { key, payload: event.payload });
    case 'ChannelReplaced':
      return outgoing(records.channelReplaced, { key, payload: event.payload });
    case 'ChannelSecretRotated':
      return outgoing(records.channelSecretRotated, { key, payload: event.payload });
    case 'ChannelResealed':
      return outgoing(records.channelResealed, { key, payload: event.payload });
    case 'ChannelDeleted':
      return outgoing(records.channelDeleted, { key, payload: event.payload });
    case 'TriggerCreated':
      return outgoing(records.triggerCreated, { key, payload: event.payload });
    case 'TriggerReplaced':
      return outgoing(records.triggerReplaced, { key, payload: event.payload });
    case 'TriggerDeleted':
      return outgoing(records.triggerDeleted, { key, payload: event.payload });
  }
}
