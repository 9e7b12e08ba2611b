// The settings of the scoring service, read from its environment, besides those of every service.
import { commonConfiguration, setting } from '@lead-scoring/service';

export const scoringConfiguration = commonConfiguration.extend({
  CACHED_LEADS: setting
    .whole(100, 10_000_000)
    .default(50_000)
    .describe('Leads that each partition keeps in memory, at most 1 KB each.'),
  INGEST_URL: setting.httpUrl.describe('The query port of ingest.'),
});
