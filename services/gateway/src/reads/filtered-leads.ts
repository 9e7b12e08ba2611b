// Series of the events of leads that a saved filter matches: scoring has the filter and the leads, ingest their events.
import { routeDeclarations, routes, type RouteDeclaration } from '@lead-scoring/contracts';
import type { Ask, OwnerAnswer } from './owners.js';

const { analyticsOfLeads, matchingLeads } = routeDeclarations;

/** The filter of a read that only scoring can resolve; undefined where there is none. */
export function filterOf(
  { name }: RouteDeclaration,
  query: Readonly<Record<string, unknown>>,
): string | undefined {
  const { filter_id } = query;
  return name === routes.getEventsAnalytics.name && typeof filter_id === 'string' ? filter_id : undefined;
}

/**
 * Asks scoring for the leads, and ingest for their events.
 * @param url of the caller's request, whose query goes to ingest
 * @param headers for scoring: the positions that its leads must reflect
 * @returns ingest's answer, or scoring's refusal
 */
export async function seriesOfFilter(
  { url, filterId, headers }: { url: string; filterId: string; headers: Readonly<Record<string, string>> },
  ask: Ask,
): Promise<OwnerAnswer> {
  const matching = await ask('scoring', `${matchingLeads.path}?filter_id=${filterId}`, { headers });
  if (matching.statusCode !== 200) return matching;
  const { leads } = matchingLeads.responses[200].schema.parse(await matching.body.json());
  return ask('ingest', analyticsOfLeads.path + url.slice(url.indexOf('?')), {
    method: analyticsOfLeads.method,
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify({ leads })),
  });
}
