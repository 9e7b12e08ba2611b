// Reads events, newest first: those of an OU by their places in the order of time, those of a lead from the lead's range of records.
import { eventTypeKey, routes, routeDeclarations, type records } from '@lead-scoring/contracts';
import {
  Binary,
  bytesOf,
  hexOf,
  uuidToBinary,
  withClassifiedErrors,
  type Filter,
  type ReadModel,
} from '@lead-scoring/read-model';
import { bindQuery, ProblemError, type BoundQuery } from '@lead-scoring/service';
import { countAllEvents, findEventTypes } from '../event-types/reads.js';
import { isBlank } from '../event-deletions/deleted-types-model.js';
import { readDeletedTypes } from '../event-deletions/documents.js';
import { eventRecords, payloadOf, type EventRecordDocument } from './documents.js';
import { eventAtPlace, leadBytesOf, placeOf, readRecordOffset, recordIdsOf } from './keys.js';
import { hasEvents, leadsAsked, namedLead } from './leads-of-alias.js';
import { countEvents, placeFrom, readPlaces, timeOf } from './places.js';
import { aliasOf, toEvent, type RecordedEvent } from './stored-event.js';

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
      const asked = await leadsAsked(readModel, ouId, query);
      return asked
        ? listLeads(readModel, ouId, asked.leads, query, asked.spellings)
        : listUnit(readModel, ouId, query);
    }),
    bindQuery(routes.listLeadEvents, async ({ params, query, context: { ouId } }) => {
      const page = await listLeads(readModel, ouId, [params.leadID], query);
      if (page.total === 0 && !(await hasEvents(readModel, ouId, params.leadID)))
        throw new ProblemError(404, 'lead_not_found', 'No lead of this organizational unit has this id.');
      return page;
    }),
    bindQuery(routeDeclarations.findNamedLead, async ({ params, context: { ouId } }) => ({
      lead_id: await namedLead(readModel, ouId, params.leadID.toLowerCase()),
    })),
  ];
}

/** A page of the OU's events. Every page costs about the same; a total within `from` and `to` costs in proportion to its seconds. */
async function listUnit(readModel: ReadModel, ouId: string, query: ListQuery): Promise<EventPage> {
  const typeKey = query.event_type === undefined ? null : eventTypeKey(query.event_type);
  const times = { fromMs: timeOf(query.from), toMs: timeOf(query.to) };
  const after = query.cursor === undefined ? null : placeFrom(query.cursor, ouId);
  return withClassifiedErrors(async () => {
    const [found, total] = await Promise.all([
      readPlaces(readModel, ouId, {
        ...times,
        typeKey,
        after,
        skip: after ? 0 : (query.page - 1) * query.limit,
        limit: query.limit + 1,
      }),
      query.from === undefined && query.to === undefined
        ? countOf(readModel, ouId, typeKey)
        : countEvents(readModel, ouId, { ...times, typeKey }),
    ]);
    const shown = found.slice(0, query.limit);
    const wanted = shown.map(eventAtPlace);
    const documents = await readModel
      .collection(eventRecords)
      .find({ _id: { $in: wanted.map(({ record }) => record) }, ou: uuidToBinary(ouId) })
      .toArray();
    const byId = new Map(documents.map((document) => [hexOf(document._id), payloadOf(document)]));
    const data = wanted.flatMap(({ record, index }) => {
      const payload = byId.get(hexOf(record));
      const event = payload?.events[index];
      // A place may be stored a moment before its event, which is then left out, and so is one that is being deleted.
      return payload && event && !isBlank(event) ? [toEvent(payload, event)] : [];
    });
    return answer(data, total, query, found.length > query.limit ? shown.at(-1) : undefined);
  });
}

interface FoundEvent {
  place: Buffer;
  payload: records.EventsIngested;
  event: RecordedEvent;
}

/** The number of found events above the wanted number at which the surplus is dropped. */
const maximumSurplus = 1_000;

/** A page of the events of few leads, most often of one: reads all their records, and keeps the newest matching events. */
async function listLeads(
  readModel: ReadModel,
  ouId: string,
  leads: readonly string[],
  query: ListQuery,
  aliasSpellings?: readonly string[],
): Promise<EventPage> {
  if (leads.length === 0) return answer([], 0, query, undefined);
  const typeKey = query.event_type === undefined ? null : eventTypeKey(query.event_type);
  const [from, to] = [timeOf(query.from) ?? -Infinity, timeOf(query.to) ?? Infinity];
  const after = query.cursor === undefined ? null : bytesOf(placeFrom(query.cursor, ouId));
  const skipped = after ? 0 : (query.page - 1) * query.limit;
  const wanted = skipped + query.limit + 1;
  let newest: FoundEvent[] = [];
  const keepNewest = () => {
    newest = newest.sort((a, b) => Buffer.compare(b.place, a.place)).slice(0, wanted);
  };
  let total = 0;
  const deleted = await readDeletedTypes(readModel, ouId);
  await withClassifiedErrors(async () => {
    const ranges: Filter<EventRecordDocument>[] = leads.map((lead) => ({ _id: recordIdsOf(lead) }));
    for await (const document of readModel.collection(eventRecords).find({
      $and: [ranges.length === 1 ? (ranges[0] ?? {}) : { $or: ranges }, { ou: uuidToBinary(ouId) }],
    })) {
      const payload = payloadOf(document);
      if (aliasSpellings && !aliasSpellings.includes(aliasOf(payload).alias)) continue;
      const leadBytes = leadBytesOf(document._id);
      const offset = readRecordOffset(document._id);
      const left = deleted.visibleIn(payload, { partition: document.partition, offset });
      left.forEach(({ event, index }) => {
        const timestamp = Date.parse(event.timestamp);
        if (timestamp < from || timestamp >= to) return;
        if (typeKey !== null && eventTypeKey(event.event_type) !== typeKey) return;
        total += 1;
        const place = bytesOf(placeOf(ouId, { leadBytes, offset, timestampMs: timestamp, index }));
        if (!after || Buffer.compare(place, after) < 0) newest.push({ place, payload, event });
      });
      if (newest.length > wanted + maximumSurplus) keepNewest();
    }
  });
  keepNewest();
  const shown = newest.slice(skipped, skipped + query.limit);
  const last = shown.at(-1);
  return answer(
    shown.map(({ payload, event }) => toEvent(payload, event)),
    total,
    query,
    last && newest.length === wanted ? new Binary(last.place, 0) : undefined,
  );
}

function answer(
  data: routeDeclarations.StoredEvent[],
  total: number,
  { page, limit }: ListQuery,
  next: Binary | undefined,
): EventPage {
  return { data, total, page, limit, ...(next && { next_cursor: bytesOf(next).toString('base64url') }) };
}

/** @param typeKey null: all types */
async function countOf(readModel: ReadModel, ouId: string, typeKey: string | null): Promise<number> {
  if (typeKey === null) return countAllEvents(readModel, ouId);
  return (await findEventTypes(readModel, ouId, [typeKey])).get(typeKey)?.count ?? 0;
}
