// Configurations as stored. Each OU's is folded by the partition that owns the OU, and published whole for the
// partitions that score its leads: what is published never goes back, also while the fold is being rebuilt.
import {
  emptyConfiguration,
  evolveConfiguration,
  packConfiguration,
  unpackConfiguration,
  type ConfigurationEvent,
  type ScoringConfiguration,
} from '@lead-scoring/contracts';
import {
  binaryToUuid,
  defineCollection,
  findByIds,
  findFields,
  isDuplicateKey,
  unpackJson,
  uuidToBinary,
  withClassifiedErrors,
  type Binary,
  type GuardedDocument,
  type ReadModel,
} from '@lead-scoring/read-model';
import { recordKeysUpTo } from '../keys.js';

/** The fold's own document. */
export interface ConfigurationDocument extends GuardedDocument {
  _id: Binary;
  version: number;
  /** packConfiguration. */
  content: string;
}

interface PublishedConfiguration {
  _id: Binary;
  version: number;
  content: string;
  partition: number;
}

/** The OU's configuration events as they were: what was in force at a past moment follows from them. */
export interface ConfigurationChange {
  /** recordKey of OU and offset. */
  _id: Binary;
  event: string;
  partition: number;
}

export const configurations = defineCollection<ConfigurationDocument>({
  name: 'configurations',
  indexes: [],
});
export const publishedConfigurations = defineCollection<PublishedConfiguration>({
  name: 'published_configurations',
  indexes: [],
});
export const configurationChanges = defineCollection<ConfigurationChange>({
  name: 'configuration_changes',
  indexes: [],
});

export function toDocument(
  configuration: ScoringConfiguration,
  at: { partition: number; offset: number },
): ConfigurationDocument {
  return {
    _id: uuidToBinary(configuration.ou_id),
    version: configuration.version,
    content: packConfiguration(configuration),
    ...at,
  };
}

export function toConfiguration({
  _id,
  version,
  content,
}: Pick<ConfigurationDocument, '_id' | 'version' | 'content'>): ScoringConfiguration {
  return unpackConfiguration({ ou_id: binaryToUuid(_id), version }, content);
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

/** Reads published configurations; one that has not changed costs a look at its version. */
export interface ConfigurationReader {
  load(ouIds: Iterable<string>): Promise<Map<string, ScoringConfiguration>>;
}

/** Configurations kept in a process. */
const maximumKept = 2_000;

export function createConfigurationReader(readModel: ReadModel): ConfigurationReader {
  const collection = readModel.collection(publishedConfigurations);
  const kept = new Map<string, ScoringConfiguration>();
  return {
    load: async (ouIds) => {
      const wanted = [...new Set(ouIds)];
      const loaded = new Map<string, ScoringConfiguration>();
      const found = await findFields(collection, wanted.map(uuidToBinary), ['version']);
      const versions = new Map(found.map(({ _id, version }) => [binaryToUuid(_id), version]));
      const changed = wanted.filter((ouId) => (versions.get(ouId) ?? 0) > (kept.get(ouId)?.version ?? 0));
      for (const document of await findByIds(collection, changed.map(uuidToBinary))) {
        const ouId = binaryToUuid(document._id);
        // Another load may have brought a newer one in the meantime.
        if (document.version > (kept.get(ouId)?.version ?? 0)) kept.set(ouId, toConfiguration(document));
      }
      for (const ouId of wanted) loaded.set(ouId, kept.get(ouId) ?? emptyConfiguration(ouId));
      if (kept.size > maximumKept) for (const ouId of kept.keys()) if (!loaded.has(ouId)) kept.delete(ouId);
      return loaded;
    },
  };
}

/** The configuration that was in force at a moment (ISO 8601), from the changes up to then. */
export async function configurationAt(
  readModel: ReadModel,
  ouId: string,
  at: string,
): Promise<ScoringConfiguration> {
  const changes = await withClassifiedErrors(() =>
    readModel
      .collection(configurationChanges)
      .find({ _id: recordKeysUpTo(ouId, Number.MAX_SAFE_INTEGER) })
      .sort({ _id: 1 })
      .toArray(),
  );
  return changes
    .map(({ event }) => unpackJson(event) as unknown as ConfigurationEvent)
    .filter(({ payload }) => payload.at <= at)
    .reduce(evolveConfiguration, emptyConfiguration(ouId));
}
