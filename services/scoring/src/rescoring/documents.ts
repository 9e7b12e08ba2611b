// The documents of a rescoring that is to come into force. Those of prepared leads are work between the steps of its job: they can be computed
// again from the log, and nothing else reads them.
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { nameBasedId, type JsonValue } from '@lead-scoring/contracts';
import {
  Binary,
  bytesOf,
  defineCollection,
  deleteFound,
  findByIds,
  inChunks,
  insertMissing,
  keysWithin,
  orderedKey,
  packJson,
  unpackJson,
  uuidBytes,
  uuidToBinary,
  withClassifiedErrors,
  type ReadModel,
} from '@lead-scoring/read-model';
import type { PreparedLead } from './state-model.js';

/** A group of an OU's leads in a partition. */
export interface RescoredGroup {
  readonly ou_id: string;
  readonly job_id: string;
  readonly partition: number;
  readonly group: number;
}

/** How far a group is prepared: decisions of scoring up to an offset are taken into account. */
export interface PreparedUpTo {
  readonly scoring_end: number;
  /** Leads that are prepared. */
  readonly prepared: number;
}

/** Many leads, because a document for each would cost most of the time of a rescoring. */
export interface PreparedLeadsDocument {
  /** OU, group up to an offset, the first of the leads. */
  _id: Binary;
  /** How many they are. */
  count: number;
  /** A list of them as compressed JSON: the names of rules and rulesets come again and again. */
  packed: Binary;
  partition: number;
}

export interface PreparedGroupDocument extends PreparedUpTo {
  /** OU and group. */
  _id: Binary;
  partition: number;
}

/** A group whose new scores are in force. */
export interface ActiveEpochDocument {
  _id: Binary;
  partition: number;
}

export const preparedLeads = defineCollection<PreparedLeadsDocument>({
  name: 'rescoring_leads',
  indexes: [],
  isLasting: true,
});
export const preparedGroups = defineCollection<PreparedGroupDocument>({
  name: 'rescoring_groups',
  indexes: [],
  isLasting: true,
});
export const activeEpochs = defineCollection<ActiveEpochDocument>({ name: 'active_epochs', indexes: [] });

function groupId({ job_id, partition, group }: RescoredGroup): string {
  return nameBasedId(job_id, `${String(partition)}:${String(group)}`);
}

function preparedId(of: RescoredGroup, { scoring_end }: Pick<PreparedUpTo, 'scoring_end'>): string {
  return nameBasedId(groupId(of), `leads up to ${String(scoring_end)}`);
}

/** Some prepared leads, in the form in which they are stored. */
export interface PackedLeads {
  readonly first: string;
  readonly count: number;
  readonly packed: Uint8Array;
}

/** A document has at most so many leads, and ends after so many characters. */
const packedLimits = { leads: 200, characters: 400_000 };
const documentsPerCall = 8;

export function packedLeads(leads: Iterable<PreparedLead>): PackedLeads[] {
  const all: PackedLeads[] = [];
  let first = '';
  let texts: string[] = [];
  let characters = 0;
  const end = () => {
    if (texts.length > 0)
      all.push({ first, count: texts.length, packed: zstdCompressSync(`[${texts.join(',')}]`) });
    texts = [];
    characters = 0;
  };
  for (const lead of leads) {
    if (texts.length === 0) first = lead.lead_id;
    const text = packJson(lead as unknown as JsonValue);
    texts.push(text);
    characters += text.length;
    if (texts.length === packedLimits.leads || characters >= packedLimits.characters) end();
  }
  end();
  return all;
}

export function unpackedLeads(packed: Uint8Array): PreparedLead[] {
  return unpackJson(zstdDecompressSync(packed).toString()) as unknown as PreparedLead[];
}

