// The stored form of analyses: each under its id, an index of those that run, and the list of an OU's analyses with a result.
import {
  storedAsDocuments,
  storedWith,
  unfinishedIndex,
  type AggregateStorage,
  type UnfinishedDocument,
  type WrittenBeside,
} from '@lead-scoring/capability';
import type { JsonValue } from '@lead-scoring/contracts';
import {
  defineCollection,
  findByIds,
  inLockingOrder,
  insertMissing,
  packJson,
  unpackJson,
  type Binary,
  type GuardedDocument,
  type ReadModel,
} from '@lead-scoring/read-model';
import { analysisKey, keyFromHex, placeKey } from './keys.js';
import type { AnalysisEvent } from './messages.js';
import type { Analysis, RunningAnalysis } from './state.js';

export interface AnalysisDocument extends GuardedDocument {
  /** analysisKey */
  _id: Binary;
  /** JSON text of the analysis. */
  content: string;
}

export interface PlaceDocument {
  /** placeKey */
  _id: Binary;
  /** analysisKey */
  analysis: Binary;
  partition: number;
}

export const analyses = defineCollection<AnalysisDocument>({ name: 'analyses', indexes: [] });
export const analysisPlaces = defineCollection<PlaceDocument>({ name: 'analysis_places', indexes: [] });
const runningAnalyses = defineCollection<UnfinishedDocument>({ name: 'running_analyses', indexes: [] });

/** Analyses that were requested and have not ended. */
const running = unfinishedIndex<Analysis | null>({
  collection: runningAnalyses,
  idOf: keyFromHex,
  isUnfinished: (analysis) => analysis?.status === 'running',
});

/** The place of each analysis that has a result in its OU's list. */
const places: WrittenBeside<Analysis | null, AnalysisEvent> = {
  collections: [analysisPlaces],
  write: async (readModel, partition, changed) => {
    const found = changed.flatMap(({ events }) =>
      events.flatMap(({ event: { type, payload }, offset }) =>
        type === 'SiteAnalyzed'
          ? [
              {
                _id: placeKey(payload.ou_id, offset),
                analysis: analysisKey(payload.ou_id, payload.analysis_id),
                partition,
              },
            ]
          : [],
      ),
    );
    await insertMissing(readModel.collection(analysisPlaces), inLockingOrder(found));
  },
};

export const analysisStorage: AggregateStorage<Analysis | null, AnalysisEvent> = storedWith(
  storedAsDocuments<Analysis | null, AnalysisDocument>({
    collection: analyses,
    idOf: keyFromHex,
    toState: toAnalysis,
    toDocument: (analysis, { partition, offset }) =>
      analysis && {
        _id: analysisKey(analysis.ou_id, analysis.analysis_id),
        content: packJson(analysis as unknown as JsonValue),
        partition,
        offset,
      },
  }),
  [running, places],
);

export async function findRunning(readModel: ReadModel, partition: number): Promise<RunningAnalysis[]> {
  const ids = await running.find(readModel, partition);
  const found = await findByIds(readModel.collection(analyses), ids);
  return found.map(toAnalysis).flatMap((analysis) => (analysis.status === 'running' ? [analysis] : []));
}

export function toAnalysis({ content }: Pick<AnalysisDocument, 'content'>): Analysis {
  return unpackJson(content) as unknown as Analysis;
}
