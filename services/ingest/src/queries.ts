// All read routes of the ingest service.
import { readAuditEntries } from '@lead-scoring/capability';
import { routeDeclarations } from '@lead-scoring/contracts';
import { bindQuery, type AskedService, type BoundQuery } from '@lead-scoring/service';
import { aliasQueries } from './aliases/queries.js';
import { analyticsQueries } from './analytics/queries.js';
import type { VersionedReadModel } from './analytics/read-periods.js';
import { eventTypeQueries } from './event-types/queries.js';
import { eventQueries } from './events/queries.js';
import { exportQueries } from './export/queries.js';
import { jobQueries } from './jobs/queries.js';
import { leadImportQueries } from './lead-imports/queries.js';
import { leadMetadataQueries } from './lead-metadata/queries.js';
import { mergeQueries } from './merges/queries.js';
import { statsQueries } from './stats/queries.js';
import { touchQueries } from './touches/queries.js';
import { usageQueries } from './usage/queries.js';
import { visibilityQueries } from './visibility/queries.js';

export function ingestQueries(
  readModel: VersionedReadModel,
  {
    partitions,
    positionTimeoutMs,
    scoring,
  }: { partitions: number; positionTimeoutMs: number; scoring: AskedService },
): BoundQuery[] {
  return [
    ...aliasQueries(readModel),
    ...eventQueries(readModel),
    ...exportQueries(readModel),
    ...analyticsQueries(readModel),
    ...eventTypeQueries(readModel, scoring),
    ...jobQueries(readModel, () => new Date()),
    ...leadImportQueries(readModel, () => new Date()),
    ...leadMetadataQueries(readModel),
    ...mergeQueries(readModel),
    ...statsQueries(readModel),
    ...touchQueries(readModel),
    ...usageQueries(readModel),
    bindQuery(routeDeclarations.listChanges, async ({ body, context: { ouId } }) => ({
      data: await readAuditEntries(readModel, { service: 'ingest', scope: ouId }, body),
    })),
    ...visibilityQueries(readModel, { partitions, timeoutMs: positionTimeoutMs }),
  ];
}
