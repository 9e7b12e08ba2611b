// The configurations in force, which every partition and the query port read.
import { createPublishedStates, type PublishedStates } from '@lead-scoring/capability';
import type { ReadModel } from '@lead-scoring/read-model';
import { emptyConfiguration, type ScoringConfiguration } from '@lead-scoring/scoring-domain';
import { publishedConfigurations, toConfiguration } from './documents.js';

export type PublishedConfigurations = PublishedStates<ScoringConfiguration>;

/** Called once in a process; its partitions share the result. */
export function createPublishedConfigurations(readModel: ReadModel): PublishedConfigurations {
  return createPublishedStates(readModel, {
    collection: publishedConfigurations,
    toState: toConfiguration,
    initial: emptyConfiguration,
    versionOf: ({ version }) => version,
  });
}