/** Stores the leads of a group up to an offset; the same again changes nothing. */
export async function storePrepared(
  readModel: ReadModel,
  of: RescoredGroup,
  scoring_end: number,
  leads: readonly PackedLeads[],
): Promise<PreparedUpTo> {
  const { ou_id, partition } = of;
  const id = preparedId(of, { scoring_end });
  const documents = leads.map(({ first, count, packed }): PreparedLeadsDocument => ({
    _id: orderedKey([ou_id, id, first]),
    count,
    packed: new Binary(packed),
    partition,
  }));
  await inChunks(documents, documentsPerCall, (some) =>
    insertMissing(readModel.collection(preparedLeads), some),
  );
  const upTo = { scoring_end, prepared: leads.reduce((sum, { count }) => sum + count, 0) };
  const _id = orderedKey([ou_id, groupId(of)]);
  await withClassifiedErrors(() =>
    readModel.collection(preparedGroups).replaceOne({ _id }, { ...upTo, partition }, { upsert: true }),
  );
  return upTo;
}

/** How far a group is prepared; null: not at all. */
export async function findPreparedUpTo(
  readModel: ReadModel,
  of: RescoredGroup,
): Promise<PreparedUpTo | null> {
  const [found] = await findByIds(readModel.collection(preparedGroups), [
    orderedKey([of.ou_id, groupId(of)]),
  ]);
  return found ? { scoring_end: found.scoring_end, prepared: found.prepared } : null;
}

/** Whether the leads of a group up to an offset are all there. */
export async function arePrepared(
  readModel: ReadModel,
  of: RescoredGroup,
  upTo: PreparedUpTo,
): Promise<boolean> {
  const found = await withClassifiedErrors(() =>
    readModel
      .collection(preparedLeads)
      .find(
        { _id: keysWithin([of.ou_id, preparedId(of, upTo)], uuidBytes) },
        { projection: { _id: 0, count: 1 } },
      )
      .toArray(),
  );
  return found.reduce((sum, { count }) => sum + count, 0) === upTo.prepared;
}

/** The leads of a group up to an offset, packed; null: some of them are no longer there. */
export async function findPrepared(
  readModel: ReadModel,
  of: RescoredGroup,
  upTo: PreparedUpTo,
): Promise<Uint8Array[] | null> {
  const found = await withClassifiedErrors(() =>
    readModel
      .collection(preparedLeads)
      .find({ _id: keysWithin([of.ou_id, preparedId(of, upTo)], uuidBytes) })
      .toArray(),
  );
  const leads = found.reduce((sum, { count }) => sum + count, 0);
  return leads === upTo.prepared ? found.map(({ packed }) => bytesOf(packed)) : null;
}

export async function deletePrepared(
  readModel: ReadModel,
  of: RescoredGroup,
  upTo: Pick<PreparedUpTo, 'scoring_end'>,
): Promise<void> {
  await deleteFound(readModel.collection(preparedLeads), {
    _id: keysWithin([of.ou_id, preparedId(of, upTo)], uuidBytes),
  });
}

/** Deletes what jobs of an OU have left: an OU has one rescoring at a time. */
export async function deleteAllPrepared(readModel: ReadModel, ouId: string): Promise<void> {
  await deleteFound(readModel.collection(preparedGroups), { _id: keysWithin([ouId], uuidBytes) });
  await deleteFound(readModel.collection(preparedLeads), { _id: keysWithin([ouId], 2 * uuidBytes) });
}

/** Notes that the new scores of groups are in force. */
export async function storeActive(readModel: ReadModel, groups: readonly RescoredGroup[]): Promise<void> {
  await insertMissing(
    readModel.collection(activeEpochs),
    groups.map((of) => ({ _id: uuidToBinary(groupId(of)), partition: of.partition })),
  );
}

export async function isActive(readModel: ReadModel, of: RescoredGroup): Promise<boolean> {
  const found = await findByIds(readModel.collection(activeEpochs), [uuidToBinary(groupId(of))]);
  return found.length > 0;
}
