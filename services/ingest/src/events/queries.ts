// Events, newest first: of an OU by their places in the order of time, of a lead from the lead's own range.
import {
  eventTypeKey,
  leadIdOf,
  normaliseAlias,
  routes,
  type JsonObject,
  type routeDeclarations,
} from '@lead-scoring/contracts';
import {
  Binary,
  binaryToUuid,
  InvalidCursor,
  unpackJson,
  uuidToBinary,
  withClassifiedErrors,
  type Filter,
  type ReadModel,
} from '@lead-scoring/read-model';
import { bindQuery, ProblemError, type BoundQuery } from '@lead-scoring/service';
import type { EventType } from '../event-types/fold.js';
import { loadEventTypes } from '../event-types/queries.js';
import { redirects } from '../intake/model.js';
import {
  bytesOf,
  eventAtPlace,
  isPlaceOf,
  placeId,
  placesBetween,
  readStoredEventId,
  storedEventIdsOf,
  timeAtPlace,
} from './keys.js';
import { events, places, type EventDocument, type PlaceDocument } from './model.js';

interface ListQuery {
  event_type?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
  page: number;
  limit: number;
  cursor?: string | undefined;
}

interface EventPage {
  data: routeDeclarations.StoredEvent[];
  total: number;
  page: number;
  limit: number;
  next_cursor?: string;
}

export function eventQueries(readModel: ReadModel): BoundQuery[] {
  return [
    bindQuery(routes.listEvents, async ({ query, context: { ouId } }) => {
      const named = query.alias === undefined ? null : await leadsOfAlias(readModel, ouId, query.alias);
      const leadId = query.lead_id?.toLowerCase();
      if (!named && leadId === undefined) return listUnit(readModel, ouId, query);
      const leads =
        leadId === undefined ? (named?.leads ?? []) : !named || named.leads.includes(leadId) ? [leadId] : [];
      return listLeads(readModel, ouId, leads, query, named?.spellings);
    }),
    bindQuery(routes.listLeadEvents, async ({ params, query, context: { ouId } }) => {
      const page = await listLeads(readModel, ouId, [params.leadID], query);
      if (page.total === 0 && !(await isKnownLead(readModel, ouId, params.leadID)))
        throw new ProblemError(404, 'lead_not_found', 'No lead of this organizational unit has this id.');
      return page;
    }),
  ];
}

/** The OU's events. A page costs what it shows, wherever it is; only a count within times costs what it counts. */
async function listUnit(readModel: ReadModel, ouId: string, query: ListQuery): Promise<EventPage> {
  const typeKey = query.event_type === undefined ? null : eventTypeKey(query.event_type);
  const range = placesBetween(ouId, timeOf(query.from), timeOf(query.to));
  const inRange: Filter<PlaceDocument> = { _id: range, ...(typeKey !== null && { event_type_key: typeKey }) };
  const after = query.cursor === undefined ? null : placeFrom(query.cursor, ouId);
  return withClassifiedErrors(async () => {
    const [found, total] = await Promise.all([
      readModel
        .collection(places)
        .find(after ? { ...inRange, _id: { $gte: range.$gte, $lt: lesser(after, range.$lt) } } : inRange)
        .project<{ _id: Binary }>({ _id: 1 })
        .sort({ _id: -1 })
        .skip(after ? 0 : (query.page - 1) * query.limit)
        .limit(query.limit + 1)
        .toArray(),
      query.from === undefined && query.to === undefined
        ? loadEventTypes(readModel, ouId).then((types) => countOf(types, typeKey))
        : readModel.collection(places).countDocuments(inRange),
    ]);
    const shown = found.slice(0, query.limit);
    const ids = shown.map(({ _id }) => eventAtPlace(_id));
    const documents = await readModel
      .collection(events)
      .find({ _id: { $in: ids }, ou: uuidToBinary(ouId) })
      .toArray();
    const byId = new Map(documents.map((document) => [bytesOf(document._id).toString('hex'), document]));
    // A place is there a moment before its event: that one is not shown yet.
    const data = ids.flatMap((id) => byId.get(bytesOf(id).toString('hex')) ?? []);
    return answer(data, total, query, found.length > query.limit ? shown.at(-1)?._id : undefined);
  });
}

