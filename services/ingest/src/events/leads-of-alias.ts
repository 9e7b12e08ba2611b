// The leads whose events a query asks for: those that an alias names, and the lead to which an id was linked.
import { leadIdOf, normaliseAlias } from '@lead-scoring/contracts';
import {
  binaryToUuid,
  findByIds,
  uuidToBinary,
  withClassifiedErrors,
  type ReadModel,
} from '@lead-scoring/read-model';
import { redirects } from '../aliases/documents.js';
import { loadEventUnit } from '../event-types/reads.js';
import { eventRecords } from './documents.js';
import { recordIdsOf } from './keys.js';

/** The leads that a list of events is of. */
export interface AskedLeads {
  leads: readonly string[];
  /** The spellings of the asked alias; absent: events under all aliases of the leads. */
  spellings?: readonly string[];
}

/** The leads that `lead_id` and `alias` of a query name together; null when the query names none, and asks for all of the OU. */
export async function leadsAsked(
  readModel: ReadModel,
  ouId: string,
  { lead_id, alias }: { lead_id?: string | undefined; alias?: string | undefined },
): Promise<AskedLeads | null> {
  const leadId = lead_id?.toLowerCase();
  if (alias === undefined) return leadId === undefined ? null : { leads: [leadId] };
  const named = await leadsOfAlias(readModel, ouId, alias);
  if (leadId === undefined) return named;
  return { ...named, leads: named.leads.filter((lead) => lead === leadId) };
}

export async function hasEvents(readModel: ReadModel, ouId: string, leadId: string): Promise<boolean> {
  const found = await withClassifiedErrors(() =>
    readModel
      .collection(eventRecords)
      .findOne({ _id: recordIdsOf(leadId), ou: uuidToBinary(ouId) }, { projection: { _id: 1 } }),
  );
  return found !== null;
}

/** The limit of forwarding events, which also ends rings of redirects. */
export const maximumHops = 20;

/** The lead itself when it has events of its own, for example from before a link; else the lead to which its alias was linked. */
export async function namedLead(readModel: ReadModel, ouId: string, leadId: string): Promise<string> {
  let named = leadId;
  for (let hop = 0; hop < maximumHops; hop += 1) {
    if (await hasEvents(readModel, ouId, named)) return named;
    const next = await redirectOf(readModel, ouId, named);
    if (next === null) break;
    named = next;
  }
  return leadId;
}

/** The lead to which later events of a lead's alias are forwarded; null: they stay with the lead. */
export async function redirectOf(readModel: ReadModel, ouId: string, leadId: string): Promise<string | null> {
  const found = await withClassifiedErrors(() =>
    readModel.collection(redirects).findOne({ _id: uuidToBinary(leadId), ou: uuidToBinary(ouId) }),
  );
  return found && found.lead_id !== leadId ? found.lead_id : null;
}

const wellKnownKinds = ['email', 'phone', 'external_id', 'cookie', 'social', 'user_id', 'anonymous_id'];

/**
 * The leads that can have events of the alias: those that it names as any alias kind of the OU, and those to which these are
 * redirected. They are computed, so that events need no index by alias.
 */
async function leadsOfAlias(
  readModel: ReadModel,
  ouId: string,
  alias: string,
): Promise<{ leads: string[]; spellings: string[] }> {
  const { alias_kinds } = await loadEventUnit(readModel, ouId);
  const kinds = new Set([...wellKnownKinds, ...alias_kinds]);
  const spellings = new Set<string>();
  const leads = new Set<string>();
  for (const kind of kinds) {
    const normalised = normaliseAlias(kind, alias);
    if ('problem' in normalised) continue;
    spellings.add(normalised.alias);
    leads.add(leadIdOf(ouId, kind, normalised.alias));
  }
  await followRedirects(readModel, leads);
  const populated = await withClassifiedErrors(() =>
    Promise.all(
      [...leads].map(async (lead) => {
        const found = await readModel
          .collection(eventRecords)
          .findOne({ _id: recordIdsOf(lead) }, { projection: { _id: 1 } });
        return found ? [lead] : [];
      }),
    ),
  );
  return { leads: populated.flat(), spellings: [...spellings] };
}

async function followRedirects(readModel: ReadModel, leads: Set<string>): Promise<void> {
  let next = [...leads];
  while (next.length > 0) {
    const found = await findByIds(readModel.collection(redirects), next.map(uuidToBinary));
    next = found.map(({ lead_id }) => lead_id).filter((lead) => !leads.has(lead));
    for (const lead of next) leads.add(lead);
  }
}

/** Those of these leads whose redirects lead to a lead, itself included. */
export async function leadsThatLeadTo(
  readModel: ReadModel,
  leadIds: ReadonlySet<string>,
  leadId: string,
): Promise<Set<string>> {
  const found = new Set<string>();
  /** By the lead at which their redirects have arrived so far. */
  let under = new Map<string, string[]>([...leadIds].map((one) => [one, [one]]));
  for (let hop = 0; hop <= maximumHops && under.size > 0; hop += 1) {
    for (const one of under.get(leadId) ?? []) found.add(one);
    under.delete(leadId);
    const next = new Map<string, string[]>();
    for (const { _id, lead_id } of await findByIds(
      readModel.collection(redirects),
      [...under.keys()].map(uuidToBinary),
    )) {
      const from = binaryToUuid(_id);
      if (from !== lead_id) next.set(lead_id, [...(next.get(lead_id) ?? []), ...(under.get(from) ?? [])]);
    }
    under = next;
  }
  return found;
}
