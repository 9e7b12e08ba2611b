// Finds and deletes the stored firings of leads that are deleted and of accounts that are gone, and finds the channels that were
// notified of them. Firings are read as a stream, so that memory does not grow with their number.
import {
  deleteByIds,
  findFields,
  keyOf,
  readJson,
  uuidToBinary,
  withClassifiedErrors,
  type Binary,
  type ReadModel,
} from '@lead-scoring/read-model';
import { isEnded, type Source } from '@lead-scoring/scoring-domain/triggers';
import { firedEvents, suppressionKey, suppressions } from './documents.js';
import type { ForgottenSubject } from './firing-fold.js';
import {
  isFired,
  isForgetting,
  subjectIdOf,
  type SubjectDraft,
  type SubjectEnd,
  type SubjectIdentity,
} from './subject-model.js';

type Firing = SubjectIdentity & { readonly source: Source; readonly channel_ids: readonly string[] };
/** Finds the first event that a firing is forgotten with. */
type FindEnd = (firing: Firing) => SubjectEnd | undefined;

/** The fields of a command to forget, besides the id of the lead or account. */
export interface Forgetting {
  readonly ou_id: string;
  readonly channel_id: string;
  readonly before: Source;
  readonly requested_at: string;
}

/** Commands to forget, by payload of the event that forgets the lead or account: one for each channel that was notified of it. */
export type Forgettings = ReadonlyMap<SubjectEnd, readonly Forgetting[]>;

/** Maximum number of leads or accounts in one call to the database. */
const subjectsAtOnce = 500;
const firingsAtOnce = 500;

/** The commands to forget the leads or accounts that these events forget. */
export async function findForgettings(
  readModel: ReadModel,
  events: readonly SubjectDraft[],
): Promise<Forgettings> {
  const ends = events.filter(isForgetting).flatMap(({ payload }) => (isJoined(payload) ? [] : [payload]));
  const channelsByEnd = new Map(ends.map((end) => [end, new Set<string>()]));
  const endOf = endsOf(ends);
  const addChannels = (firing: Firing) => {
    const end = endOf(firing);
    for (const id of firing.channel_ids) if (end) channelsByEnd.get(end)?.add(id);
  };
  await visitFirings(readModel, ends, addChannels);
  // Firings of the same batch are not stored yet.
  for (const event of events) if (isFired(event)) addChannels(event.payload);
  return new Map(
    [...channelsByEnd].map(([end, channels]) => {
      const { ou_id, source: before, at: requested_at } = end;
      return [end, [...channels].map((channel_id) => ({ ou_id, channel_id, before, requested_at }))];
    }),
  );
}

/** Number of commands to forget. */
export function countForgettings(forgettings: Forgettings): number {
  return [...forgettings.values()].reduce((sum, { length }) => sum + length, 0);
}

/** Deletes the firings of these leads or accounts, and their suppressions except those that began after they were forgotten. */
export async function deleteForgotten(
  readModel: ReadModel,
  forgotten: readonly ForgottenSubject[],
): Promise<void> {
  await deleteFirings(
    readModel,
    forgotten.flatMap(({ end }) => (isJoined(end) ? [] : [end])),
  );
  await deleteSuppressions(readModel, forgotten);
}

async function deleteFirings(readModel: ReadModel, ends: readonly SubjectEnd[]): Promise<void> {
  const endOf = endsOf(ends);
  const ids: Binary[] = [];
  await visitFirings(readModel, ends, (firing, id) => {
    if (endOf(firing)) ids.push(id);
  });
  await deleteByIds(readModel.collection(firedEvents), ids);
}

async function deleteSuppressions(
  readModel: ReadModel,
  forgotten: readonly ForgottenSubject[],
): Promise<void> {
  const collection = readModel.collection(suppressions);
  const endOffsets = new Map<string, number>();
  const keys = forgotten.flatMap(({ end, offset, silenced }) =>
    silenced.map((triggerId) => {
      const key = suppressionKey(triggerId, subjectIdOf(end));
      endOffsets.set(keyOf(key), offset);
      return key;
    }),
  );
  const stored = await findFields(collection, keys, ['offset']);
  const ended = stored.filter(({ _id, offset }) => offset < (endOffsets.get(keyOf(_id)) ?? 0));
  await deleteByIds(
    collection,
    ended.map(({ _id }) => _id),
  );
}

/** Whether the lead has joined another. Its firings and notifications then stay until it is deleted together with that lead. */
function isJoined(end: SubjectEnd): boolean {
  return 'joined_to' in end && end.joined_to !== undefined;
}

function endsOf(ends: readonly SubjectEnd[]): FindEnd {
  const bySubject = new Map<string, SubjectEnd[]>();
  for (const end of ends) {
    const id = subjectIdOf(end);
    bySubject.set(id, [...(bySubject.get(id) ?? []), end]);
  }
  return (firing) =>
    bySubject
      .get(subjectIdOf(firing))
      ?.find((end) => end.ou_id === firing.ou_id && isEnded(firing.source, end.source));
}

/** Calls `visit` for each stored firing of these leads or accounts. */
async function visitFirings(
  readModel: ReadModel,
  ends: readonly SubjectEnd[],
  visit: (firing: Firing, id: Binary) => void,
): Promise<void> {
  const subjects = [...new Set(ends.map(subjectIdOf))].map(uuidToBinary);
  for (let from = 0; from < subjects.length; from += subjectsAtOnce)
    await withClassifiedErrors(async () => {
      const found = readModel
        .collection(firedEvents)
        .find(
          { lead: { $in: subjects.slice(from, from + subjectsAtOnce) } },
          { projection: { json: 1 }, batchSize: firingsAtOnce },
        );
      for await (const { _id, json } of found) visit(readJson(json) as unknown as Firing, _id);
    });
}