/** Events of few leads, most often of one. */
async function listLeads(
  readModel: ReadModel,
  ouId: string,
  leads: readonly string[],
  query: ListQuery,
  aliasSpellings?: readonly string[],
): Promise<EventPage> {
  const [first, ...others] = leads;
  if (first === undefined) return answer([], 0, query, undefined);
  const collection = readModel.collection(events);
  const conditions: Filter<EventDocument>[] = [
    others.length === 0
      ? { _id: storedEventIdsOf(first) }
      : { $or: leads.map((lead) => ({ _id: storedEventIdsOf(lead) })) },
    { ou: uuidToBinary(ouId) },
  ];
  if (query.event_type !== undefined) conditions.push({ event_type_key: eventTypeKey(query.event_type) });
  if (query.from !== undefined) conditions.push({ timestamp: { $gte: new Date(query.from) } });
  if (query.to !== undefined) conditions.push({ timestamp: { $lt: new Date(query.to) } });
  if (aliasSpellings) conditions.push({ alias: { $in: [...aliasSpellings] } });
  const all: Filter<EventDocument> = { $and: conditions };
  const after = query.cursor === undefined ? null : placeFrom(query.cursor, ouId);
  return withClassifiedErrors(async () => {
    const [found, total] = await Promise.all([
      collection
        .find(after ? { $and: [...conditions, olderThan(after)] } : all)
        .sort({ timestamp: -1, _id: -1 })
        .skip(after ? 0 : (query.page - 1) * query.limit)
        .limit(query.limit + 1)
        .toArray(),
      collection.countDocuments(all),
    ]);
    const shown = found.slice(0, query.limit);
    const last = shown.at(-1);
    return answer(
      shown,
      total,
      query,
      last && found.length > query.limit ? placeId(ouId, last.timestamp.getTime(), last._id) : undefined,
    );
  });
}

function answer(
  data: readonly EventDocument[],
  total: number,
  { page, limit }: ListQuery,
  next: Binary | undefined,
): EventPage {
  return {
    data: data.map(toEvent),
    total,
    page,
    limit,
    ...(next && { next_cursor: bytesOf(next).toString('base64url') }),
  };
}

function toEvent(stored: EventDocument): routeDeclarations.StoredEvent {
  return {
    ...readStoredEventId(stored._id),
    ...(stored.event_id !== undefined && { event_id: stored.event_id }),
    alias: { alias_kind: stored.alias_kind, alias: stored.alias },
    event_type: stored.event_type,
    timestamp: stored.timestamp.toISOString(),
    received_at: stored.received_at.toISOString(),
    source: stored.source,
    batch_id: binaryToUuid(stored.batch_id),
    metadata: unpackJson(stored.metadata) as JsonObject,
  };
}

function countOf(types: ReadonlyMap<string, EventType>, typeKey: string | null): number {
  if (typeKey !== null) return types.get(typeKey)?.count ?? 0;
  return [...types.values()].reduce((sum, { count }) => sum + count, 0);
}

function timeOf(time: string | undefined): number | null {
  return time === undefined ? null : Date.parse(time);
}

/** @throws InvalidCursor for one that is not a place of this OU */
function placeFrom(cursor: string, ouId: string): Binary {
  const place = new Binary(Buffer.from(cursor, 'base64url'), 0);
  if (!isPlaceOf(ouId, place)) throw new InvalidCursor();
  return place;
}

function lesser(a: Binary, b: Binary): Binary {
  return Buffer.compare(bytesOf(a), bytesOf(b)) < 0 ? a : b;
}

function olderThan(place: Binary): Filter<EventDocument> {
  const id = eventAtPlace(place);
  const timestamp = timeAtPlace(place);
  return { $or: [{ timestamp: { $lt: timestamp } }, { timestamp, _id: { $lt: id } }] };
}

/** Whether there is anything of the lead here: an event, or a redirect to another lead. */
async function isKnownLead(readModel: ReadModel, ouId: string, leadId: string): Promise<boolean> {
  const ou = uuidToBinary(ouId);
  return withClassifiedErrors(async () => {
    const [event, redirect] = await Promise.all([
      readModel.collection(events).findOne({ _id: storedEventIdsOf(leadId), ou }, { projection: { _id: 1 } }),
      readModel.collection(redirects).findOne({ _id: uuidToBinary(leadId), ou }, { projection: { _id: 1 } }),
    ]);
    return event !== null || redirect !== null;
  });
}

const wellKnownKinds = ['email', 'phone', 'external_id', 'cookie', 'social', 'user_id', 'anonymous_id'];

/**
 * The leads under which events of the alias can be: those that it names as any kind seen in the OU, and those to
 * which these are redirected. Computed, so that events need no index by alias.
 */
async function leadsOfAlias(
  readModel: ReadModel,
  ouId: string,
  alias: string,
): Promise<{ leads: string[]; spellings: string[] }> {
  const types = await loadEventTypes(readModel, ouId);
  const kinds = new Set([...wellKnownKinds, ...[...types.values()].flatMap((type) => type.alias_kinds)]);
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
          .collection(events)
          .findOne({ _id: storedEventIdsOf(lead) }, { projection: { _id: 1 } });
        return found ? [lead] : [];
      }),
    ),
  );
  return { leads: populated.flat(), spellings: [...spellings] };
}

async function followRedirects(readModel: ReadModel, leads: Set<string>): Promise<void> {
  let next = [...leads];
  while (next.length > 0) {
    const ids = next.map(uuidToBinary);
    const found = await withClassifiedErrors(() =>
      readModel
        .collection(redirects)
        .find({ _id: { $in: ids } })
        .toArray(),
    );
    next = found.map(({ lead_id }) => lead_id).filter((lead) => !leads.has(lead));
    for (const lead of next) leads.add(lead);
  }
}
