// From the recorded events to the stored ones: the same documents whenever and however often they are made.
import { eventTypeKey, isNameBasedId, type records } from '@lead-scoring/contracts';
import {
  createGuardedWriter,
  deleteByIds,
  findByIds,
  hexOf,
  insertMissing,
  storedJson,
  uuidToBinary,
  withClassifiedErrors,
  type Binary,
  type ReadModel,
} from '@lead-scoring/read-model';
import {
  knownEventId,
  leadBytesOf,
  readRecordOffset,
  recordId,
  recordIdsBefore,
  secondKey,
  type SecondPlace,
} from './keys.js';
import {
  eventRecords,
  eventSeconds,
  knownEvents,
  payloadOf,
  type EventRecordDocument,
  type KnownEventDocument,
} from './model.js';
import { blockOf, blockOffsets, SecondFold } from './seconds.js';

/** A record of events and where it is on the log. */
export interface RecordedEvents {
  payload: records.EventsIngested;
  offset: number;
}

export interface FoldedEvents extends RecordedEvents {
  /** The payload's own text. */
  json: Buffer;
}

export interface EventProjection {
  /**
   * @param ingested in the order of the log, without gaps between calls
   * @param passing leads that are deleted before anybody could read these events: what they were is not stored
   */
  fold(ingested: readonly FoldedEvents[], passing: ReadonlySet<string>): Promise<void>;
  /** What is stored of a lead before an offset. */
  storedBefore(leadId: string, offset: number): AsyncIterable<RecordedEvents>;
  /**
   * Deletes what is stored of a lead before its deletion; repeats are known all the same.
   * @param passing records of it that were folded and not stored
   */
  deleteLead(leadId: string, deletion: number, passing: readonly RecordedEvents[]): Promise<void>;
  /** Forgets what is in hand. */
  clear(): void;
}

interface OpenSecond {
  block: number;
  fold: SecondFold;
  isStored: boolean;
}

/** Records of a deleted lead that are in hand at a time; each holds up to 1,000 events. */
const recordsDeletedAtOnce = 50;
/** Documents deleted in one call. */
const keysAtOnce = 1_000;

