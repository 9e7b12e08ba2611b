// Configurations as stored: each OU's by the partition that owns the OU, and published whole for the partitions that score
// the OU's leads.
import type { PublishedDocument } from '@lead-scoring/capability';
import {
  binaryToUuid,
  defineCollection,
  uuidToBinary,
  type Binary,
  type GuardedDocument,
} from '@lead-scoring/read-model';
import {
  packConfiguration,
  type ScoringConfiguration,
  unpackConfiguration,
} from '@lead-scoring/scoring-domain';

/** The fold's own document. */
export interface ConfigurationDocument extends GuardedDocument {
  _id: Binary;
  version: number;
  /** packConfiguration. */
  content: string;
}

export const configurations = defineCollection<ConfigurationDocument>({
  name: 'configurations',
  indexes: [],
});
export const publishedConfigurations = defineCollection<PublishedDocument>({
  name: 'published_configurations',
  indexes: [],
  isLasting: true,
});

export function toConfigurationDocument(
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
