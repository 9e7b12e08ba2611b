// A quota as MongoDB stores it: one document for each organisation or credential, resource and month; and the update that takes from it.
import { defineCollection, type Document } from '@lead-scoring/read-model';
import { quotaPeriodsOf, type QuotaLimits, type QuotaRequest, type QuotaShare } from './quota-model.js';

export interface QuotaDocument {
  /** Owner, resource and month. */
  _id: string;
  shares: QuotaShare[];
  expires_at: Date;
}

export const quotaUses = defineCollection<QuotaDocument>({
  name: 'quota_uses',
  indexes: [],
  isLasting: true,
});

/** The id of the document of a moment. @param owner `organisation:<id>` or `credential:<id>` */
export function quotaIdOf(owner: string, resource: string, timeMs: number): string {
  return `${owner} ${resource} ${new Date(timeMs).toISOString().slice(0, 7)}`;
}

/** What stands for no limit: far more than any count, and exact as a number. */
const unlimited = Number.MAX_SAFE_INTEGER;
const keptMs = 40 * 86_400_000;

/** The update that computes `takeQuota` in the database. */
export function takePipeline(limits: QuotaLimits, request: QuotaRequest): Document[] {
  const { day, process, taken, wanted, isWhole, write } = request;
  const isOwn = { $and: [{ $eq: ['$$share.day', day] }, { $eq: ['$$share.process', process] }] };
  const shares = { $ifNull: ['$shares', []] };
  const own = { $filter: { input: shares, as: 'share', cond: isOwn } };
  const others = { $filter: { input: shares, as: 'share', cond: { $not: [isOwn] } } };
  const ofDay = { $filter: { input: '$$others', as: 'share', cond: { $eq: ['$$share.day', day] } } };
  const sumOf = (input: unknown) => ({
    $sum: { $map: { input, as: 'share', in: '$$share.taken' } },
  });
  const roomIn = (limit: number | null, input: unknown) =>
    limit === null ? unlimited : { $subtract: [limit - taken, sumOf(input)] };
  const granted = isWhole
    ? { $cond: [{ $lte: [wanted, '$$room'] }, wanted, 0] }
    : { $max: [0, { $min: [wanted, '$$room'] }] };
  const written = {
    $let: {
      vars: { others },
      in: {
        $let: {
          vars: { room: { $min: [roomIn(limits.day, ofDay), roomIn(limits.month, '$$others')] } },
          in: {
            $concatArrays: [
              '$$others',
              [{ day, process, taken: { $add: [taken, granted] }, write: { $literal: write } }],
            ],
          },
        },
      },
    },
  };
  const isLate = {
    $anyElementTrue: { $map: { input: own, as: 'share', in: { $gte: ['$$share.write', write] } } },
  };
  return [
    {
      $replaceWith: {
        _id: '$_id',
        shares: { $cond: [isLate, shares, written] },
        expires_at: new Date(quotaPeriodsOf(day).month.to + keptMs),
      },
    },
  ];
}
