// The aliases of a lead, and the lead of an alias.
import { leadIdOf, normaliseAlias, routeDeclarations, routes } from '@lead-scoring/contracts';
import { binaryToUuid, uuidToBinary, withClassifiedErrors, type ReadModel } from '@lead-scoring/read-model';
import { bindQuery, ProblemError, type BoundQuery } from '@lead-scoring/service';
import { hasEvents, leadNow } from '../events/leads-of-alias.js';
import { ownAliasOf } from '../merges/reads.js';
import { redirects, type RedirectDocument } from './documents.js';

type LeadAlias = routeDeclarations.LeadAlias;
const { maximumListedAliases } = routeDeclarations;

export function aliasQueries(readModel: ReadModel): BoundQuery[] {
  return [
    bindQuery(routes.listLeadAliases, async ({ params, query: { page, limit }, context: { ouId } }) => {
      const leadId = params.leadID.toLowerCase();
      if (!(await hasEvents(readModel, ouId, leadId))) throw notFound('No lead', 'has this id');
      const own = await ownAliasOf(readModel, ouId, leadId);
      const linked = await linkedAliases(readModel, ouId, leadId);
      const aliases = [...(own ? [own] : []), ...linked].slice(0, maximumListedAliases);
      return { data: aliases.slice((page - 1) * limit, page * limit), total: aliases.length, page, limit };
    }),
    bindQuery(routes.findLeadByAlias, async ({ query: { alias_kind, alias }, context: { ouId } }) => {
      const normalised = normaliseAlias(alias_kind, alias);
      if ('problem' in normalised) throw new Error('the form of the query lets no such alias pass');
      const lead_id = await leadNow(readModel, ouId, leadIdOf(ouId, alias_kind, normalised.alias));
      if (!(await hasEvents(readModel, ouId, lead_id)))
        throw notFound('No event', 'has come under this alias');
      return { lead_id, alias: { alias_kind, alias: normalised.alias } };
    }),
  ];
}

/** The number of a lead's aliases: its own, and those that were linked to it. */
export async function countAliases(readModel: ReadModel, ouId: string, leadId: string): Promise<number> {
  return Math.min(maximumListedAliases, 1 + (await linkedAliases(readModel, ouId, leadId)).length);
}

/** The aliases that were linked to the lead, or to one that was, in the order of their links. */
async function linkedAliases(readModel: ReadModel, ouId: string, leadId: string): Promise<LeadAlias[]> {
  const found = new Map<string, RedirectDocument>();
  let targets = [leadId];
  while (targets.length > 0 && found.size < maximumListedAliases) {
    const linked = await withClassifiedErrors(() =>
      readModel
        .collection(redirects)
        .find(
          { lead_id: { $in: targets }, ou: uuidToBinary(ouId) },
          { limit: maximumListedAliases - found.size },
        )
        .toArray(),
    );
    targets = [];
    for (const redirect of linked) {
      const id = binaryToUuid(redirect._id);
      // A lead that is redirected to itself keeps its events: it is not linked any more.
      if (id === redirect.lead_id || id === leadId || found.has(id)) continue;
      found.set(id, redirect);
      targets.push(id);
    }
  }
  return [...found.values()]
    .sort((a, b) => a.linked_at.localeCompare(b.linked_at) || a.alias.localeCompare(b.alias))
    .map(({ alias_kind, alias, linked_at }) => ({ alias_kind, alias, linked_at }));
}

function notFound(what: string, does: string): ProblemError {
  return new ProblemError(404, 'lead_not_found', `${what} of this organizational unit ${does}.`);
}
