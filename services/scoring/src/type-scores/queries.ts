// The number of scored events of a type, for ingest.
import { eventTypeKey, routeDeclarations } from '@lead-scoring/contracts';
import type { ReadModel } from '@lead-scoring/read-model';
import { bindQuery, type BoundQuery } from '@lead-scoring/service';
import { readTypeScores } from './documents.js';

export function typeScoreQueries(readModel: ReadModel): BoundQuery[] {
  return [
    bindQuery(routeDeclarations.countEventScores, async ({ query, context }) => ({
      events: await readTypeScores(readModel, context.ouId, eventTypeKey(query.event_type)),
    })),
  ];
}
