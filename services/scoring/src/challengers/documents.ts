// The challengers of organizational units as stored, and beside them their figures, which can be computed again from the log.
import type { JsonValue, records } from '@lead-scoring/contracts';
import {
  binaryToUuid,
  defineCollection,
  deleteFound,
  findByIds,
  packJson,
  unpackJson,
  uuidToBinary,
  withClassifiedErrors,
  type Binary,
  type GuardedDocument,
  type ReadModel,
} from '@lead-scoring/read-model';
import type { HistoryPart } from '../what-if/history.js';
import { noChallengers, type Challengers } from './decide.js';

export interface ChallengersDocument extends GuardedDocument {
  /** The OU. */
  _id: Binary;
  /** JSON text of what runs and what has ended. */
  content: string;
}

export interface FiguresDocument {
  /** The challenger. */
  _id: Binary;
  partition: number;
  /** What was recorded by then is in the figures. */
  as_of: string;
  /** The ends of the log by partition, up to which nothing else has come of the unit. */
  ends: HistoryPart['ends'][];
  /** JSON text of Computed. */
  content: string;
}

/** The figures of a challenger, and what they were computed from. */
export interface Computed {
  readonly found: records.WhatIfFound;
  /** The triggers that were evaluated, and since when they are as they were. */
  readonly triggers: readonly { readonly id: string; readonly at: string }[];
}

export interface Figures extends Computed, FiguresReach {}

/** How far figures are complete. */
export type FiguresReach = Readonly<Pick<FiguresDocument, 'as_of' | 'ends'>>;

export const challengers = defineCollection<ChallengersDocument>({
  name: 'challengers',
  indexes: [{ key: { partition: 1 } }],
});
export const challengerFigures = defineCollection<FiguresDocument>({
  name: 'challenger_figures',
  indexes: [],
});

export function toChallengersDocument(
  { ou_id, ...content }: Challengers,
  at: { partition: number; offset: number },
): ChallengersDocument {
  return { _id: uuidToBinary(ou_id), content: packJson(content as unknown as JsonValue), ...at };
}

export function toChallengers({ _id, content }: ChallengersDocument): Challengers {
  const { running, ended } = unpackJson(content) as unknown as Omit<Challengers, 'ou_id'>;
  return { ou_id: binaryToUuid(_id), running, ended };
}

export async function readChallengers(readModel: ReadModel, ouId: string): Promise<Challengers> {
  const [found] = await findByIds(readModel.collection(challengers), [uuidToBinary(ouId)]);
  return found ? toChallengers(found) : noChallengers(ouId);
}

/** Those of all OUs of a partition. */
export async function readAllChallengers(readModel: ReadModel, partition: number): Promise<Challengers[]> {
  const found = await withClassifiedErrors(() =>
    readModel.collection(challengers).find({ partition }).toArray(),
  );
  return found.map(toChallengers);
}

/** The figures of some challengers, by id; of those that have some. */
export async function readFigures(
  readModel: ReadModel,
  ids: readonly string[],
): Promise<Map<string, Figures>> {
  const found = await findByIds(readModel.collection(challengerFigures), ids.map(uuidToBinary));
  return new Map(
    found.map(({ _id, as_of, ends, content }) => [
      binaryToUuid(_id),
      { ...(unpackJson(content) as unknown as Computed), as_of, ends },
    ]),
  );
}

export async function storeFigures(
  readModel: ReadModel,
  { challenger_id, partition }: { readonly challenger_id: string; readonly partition: number },
  { as_of, ends, ...computed }: Figures,
): Promise<void> {
  const content = packJson(computed as unknown as JsonValue);
  await withClassifiedErrors(() =>
    readModel
      .collection(challengerFigures)
      .replaceOne(
        { _id: uuidToBinary(challenger_id) },
        { partition, as_of, ends, content },
        { upsert: true },
      ),
  );
}

/** Notes that nothing has come that would change the figures: the next look begins at these ends. */
export async function noteUnchanged(
  readModel: ReadModel,
  challengerId: string,
  reach: Partial<FiguresReach>,
): Promise<void> {
  await withClassifiedErrors(() =>
    readModel.collection(challengerFigures).updateOne({ _id: uuidToBinary(challengerId) }, { $set: reach }),
  );
}

/** Deletes the figures of a partition's challengers that no longer run. */
export async function deleteOtherFigures(
  readModel: ReadModel,
  partition: number,
  running: readonly string[],
): Promise<void> {
  await deleteFound(readModel.collection(challengerFigures), {
    partition,
    _id: { $nin: running.map(uuidToBinary) },
  });
}
