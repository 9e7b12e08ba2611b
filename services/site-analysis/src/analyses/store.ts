// Analyses as stored: each under its id, those that are running once more, those that have a result in the OU's list.
import type { JsonValue } from '@lead-scoring/contracts';
import {
  createGuardedWriter,
  defineCollection,
  findByIds,
  inLockingOrder,
  insertMissing,
  keyOf,
  packJson,
  unpackJson,
  withClassifiedErrors,
  type Binary,
  type GuardedDocument,
  type ReadModel,
} from '@lead-scoring/read-model';
import type { AnalysisEvent } from './events.js';
import { evolveAnalysis } from './evolve.js';
import { analysisKey, placeKey } from './keys.js';
import type { Analysis, RunningAnalysis } from './state.js';

export interface AnalysisDocument extends GuardedDocument {
  /** analysisKey */
  _id: Binary;
  /** JSON text of the analysis. */
  content: string;
}

export interface RunningDocument {
  /** analysisKey */
  _id: Binary;
  partition: number;
}

export interface PlaceDocument {
  /** placeKey */
  _id: Binary;
  /** analysisKey */
  analysis: Binary;
  partition: number;
}

export const analyses = defineCollection<AnalysisDocument>({ name: 'analyses', indexes: [] });
export const runningAnalyses = defineCollection<RunningDocument>({ name: 'running_analyses', indexes: [] });
export const analysisPlaces = defineCollection<PlaceDocument>({ name: 'analysis_places', indexes: [] });

/** The analyses of one partition. */
export interface AnalysisStore {
  load(ids: Iterable<{ ou_id: string; analysis_id: string }>): Promise<Map<string, Analysis>>;
  /** Folds events; @returns each analysis named in them, as it is afterwards. */
  fold(events: readonly { event: AnalysisEvent; offset: number }[]): Promise<Analysis[]>;
  /** Analyses that were requested and have not ended. */
  running(): Promise<RunningAnalysis[]>;
}

/** By which `load` names what it found. */
export function nameOf({ ou_id, analysis_id }: { ou_id: string; analysis_id: string }): string {
  return keyOf(analysisKey(ou_id, analysis_id));
}

export function createAnalysisStore(readModel: ReadModel, partition: number): AnalysisStore {
  const stored = readModel.collection(analyses);
  const running = readModel.collection(runningAnalyses);
  const places = readModel.collection(analysisPlaces);
  const writer = createGuardedWriter(readModel);

  return {
    load: async (ids) => {
      const found = await findByIds(
        stored,
        [...ids].map(({ ou_id, analysis_id }) => analysisKey(ou_id, analysis_id)),
      );
      return new Map(found.map((document) => [keyOf(document._id), toAnalysis(document)]));
    },
    fold: async (events) => {
      const keys = new Map(
        events.map(({ event: { payload } }) => [
          nameOf(payload),
          analysisKey(payload.ou_id, payload.analysis_id),
        ]),
      );
      const known = new Map(
        (await findByIds(stored, [...keys.values()])).map((document) => [
          keyOf(document._id),
          { analysis: toAnalysis(document), offset: document.offset },
        ]),
      );
      for (const { event, offset } of events) {
        const name = nameOf(event.payload);
        const before = known.get(name);
        if (!before || before.offset < offset) known.set(name, { analysis: evolveAnalysis(event), offset });
      }
      await writer.write(
        stored,
        [...known].flatMap(([name, { analysis, offset }]) => {
          const _id = keys.get(name);
          const content = packJson(analysis as unknown as JsonValue);
          return _id ? [{ _id, content, partition, offset }] : [];
        }),
      );
      await insertMissing(
        places,
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
      const after = [...known.values()].map(({ analysis }) => analysis);
      const keysOf = (chosen: Analysis[]) =>
        chosen.map(({ ou_id, analysis_id }) => analysisKey(ou_id, analysis_id));
      await insertMissing(
        running,
        inLockingOrder(
          keysOf(after.filter(({ status }) => status === 'running')).map((_id) => ({ _id, partition })),
        ),
      );
      const ended = keysOf(after.filter(({ status }) => status !== 'running'));
      if (ended.length > 0) await withClassifiedErrors(() => running.deleteMany({ _id: { $in: ended } }));
      return after;
    },
    running: async () => {
      const own = await withClassifiedErrors(() => running.find({ partition }).toArray());
      const found = await findByIds(
        stored,
        own.map(({ _id }) => _id),
      );
      return found.map(toAnalysis).flatMap((analysis) => (analysis.status === 'running' ? [analysis] : []));
    },
  };
}

export function toAnalysis({ content }: Pick<AnalysisDocument, 'content'>): Analysis {
  return unpackJson(content) as unknown as Analysis;
}
