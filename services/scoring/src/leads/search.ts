// Searches leads by a text that is, or is part of, an alias, a name or a company.
import { leadIdOf, normaliseAlias, type routes } from '@lead-scoring/contracts';
import { withClassifiedErrors, type Binary, type Filter, type ReadModel } from '@lead-scoring/read-model';
import { maximumAliases } from '@lead-scoring/scoring-domain';
import type { QueryInput } from '@lead-scoring/service';
import { aliasKeysOf, leadKey, leadOfAliasKey } from '../keys.js';
import { pageCursor, readPageCursor } from './cursor.js';
import { leadAliases, leads, type LeadDocument } from './documents.js';
import { findLeadsWithText } from '../text-index/find-texts.js';
import { loadStatistics, type Statistics } from './statistics.js';
import {
  fewMatches,
  inOrder,
  loadInOrder,
  loadLeads,
  scanFilter,
  textCondition,
  type LeadMatch,
  type LeadOrder,
  type LeadPage,
} from './stored-leads.js';

type SearchQuery = QueryInput<typeof routes.searchLeads>['query'];

const highestFirst: LeadOrder = { field: 'score', direction: -1 };

/**
 * Leads with the text as an alias, then leads that contain it, each by descending score. A complete e-mail address or telephone
 * number of a lead identifies it, so that no other lead is searched.
 */
export async function searchLeads(readModel: ReadModel, ouId: string, query: SearchQuery): Promise<LeadPage> {
  const page = query.cursor === undefined ? query.page : readPageCursor(query.cursor);
  const skip = (page - 1) * query.limit;
  return withClassifiedErrors(async () => {
    const statistics = loadStatistics(readModel, ouId);
    const naming = statistics.then(({ aliasKinds }) => leadsNamedBy(readModel, ouId, query.q, aliasKinds));
    const isAddress = ['email', 'phone'].some((kind) => 'alias' in normaliseAlias(kind, query.q));
    const isWhole = isAddress && (await naming).length > 0;
    const [named, among] = await Promise.all([
      naming,
      isWhole ? new Set<string>() : leadsContaining(readModel, ouId, query.q, statistics),
    ]);
    const conditions: Filter<LeadDocument>[] = [textCondition(query.q)];
    if (named.length > 0) conditions.push({ _id: { $nin: named.map(({ _id }) => _id) } });
    const others = await fewMatches(readModel, { ouId, conditions, among }, highestFirst);
    if (others) {
      const all: LeadMatch[] = [...named, ...others];
      return {
        documents: await loadInOrder(readModel, all.slice(skip, skip + query.limit)),
        total: all.length,
        next_cursor: skip + query.limit < all.length ? pageCursor(page + 1) : undefined,
      };
    }
    const contains = scanFilter({ ouId, conditions });
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

/** The only leads that may have the text in their name, company or aliases. null: any lead of the OU may. */
export function leadsContaining(
  readModel: ReadModel,
  ouId: string,
  text: string,
  statistics: Promise<Statistics> = loadStatistics(readModel, ouId),
): Promise<ReadonlySet<string> | null> {
  const partitions = statistics.then((known) => known.partitions);
  return findLeadsWithText(readModel, { ouId, text: text.toLowerCase(), partitions });
}

const wellKnownKinds = ['email', 'phone', 'external_id', 'cookie', 'social', 'user_id', 'anonymous_id'];

/** The leads with the text as an alias of any kind in use, by descending score: their ids are computed, not searched. */
async function leadsNamedBy(
  readModel: ReadModel,
  ouId: string,
  text: string,
  aliasKinds: readonly string[],
): Promise<LeadDocument[]> {
  const keys = new Map<string, Binary>();
  for (const kind of new Set([...wellKnownKinds, ...aliasKinds])) {
    const normalised = normaliseAlias(kind, text);
    if ('problem' in normalised) continue;
    const leadId = leadIdOf(ouId, kind, normalised.alias);
    keys.set(leadId, leadKey(ouId, leadId));
  }
  // Leads to which the alias was linked, besides the alias's own lead.
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
