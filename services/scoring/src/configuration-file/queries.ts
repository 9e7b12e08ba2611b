// The configuration as one document.
import { routes } from '@lead-scoring/contracts';
import { bindQuery, VersionedAnswer, type BoundQuery } from '@lead-scoring/service';
import type { PublishedConfigurations } from '../configuration/published.js';
import { loadOne } from '../configuration/queries.js';
import { documentOf } from './document-model.js';

export function configurationFileQueries(configurations: PublishedConfigurations): BoundQuery[] {
  return [
    bindQuery(routes.getConfiguration, async ({ context }) => {
      const configuration = await loadOne(configurations, context.ouId);
      return new VersionedAnswer(configuration.version, documentOf(configuration));
    }),
  ];
}