/** @param memory kept from batch to batch */
export function createEventProjection(
  readModel: ReadModel,
  partition: number,
  memory: ProjectionMemory,
): EventProjection {
  const storedRecords = readModel.collection(eventRecords);
  const storedSeconds = readModel.collection(eventSeconds);
  const storedKnown = readModel.collection(knownEvents);
  const writer = createGuardedWriter(readModel);
  /** Documents that later records may add to: those of the block at the log's end. */
  const open = new Map<string, OpenSecond>();
  /** What is in hand is complete from this offset on. */
  let completeFrom: number | null = null;

  async function foldSeconds(ingested: readonly FoldedEvents[]): Promise<void> {
    completeFrom ??= ingested[0]?.offset ?? null;
    await openBegun(ingested);
    const changed = new Set<OpenSecond>();
    for (const { payload, offset } of ingested) {
      const { ou_id: ouId, lead_id, events } = payload;
      const leadBytes = leadBytesOf(recordId(lead_id, offset));
      const { block, part } = blockOf(offset, events.length);
      events.forEach(({ event_type, timestamp }, index) => {
        const timestampMs = Date.parse(timestamp);
        const place = { ouId, second: Math.floor(timestampMs / 1_000), partition, block, part };
        const id = nameOf(place);
        let at = open.get(id);
        if (!at) open.set(id, (at = { block, fold: new SecondFold(place, null), isStored: false }));
        if (at.fold.add(memory.typeKeyOf(event_type), leadBytes, offset, timestampMs, index)) changed.add(at);
      });
    }
    const fresh = new Set<object>();
    const documents = [...changed].map(({ fold, isStored }) => {
      const document = fold.document();
      if (!isStored) fresh.add(document);
      return document;
    });
    await writer.write(storedSeconds, documents, { isNew: (document) => fresh.has(document) });
    for (const at of changed) at.isStored = true;
    const end = Math.floor((ingested.at(-1)?.offset ?? 0) / blockOffsets);
    for (const [id, { block }] of open) if (block < end) open.delete(id);
  }

  /** Opens what was stored of the block that had begun before what is in hand. */
  async function openBegun(ingested: readonly FoldedEvents[]): Promise<void> {
    const begun = Math.floor((completeFrom ?? 0) / blockOffsets);
    if ((completeFrom ?? 0) % blockOffsets === 0) return;
    const missing = new Map<string, SecondPlace>();
    for (const { payload, offset } of ingested) {
      const { block, part } = blockOf(offset, payload.events.length);
      if (block > begun) break;
      for (const { timestamp } of payload.events) {
        const second = Math.floor(Date.parse(timestamp) / 1_000);
        const place = { ouId: payload.ou_id, second, partition, block, part };
        const id = nameOf(place);
        if (!open.has(id)) missing.set(id, place);
      }
    }
    if (missing.size === 0) return;
    const places = [...missing].map(([id, place]) => ({ id, place, key: secondKey(place) }));
    const found = await findByIds(
      storedSeconds,
      places.map(({ key }) => key),
    );
    const stored = new Map(found.map((document) => [hexOf(document._id), document]));
    for (const { id, place, key } of places) {
      const document = stored.get(hexOf(key)) ?? null;
      open.set(id, { block: begun, fold: new SecondFold(place, document), isStored: document !== null });
    }
  }

  async function removeFromSeconds(
    leadId: string,
    deletion: number,
    recorded: readonly RecordedEvents[],
  ): Promise<void> {
    const places = new Map<string, { place: SecondPlace; key: Binary }>();
    for (const { payload, offset } of recorded)
      for (const { timestamp } of payload.events) {
        const second = Math.floor(Date.parse(timestamp) / 1_000);
        const shared = blockOf(offset, payload.events.length);
        const place = { ouId: payload.ou_id, second, partition, ...shared };
        const id = nameOf(place);
        if (!places.has(id)) places.set(id, { place, key: secondKey(place) });
      }
    const found = await findByIds(
      storedSeconds,
      [...places].flatMap(([id, { key }]) => (open.has(id) ? [] : [key])),
    );
    const stored = new Map(found.map((document) => [hexOf(document._id), document]));
    const leadBytes = leadBytesOf(recordId(leadId, 0));
    const changed: SecondFold[] = [];
    const emptied: Binary[] = [];
    for (const [id, { place, key }] of places) {
      const fold = open.get(id)?.fold ?? new SecondFold(place, stored.get(hexOf(key)) ?? null);
      if (!fold.remove(leadBytes, deletion)) continue;
      if (!fold.isEmpty) changed.push(fold);
      else {
        open.delete(id);
        emptied.push(key);
      }
    }
    await writer.write(
      storedSeconds,
      changed.map((fold) => fold.document()),
    );
    await withClassifiedErrors(async () => {
      for (let from = 0; from < emptied.length; from += keysAtOnce)
        await storedSeconds.deleteMany({
          _id: { $in: emptied.slice(from, from + keysAtOnce) },
          // One that a later event has begun anew stays.
          offset: { $lt: deletion },
        });
    });
  }

  return {
    async *storedBefore(leadId, offset) {
      for await (const document of storedRecords.find({ _id: recordIdsBefore(leadId, offset) }))
        yield { payload: payloadOf(document), offset: readRecordOffset(document._id) };
    },
    // A record goes after all that is found by it: after a crash at any point the same again comes to the same end.
    async deleteLead(leadId, deletion, passing) {
      await removeFromSeconds(leadId, deletion, passing);
      for (;;) {
        const found = await withClassifiedErrors(() =>
          storedRecords
            .find({ _id: recordIdsBefore(leadId, deletion) })
            .limit(recordsDeletedAtOnce)
            .toArray(),
        );
        await removeFromSeconds(
          leadId,
          deletion,
          found.map((document) => ({
            payload: payloadOf(document),
            offset: readRecordOffset(document._id),
          })),
        );
        await deleteByIds(
          storedRecords,
          found.map(({ _id }) => _id),
        );
        if (found.length < recordsDeletedAtOnce) return;
      }
    },
    async fold(ingested, passing) {
      const recorded: EventRecordDocument[] = [];
      const known: KnownEventDocument[] = [];
      for (const { payload, json, offset } of ingested) {
        const { ou_id, lead_id, events } = payload;
        const ou = memory.binaryOf(ou_id);
        if (!passing.has(lead_id))
          recorded.push({ _id: recordId(lead_id, offset), ou, json: storedJson(json), partition });
        for (const { id } of events)
          if (isNameBasedId(id)) known.push({ _id: knownEventId(lead_id, id), partition });
      }
      await Promise.all([
        insertMissing(storedRecords, recorded),
        insertMissing(storedKnown, known),
        foldSeconds(ingested),
      ]);
    },
    clear() {
      open.clear();
      completeFrom = null;
    },
  };
}

function nameOf({ ouId, second, block, part }: SecondPlace): string {
  return `${ouId}/${String(second)}/${String(block)}/${String(part)}`;
}

/** What recurs from event to event, computed once: few type names and OUs are under way at a time. */
export interface ProjectionMemory {
  typeKeyOf(eventType: string): string;
  binaryOf(uuid: string): Binary;
}

const maximumRemembered = 5_000;

export function createProjectionMemory(): ProjectionMemory {
  return { typeKeyOf: remembering(eventTypeKey), binaryOf: remembering(uuidToBinary) };
}

function remembering<Value>(compute: (text: string) => Value): (text: string) => Value {
  const known = new Map<string, Value>();
  return (text) => {
    let value = known.get(text);
    if (value === undefined) {
      value = compute(text);
      if (known.size >= maximumRemembered) known.clear();
      known.set(text, value);
    }
    return value;
  };
}
