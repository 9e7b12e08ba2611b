// Configurations as stored. Each OU's is folded by the partition that owns the OU, and published whole for all
// partitions, which decide on leads and deliver with it: what is published never goes back, also while the fold is being
// rebuilt.
import type { JsonValue } from '@lead-scoring/contracts';
import {
  binaryToUuid,
  defineCollection,
  findByIds,
  findFields,
  isDuplicateKey,
  packJson,
  unpackJson,
  uuidToBinary,
  withClassifiedErrors,
  type Binary,
  type GuardedDocument,
  type ReadModel,
} from '@lead-scoring/read-model';
import type { ConfigurationReader } from './reader.js';
import {
  emptyNotificationConfiguration,
  type Channel,
  type NotificationConfiguration,
  type Trigger,
} from './state.js';

/** The fold's own document; `_id` is the OU. */
export interface ConfigurationDocument extends GuardedDocument {
  _id: Binary;
  version: number;
  /** JSON text of channels and triggers, in the order in which they were made. */
  content: string;
}

interface PublishedConfiguration {
  _id: Binary;
  version: number;
  content: string;
  partition: number;
}

export const configurations = defineCollection<ConfigurationDocument>({
  name: 'notification_configurations',
  indexes: [],
});
export const publishedConfigurations = defineCollection<PublishedConfiguration>({
  name: 'published_notification_configurations',
  indexes: [],
});
export const configurationCollections = [configurations, publishedConfigurations];

export function toDocument(
  { ou_id, version, channels, triggers }: NotificationConfiguration,
  at: { partition: number; offset: number },
): ConfigurationDocument {
  const content = { channels: [...channels.values()], triggers: [...triggers.values()] };
  return { _id: uuidToBinary(ou_id), version, content: packJson(content as unknown as JsonValue), ...at };
}

export function toConfiguration({
  _id,
  version,
  content,
}: Pick<ConfigurationDocument, '_id' | 'version' | 'content'>): NotificationConfiguration {
  const { channels, triggers } = unpackJson(content) as unknown as {
    channels: Channel[];
    triggers: Trigger[];
  };
  return {
    ou_id: binaryToUuid(_id),
    version,
    channels: new Map(channels.map((channel) => [channel.id, channel])),
    triggers: new Map(triggers.map((trigger) => [trigger.id, trigger])),
  };
}

/** Puts a configuration in force, unless a newer one is. */
export async function publish(
  readModel: ReadModel,
  { _id, version, content, partition }: ConfigurationDocument,
): Promise<void> {
  await withClassifiedErrors(async () => {
    try {
      await readModel
        .collection(publishedConfigurations)
        .replaceOne({ _id, version: { $lte: version } }, { version, content, partition }, { upsert: true });
    } catch (error) {
      // The id is there with a newer version, so the upsert tried to insert it again.
      if (!isDuplicateKey(error)) throw error;
    }
  });
}

/** Configurations kept in a process. */
const maximumKept = 2_000;

export function createConfigurationReader(readModel: ReadModel): ConfigurationReader {
  const collection = readModel.collection(publishedConfigurations);
  const kept = new Map<string, NotificationConfiguration>();
  return {
    load: async (ouIds) => {
      const wanted = [...new Set(ouIds)];
      const loaded = new Map<string, NotificationConfiguration>();
      if (wanted.length === 0) return loaded;
      const found = await findFields(collection, wanted.map(uuidToBinary), ['version']);
      const versions = new Map(found.map(({ _id, version }) => [binaryToUuid(_id), version]));
      const changed = wanted.filter((ouId) => (versions.get(ouId) ?? 0) > (kept.get(ouId)?.version ?? 0));
      for (const document of await findByIds(collection, changed.map(uuidToBinary))) {
        const ouId = binaryToUuid(document._id);
        // Another load may have brought a newer one in the meantime.
        if (document.version > (kept.get(ouId)?.version ?? 0)) kept.set(ouId, toConfiguration(document));
      }
      for (const ouId of wanted) {
        const known = kept.get(ouId) ?? emptyNotificationConfiguration(ouId);
        kept.set(ouId, known);
        loaded.set(ouId, known);
      }
      if (kept.size > maximumKept) for (const ouId of kept.keys()) if (!loaded.has(ouId)) kept.delete(ouId);
      return loaded;
    },
  };
}
