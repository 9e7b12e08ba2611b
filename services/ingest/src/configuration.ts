// The settings of the ingest service, read from its environment, besides those of every service.
import { commonConfiguration, setting } from '@lead-scoring/service';

export const ingestConfiguration = commonConfiguration.extend({
  ALIASES_PER_OU: setting
    .whole(1_000, 1_000_000_000)
    .default(3_000_000)
    .describe(
      'The most aliases that the leads of an organizational unit may have linked; each partition allows an equal share.',
    ),
  SCORING_URL: setting.httpUrl.describe('The query port of scoring.'),
});
