// All read routes of the scoring service.
import { readAuditEntries } from '@lead-scoring/capability';
import { routeDeclarations } from '@lead-scoring/contracts';
import type { ReadModel } from '@lead-scoring/read-model';
import { bindQuery, type AskedService, type BoundQuery } from '@lead-scoring/service';
import { accountQueries } from './accounts/queries.js';
import { attributionQueries } from './attribution/queries.js';
import { challengerQueries } from './challengers/queries.js';
import { committeeQueries } from './committee/queries.js';
import { configurationFileQueries } from './configuration-file/queries.js';
import { configurationQueries } from './configuration/queries.js';
import type { PublishedConfigurations } from './configuration/published.js';
import { decayRuleQueries } from './decays/rule-queries.js';
import { forecastQueries } from './decays/forecast-queries.js';
import { dealQueries } from './deals/queries.js';
import { explanationQueries } from './explanation/queries.js';
import { historyQueries } from './explanation/history-queries.js';
import { matchingLeadQueries } from './filters/matching-leads.js';
import { filterQueries } from './filters/queries.js';
import { gainQueries } from './gains/queries.js';
import { leadQueries } from './leads/queries.js';
import { topLeadQueries } from './leads/top-leads.js';
import { gridQueries } from './levels/queries.js';
import type { PictureDependencies } from './pictures.js';
import { profileQueries } from './profile/queries.js';
import { ruleTestQueries } from './rule-tests/queries.js';
import { pictureQueries } from './what-if/picture-queries.js';
import { jobQueries } from './jobs/queries.js';
import { ruleHistoryQueries } from './rule-history/queries.js';
import { typeScoreQueries } from './type-scores/queries.js';
import { createAwaitPositions } from './visibility.js';

export interface ScoringQueryDependencies extends PictureDependencies {
  readonly positionTimeoutMs: number;
  readonly ingest: AskedService;
}

export function scoringQueries(
  readModel: ReadModel,
  configurations: PublishedConfigurations,
  { positionTimeoutMs, ingest, paintPicture }: ScoringQueryDependencies,
): BoundQuery[] {
  const awaitPositions = createAwaitPositions(readModel, { timeoutMs: positionTimeoutMs });
  const now = () => new Date();
  return [
    ...leadQueries({ readModel, configurations, awaitPositions, now }),
    ...topLeadQueries({ readModel, configurations, awaitPositions }),
    ...gainQueries({ readModel, configurations, awaitPositions, now }),
    ...explanationQueries({ readModel, configurations, awaitPositions, now }),
    ...historyQueries({ readModel, configurations, awaitPositions, now, paintPicture }),
    ...configurationQueries(configurations),
    ...decayRuleQueries(configurations),
    ...forecastQueries({ readModel, configurations, awaitPositions, now }),
    ...ruleHistoryQueries(readModel),
    ...profileQueries({ readModel, configurations }),
    ...dealQueries({ readModel, configurations }),
    ...attributionQueries({ readModel, ingest, now }),
    ...accountQueries({ readModel, configurations }),
    ...committeeQueries({ readModel, configurations, now }),
    ...ruleTestQueries({ readModel, configurations, now }),
    ...configurationFileQueries(readModel, configurations),
    ...gridQueries(configurations),
    ...filterQueries({ readModel, configurations, now }),
    ...matchingLeadQueries({ readModel, configurations, awaitPositions, now }),
    ...jobQueries({ readModel, configurations, now }),
    ...challengerQueries({ readModel, configurations }),
    ...pictureQueries({ readModel, paintPicture }),
    bindQuery(routeDeclarations.listChanges, async ({ body, context: { ouId } }) => ({
      data: await readAuditEntries(readModel, { service: 'scoring', scope: ouId }, body),
    })),
    ...typeScoreQueries(readModel),
  ];
}
