// Leads by score, by text, and one by one.
import { leadIdOf, normaliseAlias, routes, type routeDeclarations } from '@lead-scoring/contracts';
import {
  containsText,
  InvalidCursor,
  uuidToBinary,
  withClassifiedErrors,
  type Binary,
  type Filter,
  type ReadModel,
} from '@lead-scoring/read-model';
import { bindQuery, ProblemError, type BoundQuery, type QueryInput } from '@lead-scoring/service';
import { loadOne } from '../configuration/queries.js';
import type { Configuration } from '../configuration/state.js';
import type { ConfigurationReader } from '../configuration/store.js';
import { bytesOf, leadKey, leadKeysOf, leadOfKey, rankKeysBetween, readRankKey } from '../keys.js';
import type { AwaitPositions } from '../visibility.js';
import {
  leadCursor,
  pageCursor,
  rankCursor,
  readLeadCursor,
  readPageCursor,
  readRankCursor,
} from './cursor.js';
import {
  countWithin,
  joinHistograms,
  skipWithin,
  type Histogram,
  type ScoreRange,
} from './histogram-fold.js';
import { histograms, leads, ranks, unpackHistogram, type LeadDocument } from './model.js';

type ListQuery = QueryInput<typeof routes.listLeads>['query'];
type SearchQuery = QueryInput<typeof routes.searchLeads>['query'];

/** A page of stored leads, before it is shown. */
interface LeadPage {
  documents: LeadDocument[];
  total: number;
  next_cursor?: string | undefined;
}

export interface LeadQueryDependencies {
  readModel: ReadModel;
  configurations: ConfigurationReader;
  awaitPositions: AwaitPositions;
}

export function leadQueries({
  readModel,
  configurations,
  awaitPositions,
}: LeadQueryDependencies): BoundQuery[] {
  return [
    bindQuery(routes.listLeads, async ({ query, context }) => {
      await awaitPositions(context);
      const byScore = query.sort === 'score' || query.sort === '-score';
      const [page, configuration] = await Promise.all([
        byScore && query.owner === undefined && query.q === undefined
          ? listByScore(readModel, context.ouId, query)
          : listFiltered(readModel, context.ouId, query),
        loadOne(configurations, context.ouId),
      ]);
      return answer(page, query, configuration);
    }),
    bindQuery(routes.searchLeads, async ({ query, context }) => {
      await awaitPositions(context);
      const [page, configuration] = await Promise.all([
        search(readModel, context.ouId, query),
        loadOne(configurations, context.ouId),
      ]);
      return answer(page, query, configuration);
    }),
    bindQuery(routes.getScore, async ({ params, context }) => {
      await awaitPositions(context);
      const [found, configuration] = await Promise.all([
        findLead(readModel, context.ouId, params.leadID),
        loadOne(configurations, context.ouId),
      ]);
      const { id, score, scores, rulesets, last_activity_at } = toAnswer(found, configuration);
      return { lead_id: id, score, scores, rulesets, last_activity_at };
    }),
  ];
}

/** @throws ProblemError 404 `lead_not_found`, for a lead of another OU as for one that is nowhere */
export async function findLead(readModel: ReadModel, ouId: string, leadId: string): Promise<LeadDocument> {
  const found = await withClassifiedErrors(() =>
    readModel.collection(leads).findOne({ _id: leadKey(ouId, leadId) }),
  );
  if (!found)
    throw new ProblemError(404, 'lead_not_found', 'No lead of this organizational unit has this id.');
  return found;
}

function answer(
  { documents, total, next_cursor }: LeadPage,
  { page, limit }: ListQuery | SearchQuery,
  configuration: Configuration,
) {
  return {
    data: documents.map((document) => toAnswer(document, configuration)),
    total,
    page,
    limit,
    ...(next_cursor !== undefined && { next_cursor }),
  };
}

function toAnswer(document: LeadDocument, configuration: Configuration): routeDeclarations.Lead {
  const { name, fields, aliases, score, rulesets, event_count, last_activity_at, first_activity_at } =
    document;
  return {
    id: leadOfKey(document._id),
    name,
    ...(fields.company && { company: fields.company.value }),
    ...(fields.title && { title: fields.title.value }),
    ...(fields.owner && { owner: fields.owner.value }),
    aliases,
    score,
    scores: { engagement: score },
    rulesets: rulesets.map((share) => ({
      ruleset_id: share.ruleset_id,
      name: configuration.rulesets.get(share.ruleset_id)?.name ?? '',
      score: share.score,
    })),
    event_count,
    last_activity_at,
    created_at: first_activity_at,
  };
}

