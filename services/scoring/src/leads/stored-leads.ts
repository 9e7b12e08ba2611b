// Reads stored leads: one, several by their ids, or by a filter.
import {
  bytesOf,
  containsText,
  inChunks,
  withClassifiedErrors,
  type Binary,
  type Filter,
  type ReadModel,
} from '@lead-scoring/read-model';
import { ProblemError } from '@lead-scoring/service';
import { leadKey, leadKeysOf, leadOfKey } from '../keys.js';
import { leads, type LeadDocument } from './documents.js';

/** A page of stored leads. */
export interface LeadPage {
  documents: LeadDocument[];
  total: number;
  next_cursor?: string | undefined;
}

/** @throws ProblemError 404 `lead_not_found`, both for a lead of another OU and for an unknown one */
export async function findLead(readModel: ReadModel, ouId: string, leadId: string): Promise<LeadDocument> {
  const found = await withClassifiedErrors(() =>
    readModel.collection(leads).findOne({ _id: leadKey(ouId, leadId) }),
  );
  if (!found)
    throw new ProblemError(404, 'lead_not_found', 'No lead of this organizational unit has this id.');
  return found;
}

export interface LeadOrder {
  field: 'score' | 'profile_score' | 'deal_score' | 'last_activity_at' | 'first_activity_at' | 'name_key';
  direction: 1 | -1;
}

export type LeadMatch = Pick<LeadDocument, '_id' | LeadOrder['field']>;

/** Up to this number, matches are read once, and sorted and counted in memory. */
const maximumMatches = 2_000;
/** Leads in one call. */
const leadsPerLookUp = 500;

/**
 * The leads that match, in order, or null if there are too many. It saves a second scan of all leads for the count.
 * @param among the only leads that may match, looked up by their ids; null: all leads of the OU
 */
export async function fewMatches(
  readModel: ReadModel,
  { ouId, conditions, among }: LeadSelection,
  order: LeadOrder,
): Promise<LeadMatch[] | null> {
  if (among && among.size > maximumMatches) return null;
  const find = (ids: Filter<LeadDocument>['_id']) =>
    readModel
      .collection(leads)
      .find({ $and: [{ _id: ids }, ...conditions] } as Filter<LeadDocument>)
      .project<LeadMatch>({ _id: 1, [order.field]: 1 })
      .limit(maximumMatches + 1)
      .batchSize(maximumMatches + 1)
      .toArray();
  const found = among
    ? (
        await inChunks([...among], leadsPerLookUp, (ids) =>
          find({ $in: ids.map((leadId) => leadKey(ouId, leadId)) }),
        )
      ).flat()
    : await find(leadKeysOf(ouId));
  return found.length > maximumMatches ? null : found.sort(inOrder(order));
}

/** Leads of an OU that meet all conditions. */
export interface LeadSelection {
  readonly ouId: string;
  readonly conditions: readonly Filter<LeadDocument>[];
  readonly among: ReadonlySet<string> | null;
}

/** The same as a filter for a scan. */
export function scanFilter({
  ouId,
  conditions,
}: Pick<LeadSelection, 'ouId' | 'conditions'>): Filter<LeadDocument> {
  return { $and: [{ _id: leadKeysOf(ouId) }, ...conditions] };
}

export function inOrder({ field, direction }: LeadOrder): (left: LeadMatch, right: LeadMatch) => number {
  return (left, right) => {
    // A lead without the score has 0.
    const [a, b] = [left[field] ?? 0, right[field] ?? 0];
    return direction * (a < b ? -1 : a > b ? 1 : Buffer.compare(bytesOf(left._id), bytesOf(right._id)));
  };
}

/** Leads in an order: those after one of them, or the first ones. */
export function findInOrder(
  readModel: ReadModel,
  filter: Filter<LeadDocument>,
  order: LeadOrder,
  { last, skip, limit }: { last: LeadMatch | null; skip: number; limit: number },
): Promise<LeadDocument[]> {
  const { field, direction } = order;
  const after = last ? afterInOrder(last, order) : {};
  const sort = { [field]: direction, _id: direction };
  const collection = readModel.collection(leads);
  if (field !== 'profile_score' && field !== 'deal_score')
    return collection
      .find({ $and: [filter, after] })
      .sort(sort)
      .skip(skip)
      .limit(limit)
      .toArray();
  // Leads without the score lie between those above 0 and those below it.
  return collection
    .aggregate<LeadDocument>([
      { $match: filter },
      { $addFields: { [field]: { $ifNull: [`$${field}`, 0] } } },
      { $match: after },
      { $sort: sort },
      { $skip: skip },
      { $limit: limit },
    ])
    .toArray();
}

function afterInOrder(last: LeadMatch, { field, direction }: LeadOrder): Filter<LeadDocument> {
  const beyond = direction === -1 ? '$lt' : '$gt';
  return {
    $or: [
      { [field]: { [beyond]: last[field] ?? 0 } },
      { [field]: last[field] ?? 0, _id: { [beyond]: last._id } },
    ],
  };
}

/** Leads by their ids. */
export async function loadLeads(
  readModel: ReadModel,
  keys: readonly Binary[],
): Promise<Map<string, LeadDocument>> {
  if (keys.length === 0) return new Map();
  const found = await readModel
    .collection(leads)
    .find({ _id: { $in: [...keys] } })
    .toArray();
  return new Map(found.map((document) => [leadOfKey(document._id), document]));
}

export async function loadInOrder(
  readModel: ReadModel,
  matches: readonly LeadMatch[],
): Promise<LeadDocument[]> {
  const byId = await loadLeads(
    readModel,
    matches.map(({ _id }) => _id),
  );
  return matches.flatMap(({ _id }) => byId.get(leadOfKey(_id)) ?? []);
}

export function textCondition(text: string): Filter<LeadDocument> {
  return { search: containsText(text.toLowerCase()) };
}
