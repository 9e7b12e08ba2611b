// Leads that are named by an id which no lead has any more: ingest knows to which lead its alias was linked.
import { routeDeclarations } from '@lead-scoring/contracts';
import type { Ask } from './owners.js';

/**
 * The address with the leads that its ids name. Reads by a path ask only when there is no such lead, so that this costs
 * nothing otherwise; a list that is narrowed to a lead asks first, since it has no such answer.
 */
export async function withNamedLeads(
  url: string,
  parameters: readonly string[],
  values: Readonly<Record<string, unknown>>,
  ask: Ask,
): Promise<string> {
  let named = url;
  for (const parameter of parameters) {
    const id = values[parameter];
    if (typeof id === 'string') named = named.replace(id, await namedLead(id.toLowerCase(), ask, id));
  }
  return named;
}

/** @param otherwise when it names itself */
export async function namedLead(leadId: string, ask: Ask, otherwise = leadId): Promise<string> {
  const answer = await ask('ingest', `/internal/named-lead/${leadId}`);
  if (answer.statusCode !== 200) {
    await answer.body.dump();
    return otherwise;
  }
  const { lead_id } = routeDeclarations.findNamedLead.responses[200].schema.parse(await answer.body.json());
  return lead_id === leadId ? otherwise : lead_id;
}
