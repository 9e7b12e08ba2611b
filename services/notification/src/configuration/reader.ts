// Reads published configurations, for the other capabilities and for queries.
import { createPublishedStates, type PublishedStates } from '@lead-scoring/capability';
import type { ReadModel } from '@lead-scoring/read-model';
import { publishedConfigurations, toConfiguration } from './documents.js';
import { emptyNotificationConfiguration, type NotificationConfiguration } from './state.js';

/** Reads configurations by OU; an empty one where none is published. */
export type ConfigurationReader = PublishedStates<NotificationConfiguration>;

export function createConfigurationReader(readModel: ReadModel): ConfigurationReader {
  return createPublishedStates(readModel, {
    collection: publishedConfigurations,
    toState: toConfiguration,
    initial: emptyNotificationConfiguration,
    versionOf: ({ version }) => version,
  });
}
