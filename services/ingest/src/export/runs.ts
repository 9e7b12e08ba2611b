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

/** The wanted number of places of the first run, which begins the answer, and of each further one. */
const wantedPlaces = { first: 100, next: 2_000 };
/** The most places of a run. The events of one second, and those of a lead, may be any number. */
const maximumPlaces = 20_000;
/** Documents of seconds that are read in one call. */
const secondsAtOnce = 512;

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
  for (;;) {
    const run = await withClassifiedErrors(() =>
      asked
        ? placesOfLeads(readModel, asked, filter, before)
        : placesOfUnit(readModel, filter, before, wanted),
    );
    if (run.length > 0) yield run;
    if (run.length < wanted) return;
    before = run.at(-1) ?? null;
    if (!asked) wanted = wantedPlaces.next;
  }
}

type UnitFilter = Omit<AskedEvents, 'asked' | 'after'>;

/** At least the wanted number of places before one, unless there are fewer: those of whole seconds, or the most that a run may have. */
async function placesOfUnit(
  readModel: ReadModel,
  filter: UnitFilter,
  before: Buffer | null,
  wanted: number,
): Promise<readonly Buffer[]> {
  const { ouId, typeKey } = filter;
  const toMs = Math.min(filter.toMs ?? Infinity, before ? timeOfPlace(new Binary(before, 0)) + 1 : Infinity);
  const matches = { typeKey, fromMs: filter.fromMs ?? -Infinity, toMs, before };
  const newest = new NewestPlaces(maximumPlaces);
  let current: number | null = null;
  for await (const document of secondsBackwards(readModel, filter, toMs)) {
    const { second } = readSecondKey(document._id);
    // Where the run is full, older events of this second were dropped: it ends with the second.
    if (second !== current && newest.count >= wanted) break;
    current = second;
    newest.add(newestPlaces(ouId, [document], matches, Infinity));
  }
  return newest.sorted();
}

/** The documents of an OU's seconds, newest first. */
async function* secondsBackwards(
  readModel: ReadModel,
  { ouId, typeKey, fromMs }: UnitFilter,
  toMs: number,
): AsyncGenerator<EventSecondDocument> {
  const { $gte, $lt } = secondsBetween(
    ouId,
    fromMs === null ? null : Math.floor(fromMs / 1_000),
    Number.isFinite(toMs) ? Math.ceil(toMs / 1_000) : null,
  );
  const deleted = await readDeletedTypes(readModel, ouId);
  for (let before: Binary | null = $lt; before;) {
    // With a limit: without one, the database may first sort the whole range.
    const found = readModel
      .collection(eventSeconds)
      .find({ _id: { $gte, $lt: before }, ...(typeKey !== null && { types: typeKey }) })
      .sort({ _id: -1 })
      .limit(secondsAtOnce);
    let count = 0;
    let last: Binary | null = null;
    for await (const document of found) {
      count += 1;
      last = document._id;
      yield deleted.secondWithout(document);
    }
    before = count < secondsAtOnce ? null : last;
  }
}

/** The newest places of the leads before one, as many as a run may have: reads all records of the leads. */
async function placesOfLeads(
  readModel: ReadModel,
  { leads, spellings }: AskedLeads,
  { ouId, typeKey, fromMs, toMs }: UnitFilter,
  before: Buffer | null,
): Promise<readonly Buffer[]> {
  if (leads.length === 0) return [];
  const newest = new NewestPlaces(maximumPlaces);
  const deleted = await readDeletedTypes(readModel, ouId);
  const ranges: Filter<EventRecordDocument>[] = leads.map((lead) => ({ _id: recordIdsOf(lead) }));
  const records = readModel.collection(eventRecords).find({ $or: ranges, ou: uuidToBinary(ouId) });
  for await (const document of records) {
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
  return newest.sorted();
}
