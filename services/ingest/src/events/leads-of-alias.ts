// The leads whose events a query asks for: those that an alias names, and the lead to which an id was linked.
import { leadIdOf, normaliseAlias } from '@lead-scoring/contracts';
import {
  binaryToUuid,
  findByIds,
  oneWithinEach,
  readUuid,
  uuidToBinary,
  withClassifiedErrors,
  type ReadModel,
} from '@lead-scoring/read-model';
import { redirects } from '../aliases/documents.js';
import { loadEventUnit } from '../event-types/reads.js';
import { eventRecords } from './documents.js';
import { leadBytesOf, recordIdsOf } from './keys.js';

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
  for (const lead of (await redirectsFrom(readModel, ouId, leads)).values()) leads.add(lead);
  const populated = await leadsWithEvents(readModel, [...leads]);
  return { leads: [...leads].filter((lead) => populated.has(lead)), spellings: [...spellings] };
}

/** Those of these leads that have events, in whatever partition. */
export async function leadsWithEvents(
  readModel: Pick<ReadModel, 'collection'>,
  leadIds: readonly string[],
): Promise<Set<string>> {
  const found = await oneWithinEach(readModel.collection(eventRecords), leadIds.map(recordIdsOf), []);
  return new Set(found.map(({ _id }) => readUuid(leadBytesOf(_id), 0)));
}

/** The redirects on the way from leads of an OU to those that get their events now, by redirected lead. */
export async function redirectsFrom(
  readModel: ReadModel,
  ouId: string,
  leadIds: Iterable<string>,
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  let asked = [...new Set(leadIds)];
  for (let hop = 0; hop < maximumHops && asked.length > 0; hop += 1) {
    const targets = new Set<string>();
    for (const { _id, ou, lead_id } of await findByIds(
      readModel.collection(redirects),
      asked.map(uuidToBinary),
    )) {
      const from = binaryToUuid(_id);
      // A lead that is redirected to itself keeps its events.
      if (from === lead_id || binaryToUuid(ou) !== ouId) continue;
      found.set(from, lead_id);
      targets.add(lead_id);
    }
    asked = [...targets].filter((lead) => !found.has(lead));
  }
  return found;
}

/** The leads that an event of a lead passes, from the lead itself to the one that gets it. */
export function* wayOf(leadId: string, redirectTo: ReadonlyMap<string, string>): Generator<string, void> {
  let lead: string | undefined = leadId;
  for (let hop = 0; hop <= maximumHops && lead !== undefined; hop += 1) {
    yield lead;
    lead = redirectTo.get(lead);
  }
}

/** The lead that gets the events of a lead. */
export function endOfWay(leadId: string, redirectTo: ReadonlyMap<string, string>): string {
  return [...wayOf(leadId, redirectTo)].at(-1) ?? leadId;
}

/** The lead to which the events of a lead come: itself, or the one that it has joined. */
export async function leadNow(readModel: ReadModel, ouId: string, leadId: string): Promise<string> {
  return endOfWay(leadId, await redirectsFrom(readModel, ouId, [leadId]));
}
