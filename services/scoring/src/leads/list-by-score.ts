// Leads in the order of one of their scores.
import type { LeadScoreType, routes } from '@lead-scoring/contracts';
import { withClassifiedErrors, type Binary, type ReadModel } from '@lead-scoring/read-model';
import type { QueryInput } from '@lead-scoring/service';
import { leadKey, leadKeysOf, leadOfKey, leadOfRank, rankEdge, rankKey, rankPosition } from '../keys.js';
import { rankCursor, readRankCursor } from './cursor.js';
import { leads, type LeadDocument } from './documents.js';
import { countWithin, skipWithin, stretchEnd, type Histogram, type ScoreRange } from './histogram-fold.js';
import { sectionAfter, sectionAt, sectionsOf, type Direction, type ScoreSection } from './score-sections.js';
import { loadStatistics } from './statistics.js';
import type { LeadPage } from './stored-leads.js';

type ListQuery = QueryInput<typeof routes.listLeads>['query'] & { score_type: LeadScoreType };

/** The order of a list, and what gives its totals. */
interface ScoreOrder {
  readonly readModel: ReadModel;
  readonly ouId: string;
  readonly scoreType: LeadScoreType;
  readonly direction: Direction;
  /** The number of leads of the OU. */
  readonly leads: number;
  /** Of the score; of profile scores without those of 0. */
  readonly histogram: Histogram;
}

/** The cost of a page depends on its size alone: the histogram gives its start and its approximate end. */
export async function listByScore(
  readModel: ReadModel,
  ouId: string,
  query: ListQuery,
  range: ScoreRange,
): Promise<LeadPage> {
  const direction = query.sort === 'score' ? 'ascending' : 'descending';
  const sections = sectionsOf(query.score_type, range, direction);
  if (sections.length === 0) return { documents: [], total: 0 };
  return withClassifiedErrors(async () => {
    const { histogram, profileHistogram, leads: count } = await loadStatistics(readModel, ouId);
    const order: ScoreOrder = {
      ...{ readModel, ouId, scoreType: query.score_type, direction, leads: count },
      histogram: query.score_type === 'engagement' ? histogram : profileHistogram,
    };
    const counting = Promise.all(sections.map((section) => countSection(order, section)));
    const [counts, found] = await Promise.all([counting, findPage(order, { sections, counting, query })]);
    const documents = found.slice(0, query.limit);
    const last = documents.at(-1);
    return {
      documents,
      total: counts.reduce((sum, one) => sum + one, 0),
      next_cursor: last && found.length > query.limit ? cursorOf(last, order) : undefined,
    };
  });
}

/** The place of a lead in the order; a lead that is not in the index has a score of 0. */
function cursorOf(
  { _id, rank, profile_rank }: LeadDocument,
  { ouId, scoreType, direction }: ScoreOrder,
): string {
  const place = scoreType === 'engagement' ? rank : (profile_rank ?? rankKey(ouId, 0, leadOfKey(_id)));
  return rankCursor(place, direction, scoreType);
}

async function countSection(
  { readModel, ouId, leads: all, histogram }: ScoreOrder,
  { index, range }: ScoreSection,
): Promise<number> {
  if (index === null) {
    const indexed = [...histogram.values()].reduce((sum, count) => sum + count, 0);
    return Math.max(0, all - indexed);
  }
  const { count, toCount } = countWithin(histogram, range);
  const counted = await Promise.all(
    toCount.map(({ low, high }) =>
      readModel
        .collection(leads)
        .countDocuments({ [index]: { $gte: rankEdge(ouId, low), $lt: rankEdge(ouId, high + 1) } }),
    ),
  );
  return counted.reduce((sum, one) => sum + one, count);
}

interface PageRequest {
  readonly sections: readonly ScoreSection[];
  /** The numbers of leads in the sections. */
  readonly counting: Promise<readonly number[]>;
  readonly query: Pick<ListQuery, 'cursor' | 'page' | 'limit'>;
}

/** The leads of a page and, where there is one, the lead behind it. */
async function findPage(
  order: ScoreOrder,
  { sections, counting, query }: PageRequest,
): Promise<LeadDocument[]> {
  const { ouId, direction, scoreType } = order;
  const from = query.cursor === undefined ? null : readRankCursor(query.cursor, ouId, direction, scoreType);
  const score = from && Math.floor(rankPosition(from));
  let section = score === null ? 0 : sectionAt(sections, score, direction);
  let skip = from ? 0 : (query.page - 1) * query.limit;
  // Of one section, the number of leads is not needed for its pages.
  if (skip > 0 && sections.length > 1) ({ section, skip } = sectionAfter(await counting, skip));
  const found: LeadDocument[] = [];
  for (const one of sections.slice(section)) {
    const limit = query.limit + 1 - found.length;
    if (limit <= 0) break;
    const isWithin = score !== null && one.range.low <= score && score <= one.range.high;
    const wanted = { from: isWithin ? from : null, skip, limit };
    found.push(
      ...(one.index === null
        ? await leadsOutsideIndex(order, wanted)
        : await leadsInIndex(order, { ...one, index: one.index }, wanted)),
    );
    skip = 0;
  }
  return found;
}

interface WantedLeads {
  /** The rank after which to begin; null: at the beginning of the section. */
  readonly from: Binary | null;
  readonly skip: number;
  readonly limit: number;
}

/** In the order of their ids, by the primary index. Leads that are in the index of the score lie among them. */
function leadsOutsideIndex(
  { readModel, ouId, direction }: ScoreOrder,
  { from, skip, limit }: WantedLeads,
): Promise<LeadDocument[]> {
  const up = direction === 'ascending';
  const last = from && leadKey(ouId, leadOfRank(from));
  return readModel
    .collection(leads)
    .find({
      $and: [
        { _id: leadKeysOf(ouId) },
        { profile_rank: { $exists: false } },
        ...(last ? [{ _id: up ? { $gt: last } : { $lt: last } }] : []),
      ],
    })
    .sort({ _id: up ? 1 : -1 })
    .skip(skip)
    .limit(limit)
    .toArray();
}

type IndexedSection = ScoreSection & { readonly index: string };

/** Leads to request beyond the wanted ones, so that a stretch rarely has too few. */
const spareLeads = 64;

/**
 * Leads in the order of an index. A database that cannot sort by an index would sort all leads of the range. So the query is for
 * a stretch with a few more leads than wanted, and for a longer stretch if that had too few.
 */
async function leadsInIndex(
  { readModel, ouId, direction, histogram }: ScoreOrder,
  { index, range: whole }: IndexedSection,
  { from, limit, skip: before }: WantedLeads,
): Promise<LeadDocument[]> {
  const { range, skip } = skipWithin(histogram, whole, before, direction);
  if (range.low > range.high) return [];
  const up = direction === 'ascending';
  const [first, last] = up ? [range.low, range.high + 1] : [range.high + 1, range.low];
  const start = from ? rankPosition(from) : first;
  for (let stretch = skip + limit + spareLeads; ; stretch *= 4) {
    const end = stretchEnd(histogram, range, start, stretch, direction);
    const [low, high] = up ? [first, end] : [end, first];
    const within = { [index]: { $gte: rankEdge(ouId, low), $lt: rankEdge(ouId, high) } };
    const documents = await readModel
      .collection(leads)
      .find(from ? { $and: [within, { [index]: up ? { $gt: from } : { $lt: from } }] } : within)
      .sort({ [index]: up ? 1 : -1 })
      .skip(skip)
      .limit(limit)
      .toArray();
    if (documents.length === limit || end === last) return documents;
  }
}
