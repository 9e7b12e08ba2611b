// From the recorded events to the stored ones: the same documents whenever and however often they are made.
import { eventTypeKey, isNameBasedId, type records } from '@lead-scoring/contracts';
import {
  createGuardedWriter,
  findByIds,
  hexOf,
  insertMissing,
  storedJson,
  uuidToBinary,
  type Binary,
  type ReadModel,
} from '@lead-scoring/read-model';
import { knownEventId, leadBytesOf, recordId, secondKey, type SecondPlace } from './keys.js';
import {
  eventRecords,
  eventSeconds,
  knownEvents,
  type EventRecordDocument,
  type KnownEventDocument,
} from './model.js';
import { blockOf, blockOffsets, SecondFold } from './seconds.js';

export interface FoldedEvents {
  payload: records.EventsIngested;
  /** The payload's own text. */
  json: Buffer;
  offset: number;
}

export interface EventProjection {
  /**
   * @param ingested in the order of the log, without gaps between calls
   * @param passing leads that are deleted before anybody could read these events: their records need not be stored
   */
  fold(ingested: readonly FoldedEvents[], passing: ReadonlySet<string>): Promise<void>;
  /**
   * Takes a deleted lead's events out of the order of time; the records themselves stay.
   * @param recorded the lead's records
   * @param offset of the deletion
   */
  removeFromTime(recorded: readonly Omit<FoldedEvents, 'json'>[], offset: number): Promise<void>;
  /** Forgets what is in hand. */
  clear(): void;
}

interface OpenSecond {
  block: number;
  fold: SecondFold;
  isStored: boolean;
}

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
    await write(changed);
    const end = Math.floor((ingested.at(-1)?.offset ?? 0) / blockOffsets);
    for (const [id, { block }] of open) if (block < end) open.delete(id);
  }

  async function write(changed: ReadonlySet<OpenSecond>): Promise<void> {
    const fresh = new Set<object>();
    const documents = [...changed].map(({ fold, isStored }) => {
      const document = fold.document();
      if (!isStored) fresh.add(document);
      return document;
    });
    await writer.write(storedSeconds, documents, { isNew: (document) => fresh.has(document) });
    for (const at of changed) at.isStored = true;
  }

  /** Opens what was stored of the block that had begun before what is in hand. */
  async function openBegun(ingested: readonly FoldedEvents[]): Promise<void> {
    const begun = Math.floor((completeFrom ?? 0) / blockOffsets);
    if ((completeFrom ?? 0) % blockOffsets === 0) return;
    const missing = placesOf(ingested.filter(({ offset }) => Math.floor(offset / blockOffsets) <= begun));
    for (const id of open.keys()) missing.delete(id);
    for (const [id, at] of await load(missing)) open.set(id, at);
  }

  /** What is stored of these places, and what begins there where nothing is. */
  async function load(wanted: ReadonlyMap<string, SecondPlace>): Promise<Map<string, OpenSecond>> {
    const places = [...wanted].map(([id, place]) => ({ id, place, key: secondKey(place) }));
    const found = await findByIds(
      storedSeconds,
      places.map(({ key }) => key),
    );
    const stored = new Map(found.map((document) => [hexOf(document._id), document]));
    return new Map(
      places.map(({ id, place, key }) => {
        const document = stored.get(hexOf(key)) ?? null;
        const fold = new SecondFold(place, document);
        return [id, { block: place.block, fold, isStored: document !== null }];
      }),
    );
  }

  /** The documents that name these events. */
  function placesOf(recorded: readonly Omit<FoldedEvents, 'json'>[]): Map<string, SecondPlace> {
    const places = new Map<string, SecondPlace>();
    for (const { payload, offset } of recorded) {
      const { block, part } = blockOf(offset, payload.events.length);
      for (const { timestamp } of payload.events) {
        const second = Math.floor(Date.parse(timestamp) / 1_000);
        const place = { ouId: payload.ou_id, second, partition, block, part };
        places.set(nameOf(place), place);
      }
    }
    return places;
  }

  return {
    async fold(ingested, passing) {
      const recorded: EventRecordDocument[] = [];
      const known: KnownEventDocument[] = [];
      for (const { payload, json, offset } of ingested) {
        const { ou_id, lead_id, events } = payload;
        if (!passing.has(lead_id))
          recorded.push({
            _id: recordId(lead_id, offset),
            ou: memory.binaryOf(ou_id),
            json: storedJson(json),
            partition,
          });
        for (const { id } of events)
          if (isNameBasedId(id)) known.push({ _id: knownEventId(lead_id, id), offset, partition });
      }
      await Promise.all([
        insertMissing(storedRecords, recorded),
        insertMissing(storedKnown, known),
        foldSeconds(ingested),
      ]);
    },
    async removeFromTime(recorded, offset) {
      const [first] = recorded;
      if (!first) return;
      const leadBytes = leadBytesOf(recordId(first.payload.lead_id, first.offset));
      const places = placesOf(recorded);
      const begun = new Map([...open].filter(([id]) => places.has(id)));
      for (const id of begun.keys()) places.delete(id);
      const changed = [...begun, ...(await load(places))].flatMap(([, at]) =>
        at.fold.removeLead(leadBytes, offset) ? [at] : [],
      );
      await write(new Set(changed));
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
