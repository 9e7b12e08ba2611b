// All read routes of the ingest service.
import type { AskedService, BoundQuery } from '@lead-scoring/service';
import { analyticsQueries } from './analytics/queries.js';
import type { VersionedReadModel } from './analytics/read-periods.js';
import { eventTypeQueries } from './event-types/queries.js';
import { eventQueries } from './events/queries.js';
import { exportQueries } from './export/queries.js';
import { statsQueries } from './stats/queries.js';
import { touchQueries } from './touches/queries.js';
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
    ...eventQueries(readModel),
    ...exportQueries(readModel),
    ...analyticsQueries(readModel),
    ...eventTypeQueries(readModel, scoring),
    ...statsQueries(readModel),
    ...touchQueries(readModel),
    ...visibilityQueries(readModel, { partitions, timeoutMs: positionTimeoutMs }),
  ];
}