const everyScore: ScoreRange = { low: -(2 ** 31), high: 2 ** 31 - 1 };

function scoreRange({ min_score, max_score }: Pick<ListQuery, 'min_score' | 'max_score'>): ScoreRange {
  return {
    low: min_score === undefined ? everyScore.low : Math.ceil(min_score),
    high: max_score === undefined ? everyScore.high : Math.floor(max_score),
  };
}

/** A page costs what it shows, wherever it is: the histogram says where it starts, the places come in order. */
async function listByScore(readModel: ReadModel, ouId: string, query: ListQuery): Promise<LeadPage> {
  const direction = query.sort === 'score' ? 'ascending' : 'descending';
  const range = scoreRange(query);
  if (range.low > range.high) return { documents: [], total: 0 };
  const places = readModel.collection(ranks);
  return withClassifiedErrors(async () => {
    const { histogram } = await loadStatistics(readModel, ouId);
    const { count, toCount } = countWithin(histogram, range);
    const from = query.cursor === undefined ? null : readRankCursor(query.cursor, ouId, direction);
    const start = from
      ? { range, skip: 0 }
      : skipWithin(histogram, range, (query.page - 1) * query.limit, direction);
    if (start.range.low > start.range.high) return { documents: [], total: count };
    const keys = rankKeysBetween(ouId, start.range.low, start.range.high);
    const [found, counted] = await Promise.all([
      places
        .find(
          from
            ? { $and: [{ _id: keys }, { _id: direction === 'ascending' ? { $gt: from } : { $lt: from } }] }
            : { _id: keys },
        )
        .project<{ _id: Binary }>({ _id: 1 })
        .sort({ _id: direction === 'ascending' ? 1 : -1 })
        .skip(start.skip)
        .limit(query.limit + 1)
        .toArray(),
      Promise.all(
        toCount.map(({ low, high }) => places.countDocuments({ _id: rankKeysBetween(ouId, low, high) })),
      ),
    ]);
    const shown = found.slice(0, query.limit).map(({ _id }) => ({ key: _id, ...readRankKey(_id) }));
    const byId = await loadLeads(
      readModel,
      shown.map(({ leadId }) => leadKey(ouId, leadId)),
    );
    const last = shown.at(-1);
    return {
      // A place that its lead has just left or not yet taken is passed over.
      documents: shown.flatMap(({ leadId, score }) => {
        const lead = byId.get(leadId);
        return lead?.score === score ? [lead] : [];
      }),
      total: counted.reduce((sum, one) => sum + one, count),
      next_cursor: last && found.length > query.limit ? rankCursor(last.key, direction) : undefined,
    };
  });
}

const sortFields = {
  score: 'score',
  last_activity_at: 'last_activity_at',
  created_at: 'first_activity_at',
  name: 'name_key',
} as const;

/** By owner, text, or in another order: looks at all leads of the OU. */
async function listFiltered(readModel: ReadModel, ouId: string, query: ListQuery): Promise<LeadPage> {
  const conditions: Filter<LeadDocument>[] = [{ _id: leadKeysOf(ouId) }];
  const { low, high } = scoreRange(query);
  if (query.min_score !== undefined || query.max_score !== undefined)
    conditions.push({ score: { $gte: low, $lte: high } });
  if (query.owner !== undefined) conditions.push({ owner: query.owner });
  if (query.q !== undefined) conditions.push(textCondition(query.q));
  const descending = query.sort.startsWith('-');
  const field = sortFields[query.sort.replace('-', '') as keyof typeof sortFields];
  const step = descending ? -1 : 1;
  const collection = readModel.collection(leads);
  return withClassifiedErrors(async () => {
    const after: Filter<LeadDocument>[] = [];
    if (query.cursor !== undefined) {
      const last = await collection.findOne({ _id: leadKey(ouId, readLeadCursor(query.cursor, query.sort)) });
      if (!last) throw new InvalidCursor();
      const beyond = descending ? '$lt' : '$gt';
      after.push({
        $or: [
          { [field]: { [beyond]: last[field] } },
          { [field]: last[field], _id: { [beyond]: last._id } },
        ] as Filter<LeadDocument>[],
      });
    }
    const [found, total] = await Promise.all([
      collection
        .find({ $and: [...conditions, ...after] })
        .sort({ [field]: step, _id: step })
        .skip(query.cursor === undefined ? (query.page - 1) * query.limit : 0)
        .limit(query.limit + 1)
        .toArray(),
      conditions.length === 1
        ? loadStatistics(readModel, ouId).then((statistics) => statistics.leads)
        : collection.countDocuments({ $and: conditions }),
    ]);
    const documents = found.slice(0, query.limit);
    const last = documents.at(-1);
    return {
      documents,
      total,
      next_cursor:
        last && found.length > query.limit ? leadCursor(leadOfKey(last._id), query.sort) : undefined,
    };
  });
}

