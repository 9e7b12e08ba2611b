// The documents of a rescoring that is to come into force. Those of prepared leads are work between the steps of its job: they can be computed
// again from the log, and nothing else reads them.
import { nameBasedId, type JsonValue } from '@lead-scoring/contracts';
import {
  bytesOf,
  defineCollection,
  deleteFound,
  findByIds,
  insertMissing,
  keysWithin,
  orderedKey,
  packJson,
  readUuid,
  unpackJson,
  uuidBytes,
  uuidToBinary,
  withClassifiedErrors,
  type Binary,
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

export interface PreparedLeadDocument {
  /** OU, group up to an offset, lead. */
  _id: Binary;
  packed: string;
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

export const preparedLeads = defineCollection<PreparedLeadDocument>({
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
  return nameBasedId(groupId(of), String(scoring_end));
}

/** A prepared lead, in the form in which it is stored. */
export interface PackedLead {
  readonly lead_id: string;
  readonly packed: string;
}

export function packedLead(lead: PreparedLead): PackedLead {
  return { lead_id: lead.lead_id, packed: packJson(lead as unknown as JsonValue) };
}

/** Stores the leads of a group up to an offset; the same again changes nothing. */
export async function storePrepared(
  readModel: ReadModel,
  of: RescoredGroup,
  scoring_end: number,
  leads: readonly PackedLead[],
): Promise<PreparedUpTo> {
  const { ou_id, partition } = of;
  const id = preparedId(of, { scoring_end });
  const documents = leads.map(({ lead_id, packed }): PreparedLeadDocument => ({
    _id: orderedKey([ou_id, id, lead_id]),
    packed,
    partition,
  }));
  await insertMissing(readModel.collection(preparedLeads), documents);
  const upTo = { scoring_end, prepared: documents.length };
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

/** The leads of a group up to an offset; null: some of them are no longer there. */
export async function findPrepared(
  readModel: ReadModel,
  of: RescoredGroup,
  upTo: PreparedUpTo,
): Promise<PreparedLead[] | null> {
  const found = await withClassifiedErrors(() =>
    readModel
      .collection(preparedLeads)
      .find({ _id: keysWithin([of.ou_id, preparedId(of, upTo)], uuidBytes) })
      .toArray(),
  );
  if (found.length !== upTo.prepared) return null;
  return found.map(({ _id, packed }) => ({
    ...(unpackJson(packed) as unknown as PreparedLead),
    lead_id: readUuid(bytesOf(_id), 2 * uuidBytes),
  }));
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
