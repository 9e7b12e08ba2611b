// The places of all events that a query asks for, newest first, in runs of bounded size. No cursor of the database stays open
// between two runs, so a slow reader holds nothing.
import { eventTypeKey } from '@lead-scoring/contracts';
import {
  Binary,
  bytesOf,
  uuidToBinary,
  withClassifiedErrors,
  type Filter,
  type ReadModel,
} from '@lead-scoring/read-model';
import { readDeletedTypes } from '../event-deletions/documents.js';
import {
  eventRecords,
  eventSeconds,
  payloadOf,
  type EventRecordDocument,
  type EventSecondDocument,
} from '../events/documents.js';
import {
  leadBytesOf,
  placeOf,
  readRecordOffset,
  readSecondKey,
  recordIdsOf,
  secondsBetween,
  timeOfPlace,
} from '../events/keys.js';
import type { AskedLeads } from '../events/leads-of-alias.js';
import { NewestPlaces } from '../events/newest-places.js';
import type { EventFilter } from '../events/places.js';
import { newestPlaces } from '../events/seconds.js';
import { aliasOf } from '../events/stored-event.js';
import { documentsAtOnce, isAtEnd } from './part-sizes.js';

/** The wanted number of places of the first run, which begins the answer, and of each further one. */
const wantedPlaces = { first: 100, next: 2_000 };
/** The most places of a run. The events of one second, and those of a lead, may be any number. */
const maximumPlaces = 20_000;

export interface AskedEvents extends EventFilter {
  ouId: string;
  /** null: all leads of the OU. */
  asked: AskedLeads | null;
  /** The place after which the events begin; null: with the newest. */
  after: Binary | null;
}

/** The places, newest first. */
export async function* runsOfPlaces(
  readModel: ReadModel,
  { asked, after, ...filter }: AskedEvents,
): AsyncGenerator<readonly Buffer[]> {
  let before = after && bytesOf(after);
  let wanted = asked ? maximumPlaces : wantedPlaces.first;
  // As if each document had one place: the first answer of the database is then not larger than needed.
  let atOnce = documentsAtOnce(wanted, { documents: 1, places: 1 });
  for (;;) {
    const run = await withClassifiedErrors(() =>
      asked
        ? placesOfLeads(readModel, asked, filter, before)
        : placesOfUnit(readModel, filter, before, { wanted, atOnce }),
    );
    const { places } = run;
    if (places.length > 0) yield places;
    if (places.length < wanted) return;
    before = places.at(-1) ?? null;
    if (asked) continue;
    wanted = wantedPlaces.next;
    atOnce = documentsAtOnce(wanted, { documents: run.documents, places: places.length });
  }
}

interface Run {
  /** Newest first. */
  places: readonly Buffer[];
  /** The number of stored documents in which they were found. */
  documents: number;
}

type UnitFilter = Omit<AskedEvents, 'asked' | 'after'>;

/** The newest places before `before`: at least the wanted number, if there are so many, in whole seconds, up to the maximum of a run. */
async function placesOfUnit(
  readModel: ReadModel,
  filter: UnitFilter,
  before: Buffer | null,
  { wanted, atOnce }: { wanted: number; atOnce: number },
): Promise<Run> {
  const { ouId, typeKey } = filter;
  const toMs = Math.min(filter.toMs ?? Infinity, before ? timeOfPlace(new Binary(before, 0)) + 1 : Infinity);
  const matches = { typeKey, fromMs: filter.fromMs ?? -Infinity, toMs, before };
  const newest = new NewestPlaces(maximumPlaces);
  let current: number | null = null;
  let documents = 0;
  for await (const document of secondsBackwards(readModel, filter, toMs, atOnce)) {
    const { second } = readSecondKey(document._id);
    // Where the run is full, older events of this second were dropped: it ends with the second.
    if (second !== current && newest.count >= wanted) break;
    current = second;
    documents += 1;
    newest.add(newestPlaces(ouId, [document], matches, Infinity));
  }
  return { places: newest.sorted(), documents };
}

/** The documents of an OU's seconds, newest first. */
async function* secondsBackwards(
  readModel: ReadModel,
  { ouId, typeKey, fromMs }: UnitFilter,
  toMs: number,
  atOnce: number,
): AsyncGenerator<EventSecondDocument> {
  const { $gte, $lt } = secondsBetween(
    ouId,
    fromMs === null ? null : Math.floor(fromMs / 1_000),
    Number.isFinite(toMs) ? Math.ceil(toMs / 1_000) : null,
  );
  const deleted = await readDeletedTypes(readModel, ouId);
  for (let before = $lt; ;) {
    // One answer without a cursor: of one with a cursor, the database stores the rest of a sorted range.
    const found = await readModel
      .collection(eventSeconds)
      .find(
        { _id: { $gte, $lt: before }, ...(typeKey !== null && { types: typeKey }) },
        { singleBatch: true },
      )
      .sort({ _id: -1 })
      // With a limit: without one, the database may first sort the whole range.
      .limit(atOnce)
      .batchSize(atOnce)
      .toArray();
    for (const document of found) yield deleted.secondWithout(document);
    const last = found.at(-1);
    if (!last || isAtEnd(found, atOnce)) return;
    before = last._id;
  }
}

/** The newest places of the leads before one, as many as a run may have: reads all records of the leads. */
async function placesOfLeads(
  readModel: ReadModel,
  { leads, spellings }: AskedLeads,
  { ouId, typeKey, fromMs, toMs }: UnitFilter,
  before: Buffer | null,
): Promise<Run> {
  let documents = 0;
  if (leads.length === 0) return { places: [], documents };
  const newest = new NewestPlaces(maximumPlaces);
  const deleted = await readDeletedTypes(readModel, ouId);
  const ranges: Filter<EventRecordDocument>[] = leads.map((lead) => ({ _id: recordIdsOf(lead) }));
  const records = readModel.collection(eventRecords).find({ $or: ranges, ou: uuidToBinary(ouId) });
  for await (const document of records) {
    documents += 1;
    const payload = payloadOf(document);
    if (spellings && !spellings.includes(aliasOf(payload).alias)) continue;
    const lead = { leadBytes: leadBytesOf(document._id), offset: readRecordOffset(document._id) };
    const left = deleted.visibleIn(payload, { partition: document.partition, offset: lead.offset });
    newest.add(
      left.flatMap(({ event: { timestamp, event_type }, index }) => {
        const timestampMs = Date.parse(timestamp);
        if (timestampMs < (fromMs ?? -Infinity) || timestampMs >= (toMs ?? Infinity)) return [];
        if (typeKey !== null && eventTypeKey(event_type) !== typeKey) return [];
        const place = bytesOf(placeOf(ouId, { ...lead, timestampMs, index }));
        return before && Buffer.compare(place, before) >= 0 ? [] : [place];
      }),
    );
  }
  return { places: newest.sorted(), documents };
}