/** Leads that the text names exactly as one of their aliases, then those that contain it, highest score first. */
async function search(readModel: ReadModel, ouId: string, query: SearchQuery): Promise<LeadPage> {
  const page = query.cursor === undefined ? query.page : readPageCursor(query.cursor);
  const collection = readModel.collection(leads);
  return withClassifiedErrors(async () => {
    const exact = [
      ...(await loadLeads(readModel, await keysNamedBy(readModel, ouId, query.q))).values(),
    ].sort(
      (left, right) => right.score - left.score || Buffer.compare(bytesOf(right._id), bytesOf(left._id)),
    );
    const contains: Filter<LeadDocument> = {
      $and: [
        { _id: leadKeysOf(ouId) },
        textCondition(query.q),
        ...(exact.length > 0 ? [{ _id: { $nin: exact.map(({ _id }) => _id) } }] : []),
      ],
    };
    const skip = (page - 1) * query.limit;
    const first = exact.slice(skip, skip + query.limit);
    const [others, count] = await Promise.all([
      collection
        .find(contains)
        .sort({ score: -1, _id: -1 })
        .skip(Math.max(0, skip - exact.length))
        .limit(query.limit - first.length + 1)
        .toArray(),
      collection.countDocuments(contains),
    ]);
    return {
      documents: [...first, ...others.slice(0, query.limit - first.length)],
      total: exact.length + count,
      next_cursor: skip + query.limit < exact.length + count ? pageCursor(page + 1) : undefined,
    };
  });
}

function textCondition(text: string): Filter<LeadDocument> {
  return { search: containsText(text.toLowerCase()) };
}

const wellKnownKinds = ['email', 'phone', 'external_id', 'cookie', 'social', 'user_id', 'anonymous_id'];

/** The leads that have the text as their first alias, of any kind that occurs: computed, not searched. */
async function keysNamedBy(readModel: ReadModel, ouId: string, text: string): Promise<Binary[]> {
  const { aliasKinds } = await loadStatistics(readModel, ouId);
  const keys = new Map<string, Binary>();
  for (const kind of new Set([...wellKnownKinds, ...aliasKinds])) {
    const normalised = normaliseAlias(kind, text);
    if ('problem' in normalised) continue;
    const leadId = leadIdOf(ouId, kind, normalised.alias);
    keys.set(leadId, leadKey(ouId, leadId));
  }
  return [...keys.values()];
}

/** Leads by their ids. */
async function loadLeads(readModel: ReadModel, keys: readonly Binary[]): Promise<Map<string, LeadDocument>> {
  if (keys.length === 0) return new Map();
  const found = await readModel
    .collection(leads)
    .find({ _id: { $in: [...keys] } })
    .toArray();
  return new Map(found.map((document) => [leadOfKey(document._id), document]));
}

interface Statistics {
  histogram: Histogram;
  leads: number;
  aliasKinds: string[];
}

async function loadStatistics(readModel: ReadModel, ouId: string): Promise<Statistics> {
  const found = await readModel
    .collection(histograms)
    .find({ ou: uuidToBinary(ouId) })
    .toArray();
  return {
    histogram: joinHistograms(found.map(({ buckets }) => unpackHistogram(buckets))),
    leads: found.reduce((sum, document) => sum + document.leads, 0),
    aliasKinds: found.flatMap(({ alias_kinds }) => alias_kinds),
  };
}
