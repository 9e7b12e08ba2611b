// Searches leads by a text that is, or is part of, an alias, a name or a company.
import { leadIdOf, normaliseAlias, type routes } from '@lead-scoring/contracts';
import { withClassifiedErrors, type Binary, type Filter, type ReadModel } from '@lead-scoring/read-model';
import { maximumAliases } from '@lead-scoring/scoring-domain';
import type { QueryInput } from '@lead-scoring/service';
import { aliasKeysOf, leadKey, leadKeysOf, leadOfAliasKey } from '../keys.js';
import { pageCursor, readPageCursor } from './cursor.js';
import { leadAliases, leads, type LeadDocument } from './documents.js';
import { loadStatistics } from './statistics.js';
import {
  fewMatches,
  inOrder,
  loadInOrder,
  loadLeads,
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
      const all: LeadMatch[] = [...named, ...others];
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

const wellKnownKinds = ['email', 'phone', 'external_id', 'cookie', 'social', 'user_id', 'anonymous_id'];

/** The leads with the text as an alias of any kind in use, by descending score: their ids are computed, not searched. */
async function leadsNamedBy(readModel: ReadModel, ouId: string, text: string): Promise<LeadDocument[]> {
  const { aliasKinds } = await loadStatistics(readModel, ouId);
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
