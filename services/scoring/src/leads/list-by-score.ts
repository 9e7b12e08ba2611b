// Leads in the order of one of their scores.
import type { LeadScoreType, routes } from '@lead-scoring/contracts';
import { withClassifiedErrors, type Binary, type ReadModel } from '@lead-scoring/read-model';
import type { QueryInput } from '@lead-scoring/service';
import { leadKey, leadKeysOf, leadOfKey, leadOfRank, rankEdge, rankKey, rankPosition } from '../keys.js';
import { rankCursor, readRankCursor } from './cursor.js';
import { leads, type LeadDocument } from './documents.js';
import { countWithin, skipWithin, stretchEnd, type Histogram, type ScoreRange } from './histogram-fold.js';
import { countRanks, findRanks } from './score-ranks.js';
import { sectionAfter, sectionAt, sectionsOf, type Direction, type ScoreSection } from './score-sections.js';
import { readInStretches } from './score-stretches.js';
import { loadStatistics } from './statistics.js';
import { loadLeads, type LeadPage } from './stored-leads.js';

type ListQuery = Pick<QueryInput<typeof routes.listLeads>['query'], 'sort' | 'page' | 'limit' | 'cursor'> & {
  score_type: LeadScoreType;
};

/** The order of a list, and what gives its totals. */
interface ScoreOrder {
  readonly readModel: ReadModel;
  readonly ouId: string;
  readonly scoreType: LeadScoreType;
  readonly direction: Direction;
  /** The number of leads of the OU. */
  readonly leads: number;
  /** Of the score; of profile and deal scores without those of 0. */
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
    const { histograms, leads: count } = await loadStatistics(readModel, ouId);
    const order: ScoreOrder = {
      ...{ readModel, ouId, scoreType: query.score_type, direction, leads: count },
      histogram: histograms[query.score_type],
    };
    const counting = Promise.all(sections.map((section) => countSection(order, section)));
    const [counts, found] = await Promise.all([counting, findPage(order, { sections, counting, query })]);
    const shown = found.slice(0, query.limit);
    const last = shown.at(-1);
    return {
      documents: shown.flatMap(({ lead }) => lead ?? []),
      total: counts.reduce((sum, one) => sum + one, 0),
      next_cursor:
        last && found.length > query.limit ? rankCursor(last.place, direction, query.score_type) : undefined,
    };
  });
}

/** A lead at its place in the order; a lead that is not in the index has a score of 0 there. */
interface PlacedLead {
  readonly place: Binary;
  /** Absent where it was deleted meanwhile. */
  readonly lead: LeadDocument | undefined;
}

async function countSection(order: ScoreOrder, { isIndexed, range }: ScoreSection): Promise<number> {
  const { leads: all, histogram } = order;
  if (!isIndexed) {
    const indexed = [...histogram.values()].reduce((sum, count) => sum + count, 0);
    return Math.max(0, all - indexed);
  }
  const { count, toCount } = countWithin(histogram, range);
  const counted = await Promise.all(toCount.map(({ low, high }) => countIndexed(order, low, high + 1)));
  return counted.reduce((sum, one) => sum + one, count);
}

