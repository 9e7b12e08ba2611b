// Replaces the id of an alias that was linked to another lead by the id of that lead, which ingest knows.
import { routeDeclarations } from '@lead-scoring/contracts';
import type { Ask } from './owners.js';

/** A URL, and the lead that an id in it names. */
export interface NamedLeads {
  readonly url: string;
  /** Absent where no id was linked. */
  readonly mergedInto?: string;
}

/**
 * The URL with linked ids replaced. Reads of a path call this only after a 404, so that it costs nothing otherwise; a list that is
 * filtered by a lead calls it first, because it never answers 404.
 */
export async function withNamedLeads(
  url: string,
  parameters: readonly string[],
  values: Readonly<Record<string, unknown>>,
  ask: Ask,
): Promise<NamedLeads> {
  let named: NamedLeads = { url };
  for (const parameter of parameters) {
    const id = values[parameter];
    if (typeof id !== 'string') continue;
    const leadId = await namedLead(id.toLowerCase(), ask, id);
    if (leadId !== id) named = { url: named.url.replace(id, leadId), mergedInto: leadId };
  }
  return named;
}

/** @param otherwise the result when the id was not linked */
export async function namedLead(leadId: string, ask: Ask, otherwise = leadId): Promise<string> {
  const answer = await ask('ingest', `/internal/named-lead/${leadId}`);
  if (answer.statusCode !== 200) {
    await answer.body.dump();
    return otherwise;
  }
  const { lead_id } = routeDeclarations.findNamedLead.responses[200].schema.parse(await answer.body.json());
  return lead_id === leadId ? otherwise : lead_id;
}
