// Reads the list of an OU's analyses.
import { routes, type routeDeclarations } from '@lead-scoring/contracts';
import { findByIds, keyOf, withClassifiedErrors, type ReadModel } from '@lead-scoring/read-model';
import { bindQuery, type BoundQuery } from '@lead-scoring/service';
import { cursorOfPlace, placeOfCursor, placesOf } from './keys.js';
import { analyses, analysisPlaces, toAnalysis } from './documents.js';
import type { FinishedAnalysis } from './state.js';

export function analysisQueries(readModel: ReadModel): BoundQuery[] {
  const places = readModel.collection(analysisPlaces);
  const stored = readModel.collection(analyses);
  return [
    bindQuery(routes.listSiteAnalyses, ({ query: { page, limit, cursor }, context: { ouId } }) => {
      const all = placesOf(ouId);
      const wanted = cursor === undefined ? all : { $gte: all.$gte, $lt: placeOfCursor(cursor, ouId) };
      return withClassifiedErrors(async () => {
        const [found, total] = await Promise.all([
          places
            .find({ _id: wanted })
            .sort({ _id: -1 })
            .skip(cursor === undefined ? (page - 1) * limit : 0)
            // One more than the page shows whether there is a next one.
            .limit(limit + 1)
            .toArray(),
          places.countDocuments({ _id: all }),
        ]);
        const shown = found.slice(0, limit);
        const listed = await findByIds(
          stored,
          shown.map(({ analysis }) => analysis),
        );
        const documents = new Map(listed.map((document) => [keyOf(document._id), toAnalysis(document)]));
        const last = shown.at(-1);
        return {
          data: shown.flatMap(({ analysis }) => {
            const known = documents.get(keyOf(analysis));
            return known?.status === 'analyzed' ? [toEntry(known)] : [];
          }),
          total,
          page,
          limit,
          ...(last && found.length > limit && { next_cursor: cursorOfPlace(last._id) }),
        };
      });
    }),
  ];
}

function toEntry({
  analysis_id,
  url,
  requested_at,
  at,
  result,
}: FinishedAnalysis): routeDeclarations.SiteAnalysisEntry {
  return { id: analysis_id, url, requested_at, analyzed_at: at, ...result };
}