/** The leads from a position, see `rankEdge`, up to another one, which is not included. */
function countIndexed(
  { readModel, ouId, scoreType }: ScoreOrder,
  low: number,
  high: number,
): Promise<number> {
  if (scoreType !== 'engagement') return countRanks(readModel, scoreType, { ouId, low, high });
  return readModel
    .collection(leads)
    .countDocuments({ rank: { $gte: rankEdge(ouId, low), $lt: rankEdge(ouId, high) } });
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
): Promise<PlacedLead[]> {
  const { ouId, direction, scoreType } = order;
  const from = query.cursor === undefined ? null : readRankCursor(query.cursor, ouId, direction, scoreType);
  const score = from && Math.floor(rankPosition(from));
  let section = score === null ? 0 : sectionAt(sections, score, direction);
  let skip = from ? 0 : (query.page - 1) * query.limit;
  // Of one section, the number of leads is not needed for its pages.
  if (skip > 0 && sections.length > 1) ({ section, skip } = sectionAfter(await counting, skip));
  const found: PlacedLead[] = [];
  for (const one of sections.slice(section)) {
    const limit = query.limit + 1 - found.length;
    if (limit <= 0) break;
    const isWithin = score !== null && one.range.low <= score && score <= one.range.high;
    const wanted = { from: isWithin ? from : null, skip, limit };
    found.push(
      ...(one.isIndexed
        ? await leadsInIndex(order, one.range, wanted)
        : await leadsOutsideIndex(order, wanted)),
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

/** The fields that only leads in the order of a score have. */
const orderedFields = { engagement: 'rank', profile: 'profile_score', deal: 'deal_score' } as const;

/** In the order of their ids, by the primary index. Leads that are in the index of the score lie among them. */
async function leadsOutsideIndex(
  { readModel, ouId, scoreType, direction }: ScoreOrder,
  { from, skip, limit }: WantedLeads,
): Promise<PlacedLead[]> {
  const up = direction === 'ascending';
  const last = from && leadKey(ouId, leadOfRank(from));
  const found = await readModel
    .collection(leads)
    .find({
      $and: [
        { _id: leadKeysOf(ouId) },
        { [orderedFields[scoreType]]: { $exists: false } },
        ...(last ? [{ _id: up ? { $gt: last } : { $lt: last } }] : []),
      ],
    })
    .sort({ _id: up ? 1 : -1 })
    .skip(skip)
    .limit(limit)
    .toArray();
  return found.map((lead) => ({ place: rankKey(ouId, 0, leadOfKey(lead._id)), lead }));
}

/** Leads in the order of an index. */
async function leadsInIndex(
  order: ScoreOrder,
  whole: ScoreRange,
  { from, limit, skip: before }: WantedLeads,
): Promise<PlacedLead[]> {
  const { direction, histogram } = order;
  const { range, skip: wanted } = skipWithin(histogram, whole, before, direction);
  const { edge, skip } = from ? { edge: null, skip: wanted } : await skipToEdge(order, range, wanted);
  const start = from ? rankPosition(from) : edge;
  return readInStretches({ histogram, range, direction, start, skip, limit }, (stretch) => {
    const behindEdge = edge === null ? {} : direction === 'ascending' ? { low: edge } : { high: edge };
    return leadsInStretch(order, { ...stretch, ...behindEdge }, { from, skip, limit });
  });
}

/** Where the database skips so many leads itself: it fetches and sorts each of them, which costs five times as much as counting it. */
const fewToSkip = 500;

/**
 * Skips most of many leads: leads' ids are hashes, so the share of a score's leads that lie before a position is nearly known, and the
 * leads before that position are counted.
 * @returns the position, null: the beginning of the range; and the number of leads that remain to be skipped from there
 */
async function skipToEdge(
  order: ScoreOrder,
  range: ScoreRange,
  skip: number,
): Promise<{ edge: number | null; skip: number }> {
  if (skip <= fewToSkip) return { edge: null, skip };
  const { direction, histogram } = order;
  const up = direction === 'ascending';
  const first = up ? range.low : range.high + 1;
  // Four standard deviations, so that rarely more leads lie before the edge than are to be skipped.
  const margin = Math.ceil(4 * Math.sqrt(skip));
  const edge = stretchEnd(histogram, range, first, skip - margin, direction);
  const skipped = await (up ? countIndexed(order, first, edge) : countIndexed(order, edge, first));
  return skipped > skip ? { edge: null, skip } : { edge, skip: skip - skipped };
}

/** `high` is not in the stretch. */
async function leadsInStretch(
  { readModel, ouId, scoreType, direction }: ScoreOrder,
  { low, high }: ScoreRange,
  { from, skip, limit }: WantedLeads,
): Promise<PlacedLead[]> {
  const up = direction === 'ascending';
  if (scoreType !== 'engagement') {
    const ranks = await findRanks(
      readModel,
      scoreType,
      { ouId, low, high },
      { after: from, up, skip, limit },
    );
    const found = await loadLeads(
      readModel,
      ranks.map(({ key }) => key),
    );
    return ranks.map(({ lead_id, rank }) => ({ place: rank, lead: found.get(lead_id) }));
  }
  const within = { rank: { $gte: rankEdge(ouId, low), $lt: rankEdge(ouId, high) } };
  const found = await readModel
    .collection(leads)
    .find(from ? { $and: [within, { rank: up ? { $gt: from } : { $lt: from } }] } : within)
    .sort({ rank: up ? 1 : -1 })
    .skip(skip)
    .limit(limit)
    .toArray();
  return found.map((lead) => ({ place: lead.rank, lead }));
}
