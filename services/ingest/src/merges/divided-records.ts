// Keeps the records of a lead that is divided from its end until all of them are sent again.
import type { records } from '@lead-scoring/contracts';
import {
  deleteFound,
  insertMissing,
  storedJson,
  uuidToBinary,
  type ReadModel,
} from '@lead-scoring/read-model';
import { eventRecords, type EventRecordDocument } from '../events/documents.js';
import { recordId, recordIdsBefore, recordIdsOf } from '../events/keys.js';
import type { DeletedLead, FoldedEvents } from '../events/sections.js';
import { dividedRecords } from './documents.js';

/** Records that are copied at a time; each has up to 1,000 events. */
const copiedAtOnce = 50;

export class DividedRecords {
  readonly #records;
  readonly #divided;

  constructor(
    readModel: ReadModel,
    private readonly partition: number,
  ) {
    this.#records = readModel.collection(eventRecords);
    this.#divided = readModel.collection(dividedRecords);
  }

  /**
   * To be called before the records are deleted; the same again changes nothing.
   * @param ingested the events of the same section, just before the end
   */
  async keep({ payload, offset }: DeletedLead, ingested: readonly FoldedEvents[]): Promise<void> {
    const { ou_id, lead_id } = payload;
    let copied: EventRecordDocument[] = [];
    const copy = async (atLeast: number) => {
      if (copied.length < atLeast) return;
      await insertMissing(this.#divided, copied);
      copied = [];
    };
    for await (const document of this.#records.find({ _id: recordIdsBefore(lead_id, offset) })) {
      copied.push(document);
      await copy(copiedAtOnce);
    }
    for (const { json, offset: at } of ingested) {
      const own = { ou: uuidToBinary(ou_id), partition: this.partition };
      copied.push({ _id: recordId(lead_id, at), json: storedJson(json), ...own });
      await copy(copiedAtOnce);
    }
    await copy(1);
  }

  async delete(divided: readonly records.LeadDivided[]): Promise<void> {
    for (const { lead_id } of divided) await deleteFound(this.#divided, { _id: recordIdsOf(lead_id) });
  }
}
