// Leads by score, by text, and one by one.
import {
  leadIdOf,
  levelNamed,
  levelOf,
  normaliseAlias,
  routes,
  type routeDeclarations,
  type ScoringConfiguration,
} from '@lead-scoring/contracts';
import {
  bytesOf,
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
import type { ConfigurationReader } from '../configuration/store.js';
import {
  aliasKeysOf,
  leadKey,
  leadKeysOf,
  leadOfAliasKey,
  leadOfKey,
  rankEdge,
  rankPosition,
} from '../keys.js';
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
  stretchEnd,
  type Histogram,
  type ScoreRange,
} from './histogram-fold.js';
import { histograms, leadAliases, leads, unpackHistogram, type LeadDocument } from './model.js';
import { maximumAliases } from './state.js';

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
      const loading = loadOne(configurations, context.ouId);
      // Only a level makes the list wait for the configuration.
      const level = query.level === undefined ? everyLevel : requireLevel(await loading, query.level);
      const range = scoreRange(query, level);
      const [page, configuration] = await Promise.all([
        byScore && query.owner === undefined && query.q === undefined
          ? listByScore(readModel, context.ouId, query, range)
          : listFiltered(readModel, context.ouId, query, range),
        loading,
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
      const { id, score, scores, level, rulesets, last_activity_at } = toAnswer(found, configuration);
      return { lead_id: id, score, scores, level, rulesets, last_activity_at };
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
  configuration: ScoringConfiguration,
) {
  return {
    data: documents.map((document) => toAnswer(document, configuration)),
    total,
    page,
    limit,
    ...(next_cursor !== undefined && { next_cursor }),
  };
}

function toAnswer(document: LeadDocument, configuration: ScoringConfiguration): routeDeclarations.Lead {
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
    level: levelOf(configuration.levels, score),
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

type LevelBounds = Pick<routeDeclarations.EngagementLevel, 'min_score' | 'max_score'>;

const everyLevel: LevelBounds = { min_score: null, max_score: null };

/** @throws ProblemError 404 `level_not_found` */
function requireLevel(configuration: ScoringConfiguration, idOrName: string): LevelBounds {
  const level = levelNamed(configuration.levels, idOrName);
  if (!level)
    throw new ProblemError(
      404,
      'level_not_found',
      'No engagement level of this organizational unit has this id or name. GET /engagement-scoring/levels lists them.',
    );
  return level;
}

/** The scores that are within the bounds asked for and within the level's. */
function scoreRange(
  { min_score, max_score }: Pick<ListQuery, 'min_score' | 'max_score'>,
  level: LevelBounds,
): ScoreRange {
  return {
    low: Math.max(Math.ceil(min_score ?? everyScore.low), level.min_score ?? everyScore.low),
    high: Math.min(Math.floor(max_score ?? everyScore.high), level.max_score ?? everyScore.high),
  };
}

/** A page costs what it shows: the histogram says where it starts and about where it ends. */
async function listByScore(
  readModel: ReadModel,
  ouId: string,
  query: ListQuery,
  range: ScoreRange,
): Promise<LeadPage> {
  const direction = query.sort === 'score' ? 'ascending' : 'descending';
  if (range.low > range.high) return { documents: [], total: 0 };
  return withClassifiedErrors(async () => {
    const { histogram } = await loadStatistics(readModel, ouId);
    const { count, toCount } = countWithin(histogram, range);
    const from = query.cursor === undefined ? null : readRankCursor(query.cursor, ouId, direction);
    const start = from
      ? { range, skip: 0 }
      : skipWithin(histogram, range, (query.page - 1) * query.limit, direction);
    const [found, counted] = await Promise.all([
      start.range.low > start.range.high
        ? []
        : leadsInOrder(readModel, ouId, histogram, { ...start, from, limit: query.limit + 1, direction }),
      Promise.all(
        toCount.map(({ low, high }) =>
          readModel
            .collection(leads)
            .countDocuments({ rank: { $gte: rankEdge(ouId, low), $lt: rankEdge(ouId, high + 1) } }),
        ),
      ),
    ]);
    const documents = found.slice(0, query.limit);
    const last = documents.at(-1);
    return {
      documents,
      total: counted.reduce((sum, one) => sum + one, count),
      next_cursor: last && found.length > query.limit ? rankCursor(last.rank, direction) : undefined,
    };
  });
}

interface OrderedLeads {
  range: ScoreRange;
  /** The place after which to begin; null: at the range's end. */
  from: Binary | null;
  skip: number;
  limit: number;
  direction: 'ascending' | 'descending';
}

/** Leads that a stretch may hold beyond those wanted, so that it is rarely too short. */
const spareLeads = 64;

/**
 * Leads in the order of their scores. An engine that cannot sort by an index would put all leads of the range into
 * order: so it is asked for a stretch that has a few more than are wanted, and for a longer one if that had fewer.
 */
async function leadsInOrder(
  readModel: ReadModel,
  ouId: string,
  histogram: Histogram,
  { range, from, skip, limit, direction }: OrderedLeads,
): Promise<LeadDocument[]> {
  const up = direction === 'ascending';
  const [first, last] = up ? [range.low, range.high + 1] : [range.high + 1, range.low];
  const start = from ? rankPosition(from) : first;
  for (let wanted = skip + limit + spareLeads; ; wanted *= 4) {
    const end = stretchEnd(histogram, range, start, wanted, direction);
    const [low, high] = up ? [first, end] : [end, first];
    const within = { rank: { $gte: rankEdge(ouId, low), $lt: rankEdge(ouId, high) } };
    const documents = await readModel
      .collection(leads)
      .find(from ? { $and: [within, { rank: up ? { $gt: from } : { $lt: from } }] } : within)
      .sort({ rank: up ? 1 : -1 })
      .skip(skip)
      .limit(limit)
      .toArray();
    if (documents.length === limit || end === last) return documents;
  }
}

const sortFields = {
  score: 'score',
  last_activity_at: 'last_activity_at',
  created_at: 'first_activity_at',
  name: 'name_key',
} as const;

/** By owner, text, or in another order: looks at all leads of the OU. */
async function listFiltered(
  readModel: ReadModel,
  ouId: string,
  query: ListQuery,
  { low, high }: ScoreRange,
): Promise<LeadPage> {
  const conditions: Filter<LeadDocument>[] = [{ _id: leadKeysOf(ouId) }];
  if (low > everyScore.low || high < everyScore.high) conditions.push({ score: { $gte: low, $lte: high } });
  if (query.owner !== undefined) conditions.push({ owner: query.owner });
  if (query.q !== undefined) conditions.push(textCondition(query.q));
  const direction = query.sort.startsWith('-') ? -1 : 1;
  const order: LeadOrder = {
    field: sortFields[query.sort.replace('-', '') as keyof typeof sortFields],
    direction,
  };
  const collection = readModel.collection(leads);
  return withClassifiedErrors(async () => {
    const last =
      query.cursor === undefined ? null : await lastOfPage(readModel, ouId, query.cursor, query.sort);
    const nextCursor = (lead: Pick<LeadDocument, '_id'>) => leadCursor(leadOfKey(lead._id), query.sort);
    const matches =
      query.owner === undefined && query.q === undefined
        ? null
        : await fewMatches(readModel, { $and: conditions }, order);
    if (matches) {
      const rest = last ? matches.filter((match) => inOrder(order)(match, last) > 0) : matches;
      const skip = last ? 0 : (query.page - 1) * query.limit;
      const shown = rest.slice(skip, skip + query.limit);
      const end = shown.at(-1);
      return {
        documents: await loadInOrder(readModel, shown),
        total: matches.length,
        next_cursor: end && skip + query.limit < rest.length ? nextCursor(end) : undefined,
      };
    }
    const [found, total] = await Promise.all([
      collection
        .find({ $and: [...conditions, ...(last ? [afterInOrder(last, order)] : [])] })
        .sort({ [order.field]: direction, _id: direction })
        .skip(last ? 0 : (query.page - 1) * query.limit)
        .limit(query.limit + 1)
        .toArray(),
      conditions.length === 1
        ? loadStatistics(readModel, ouId).then((statistics) => statistics.leads)
        : collection.countDocuments({ $and: conditions }),
    ]);
    const documents = found.slice(0, query.limit);
    const end = documents.at(-1);
    return { documents, total, next_cursor: end && found.length > query.limit ? nextCursor(end) : undefined };
  });
}

interface LeadOrder {
  field: (typeof sortFields)[keyof typeof sortFields];
  direction: 1 | -1;
}

type Match = Pick<LeadDocument, '_id' | LeadOrder['field']>;

/** Up to so many matches are looked up once, and put into order and counted here. */
const maximumMatches = 2_000;

/** The matches in order, or null when there are too many: a look at all leads costs the same for finding and for counting. */
async function fewMatches(
  readModel: ReadModel,
  filter: Filter<LeadDocument>,
  order: LeadOrder,
): Promise<Match[] | null> {
  const found = await readModel
    .collection(leads)
    .find(filter)
    .project<Match>({ _id: 1, [order.field]: 1 })
    .limit(maximumMatches + 1)
    .toArray();
  return found.length > maximumMatches ? null : found.sort(inOrder(order));
}

function inOrder({ field, direction }: LeadOrder): (left: Match, right: Match) => number {
  return (left, right) => {
    const [a, b] = [left[field], right[field]];
    return direction * (a < b ? -1 : a > b ? 1 : Buffer.compare(bytesOf(left._id), bytesOf(right._id)));
  };
}

function afterInOrder(last: Match, { field, direction }: LeadOrder): Filter<LeadDocument> {
  const beyond = direction === -1 ? '$lt' : '$gt';
  return {
    $or: [{ [field]: { [beyond]: last[field] } }, { [field]: last[field], _id: { [beyond]: last._id } }],
  };
}

/** @throws InvalidCursor */
async function lastOfPage(
  readModel: ReadModel,
  ouId: string,
  cursor: string,
  sort: string,
): Promise<LeadDocument> {
  const last = await readModel
    .collection(leads)
    .findOne({ _id: leadKey(ouId, readLeadCursor(cursor, sort)) });
  if (!last) throw new InvalidCursor();
  return last;
}

const highestFirst: LeadOrder = { field: 'score', direction: -1 };

/**
 * Leads that the text names exactly as one of their aliases, then those that contain it, highest score first. An
 * e-mail address or telephone number in full names its leads and nobody else: then nothing is searched.
 */
async function search(readModel: ReadModel, ouId: string, query: SearchQuery): Promise<LeadPage> {
  const page = query.cursor === undefined ? query.page : readPageCursor(query.cursor);
  const skip = (page - 1) * query.limit;
  return withClassifiedErrors(async () => {
    const named = await leadsNamedBy(readModel, ouId, query.q);
    const isWhole =
      named.length > 0 && ['email', 'phone'].some((kind) => 'alias' in normaliseAlias(kind, query.q));
    const contains: Filter<LeadDocument> = {
      $and: [
        { _id: leadKeysOf(ouId) },
        textCondition(query.q),
        ...(named.length > 0 ? [{ _id: { $nin: named.map(({ _id }) => _id) } }] : []),
      ],
    };
    const others = isWhole ? [] : await fewMatches(readModel, contains, highestFirst);
    if (others) {
      const all: Match[] = [...named, ...others];
      return {
        documents: await loadInOrder(readModel, all.slice(skip, skip + query.limit)),
        total: all.length,
        next_cursor: skip + query.limit < all.length ? pageCursor(page + 1) : undefined,
      };
    }
    const first = named.slice(skip, skip + query.limit);
    const [found, count] = await Promise.all([
      readModel
        .collection(leads)
        .find(contains)
        .sort({ score: -1, _id: -1 })
        .skip(Math.max(0, skip - named.length))
        .limit(query.limit - first.length)
        .toArray(),
      readModel.collection(leads).countDocuments(contains),
    ]);
    return {
      documents: [...first, ...found],
      total: named.length + count,
      next_cursor: skip + query.limit < named.length + count ? pageCursor(page + 1) : undefined,
    };
  });
}

function textCondition(text: string): Filter<LeadDocument> {
  return { search: containsText(text.toLowerCase()) };
}

const wellKnownKinds = ['email', 'phone', 'external_id', 'cookie', 'social', 'user_id', 'anonymous_id'];

/** The leads that have the text as an alias, of any kind that occurs, highest score first: computed, not searched. */
async function leadsNamedBy(readModel: ReadModel, ouId: string, text: string): Promise<LeadDocument[]> {
  const { aliasKinds } = await loadStatistics(readModel, ouId);
  const keys = new Map<string, Binary>();
  for (const kind of new Set([...wellKnownKinds, ...aliasKinds])) {
    const normalised = normaliseAlias(kind, text);
    if ('problem' in normalised) continue;
    const leadId = leadIdOf(ouId, kind, normalised.alias);
    keys.set(leadId, leadKey(ouId, leadId));
  }
  // Leads that the alias was linked to, besides the lead that it names by itself.
  const linked = await Promise.all(
    [...keys.keys()].map((leadId) =>
      readModel
        .collection(leadAliases)
        .find({ _id: aliasKeysOf(ouId, leadId) })
        .limit(maximumAliases)
        .toArray(),
    ),
  );
  for (const { _id } of linked.flat()) keys.set(leadOfAliasKey(_id), leadKey(ouId, leadOfAliasKey(_id)));
  return [...(await loadLeads(readModel, [...keys.values()])).values()].sort(inOrder(highestFirst));
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

async function loadInOrder(readModel: ReadModel, matches: readonly Match[]): Promise<LeadDocument[]> {
  const byId = await loadLeads(
    readModel,
    matches.map(({ _id }) => _id),
  );
  return matches.flatMap(({ _id }) => byId.get(leadOfKey(_id)) ?? []);
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
