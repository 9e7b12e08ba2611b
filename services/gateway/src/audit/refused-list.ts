// GET /audit/refused-sign-ins: the counts that the caller may see.
import type { routeDeclarations, routes } from '@lead-scoring/contracts';
import { uuidToBinary, withClassifiedErrors, type Filter, type ReadModel } from '@lead-scoring/read-model';
import type { z } from 'zod';
import type { Caller } from '../credentials/authenticate.js';
import { refusedSignIns, type RefusedSignInDocument } from './refused-sign-ins.js';

type Query = z.output<typeof routes.listRefusedSignIns.query>;
type Page = z.output<(typeof routes.listRefusedSignIns.responses)[200]['schema']>;

/** A page of the counts, the latest day first and the largest first in it. */
export async function listRefusedSignIns(
  readModel: Pick<ReadModel, 'collection'>,
  caller: Pick<Caller, 'organisationId' | 'ouIds'>,
  { page, limit, from, to }: Query,
): Promise<Page> {
  const days: Filter<RefusedSignInDocument>[] = [];
  if (from !== undefined) days.push({ day: { $gte: from.slice(0, 10) } });
  if (to !== undefined) days.push({ day: { $lte: to.slice(0, 10) } });
  const filter: Filter<RefusedSignInDocument> = { $and: [visibleTo(caller), ...days] };
  const collection = readModel.collection(refusedSignIns);
  const [total, found] = await withClassifiedErrors(() =>
    Promise.all([
      collection.countDocuments(filter),
      collection
        .find(filter)
        .sort({ day: -1, count: -1, _id: -1 })
        .skip((page - 1) * limit)
        .limit(limit)
        .toArray(),
    ]),
  );
  return { data: found.map(answerOf), total, page, limit };
}

/** Refusals without a known credential concern the system as a whole: a caller who is limited to some units does not see them. */
function visibleTo({
  organisationId,
  ouIds,
}: Pick<Caller, 'organisationId' | 'ouIds'>): Filter<RefusedSignInDocument> {
  const own = { organisation: { $eq: uuidToBinary(organisationId) } };
  if (ouIds === null) return { $or: [own, { organisation: { $eq: null } }] };
  return { $and: [own, { ous: { $ne: null } }, { ous: { $not: { $elemMatch: { $nin: [...ouIds] } } } }] };
}

function answerOf({
  day,
  address,
  credential,
  reason,
  count,
  last_at,
}: RefusedSignInDocument): routeDeclarations.RefusedSignIns {
  return { day, address, credential, reason, count, last_at: last_at.toISOString() };
}
