// Stores the records of each lead as on the log, and the ids that identify repeats.
import { isNameBasedId, type records } from '@lead-scoring/contracts';
import {
  deleteByIds,
  findByIds,
  hexOf,
  insertMissing,
  storedJson,
  withClassifiedErrors,
  type Binary,
  type ReadModel,
} from '@lead-scoring/read-model';
import { blankOf } from '../event-deletions/deleted-types-model.js';
import {
  eventRecords,
  knownEvents,
  payloadOf,
  type EventRecordDocument,
  type KnownEventDocument,
} from './documents.js';
import { knownEventId, readRecordOffset, recordId, recordIdAt, recordIdsBefore } from './keys.js';
import { ReadHistories, type StoredEvents } from './read-histories.js';
import type { RemovedPlace } from './seconds.js';
import type { RecurringValues } from './recurring-values.js';
import type { FoldedEvents, RecordedEvents } from './sections.js';

/** The number of records of a deleted lead that are deleted at a time; each has up to 1,000 events. */
const recordsDeletedAtOnce = 50;

export class RecordStore {
  readonly histories = new ReadHistories();
  readonly #records;
  readonly #known;

  constructor(
    readModel: ReadModel,
    private readonly partition: number,
    private readonly values: RecurringValues,
  ) {
    this.#records = readModel.collection(eventRecords);
    this.#known = readModel.collection(knownEvents);
  }

  /** @param deletedNext leads that are deleted in the same section: their records need not be stored */
  async fold(ingested: readonly FoldedEvents[], deletedNext: ReadonlySet<string>): Promise<void> {
    const { partition, values } = this;
    const recorded: EventRecordDocument[] = [];
    const known: KnownEventDocument[] = [];
    for (const { payload, json, offset } of ingested) {
      const { ou_id, lead_id, events } = payload;
      if (!deletedNext.has(lead_id)) {
        this.histories.forget(lead_id);
        recorded.push({
          _id: recordId(lead_id, offset),
          ou: values.binaryOf(ou_id),
          json: storedJson(json),
          partition,
        });
      }
      for (const { id } of events)
        if (isNameBasedId(id)) known.push({ _id: knownEventId(lead_id, id), offset, partition });
    }
    await Promise.all([insertMissing(this.#records, recorded), insertMissing(this.#known, known)]);
  }

  /** Stores ids of events that were counted under another lead, which was deleted. */
  async remember(remembered: readonly records.EventsRemembered[]): Promise<void> {
    const known = remembered.flatMap(({ lead_id, event_ids }) =>
      event_ids.map((id): KnownEventDocument => ({
        _id: knownEventId(lead_id, id),
        partition: this.partition,
      })),
    );
    if (known.length > 0) await insertMissing(this.#known, known);
  }

  /** Leaves nothing of events of a type in these records but their ids and times. */
  async blank(places: readonly RemovedPlace[], typeKey: string): Promise<void> {
    this.histories.clear();
    const ids = new Map<string, Binary>();
    for (const { leadBytes, offset } of places) {
      const id = recordIdAt(leadBytes, offset);
      ids.set(hexOf(id), id);
    }
    const all = [...ids.values()];
    for (let from = 0; from < all.length; from += recordsDeletedAtOnce) {
      const found = await findByIds(this.#records, all.slice(from, from + recordsDeletedAtOnce));
      const changes = found.map((document) => ({
        updateOne: {
          filter: { _id: document._id },
          update: { $set: { json: this.#blanked(document, typeKey) } },
        },
      }));
      if (changes.length > 0) await withClassifiedErrors(() => this.#records.bulkWrite(changes));
    }
  }

  #blanked(document: EventRecordDocument, typeKey: string): Binary {
    const payload = payloadOf(document);
    const isOfType = ({ event_type }: (typeof payload.events)[number]) =>
      this.values.typeKeyOf(event_type) === typeKey;
    const events = payload.events.map((event) => (isOfType(event) ? blankOf(event) : event));
    return storedJson(Buffer.from(JSON.stringify({ ...payload, events })));
  }

  /**
   * The records of a lead before an offset.
   * @param end the offset of the lead's deletion: the records that its decision has read have lower offsets
   */
  async *before(leadId: string, end: number): AsyncGenerator<StoredEvents> {
    const read = this.histories.take(leadId);
    if (read) yield* read;
    else
      for await (const document of this.#records.find({ _id: recordIdsBefore(leadId, end) }))
        yield storedIn(document);
  }

  /** Deletes these records. */
  async deleteThese(recorded: readonly RecordedEvents[]): Promise<void> {
    await deleteByIds(
      this.#records,
      recorded.map(({ payload, offset }) => recordId(payload.lead_id, offset)),
    );
  }

  /**
   * Deletes the records of a lead before an offset, 50 at a time.
   * @param first called with some records before they are deleted
   */
  async delete(
    leadId: string,
    end: number,
    first: (recorded: RecordedEvents[]) => Promise<void>,
  ): Promise<void> {
    for (;;) {
      const found = await withClassifiedErrors(() =>
        this.#records
          .find({ _id: recordIdsBefore(leadId, end) })
          .limit(recordsDeletedAtOnce)
          .toArray(),
      );
      await first(found.map(storedIn));
      await deleteByIds(
        this.#records,
        found.map(({ _id }) => _id),
      );
      if (found.length < recordsDeletedAtOnce) return;
    }
  }
}

/** The record in a document. */
export function storedIn(document: EventRecordDocument): StoredEvents {
  return {
    payload: payloadOf(document),
    offset: readRecordOffset(document._id),
    bytes: document.json.length(),
  };
}
