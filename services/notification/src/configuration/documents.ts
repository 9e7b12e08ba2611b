// The documents of configurations. An OU's partition folds its configuration and publishes it whole: all partitions decide on leads
// and deliver with the published one. A published version is never replaced by an older one, not even during a rebuild.
import type { PublishedDocument } from '@lead-scoring/capability';
import type { JsonValue } from '@lead-scoring/contracts';
import {
  binaryToUuid,
  defineCollection,
  packJson,
  unpackJson,
  uuidToBinary,
  type Binary,
  type GuardedDocument,
} from '@lead-scoring/read-model';
import type { Trigger } from '@lead-scoring/scoring-domain/triggers';
import type { Channel, NotificationConfiguration } from './state.js';

/** The fold's own document; `_id` is the OU. */
export interface ConfigurationDocument extends GuardedDocument {
  _id: Binary;
  version: number;
  /** JSON text of channels and triggers, in the order of their creation. */
  content: string;
}

export const configurations = defineCollection<ConfigurationDocument>({
  name: 'notification_configurations',
  indexes: [],
});
export const publishedConfigurations = defineCollection<PublishedDocument>({
  name: 'published_notification_configurations',
  indexes: [],
  isLasting: true,
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
