// Reads stored leads: one, several by their ids, or by a filter.
import {
  bytesOf,
  containsText,
  withClassifiedErrors,
  type Binary,
  type Filter,
  type ReadModel,
} from '@lead-scoring/read-model';
import { ProblemError } from '@lead-scoring/service';
import { leadKey, leadOfKey } from '../keys.js';
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

/** The matches in order, or null if there are too many. It saves a second scan of all leads for the count. */
export async function fewMatches(
  readModel: ReadModel,
  filter: Filter<LeadDocument>,
  order: LeadOrder,
): Promise<LeadMatch[] | null> {
  const found = await readModel
    .collection(leads)
    .find(filter)
    .project<LeadMatch>({ _id: 1, [order.field]: 1 })
    .limit(maximumMatches + 1)
    .toArray();
  return found.length > maximumMatches ? null : found.sort(inOrder(order));
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
