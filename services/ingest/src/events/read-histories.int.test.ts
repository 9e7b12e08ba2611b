// A lead that joins another is removed with all of its records, whatever was read of them for the decision, and whatever came in between.
import { expect, test } from '@jest/globals';
import { nameBasedId, records } from '@lead-scoring/contracts';
import { foldedRecord, inThrowawayReadModel } from '@lead-scoring/testing/fold-laws';
import { StoredLeads } from '../intake/stored-leads.js';
import { ingestService } from '../service.js';
import { chunkEvent, leadOf, ouId, receivedAt, serviceOptions } from '../testing/builders.js';
import { eventStore } from './capability.js';
import { eventRecords, eventSeconds } from './documents.js';

const visitor = 'cookie:visitor';
const lead_id = leadOf(visitor);

const ingested = (offset: number) => {
  const { id, event_type, timestamp, aliases } = chunkEvent({ aliases: [visitor] });
  const payload: records.EventsIngested = {
    ...{ ou_id: ouId, lead_id, aliases, received_at: receivedAt, source: 'ingest', fire_triggers: true },
    batch_id: nameBasedId(ouId, 'batch'),
    events: [{ id, event_type, timestamp }],
  };
  return foldedRecord(records.eventsIngested, payload, offset);
};
const ended = (offset: number) =>
  foldedRecord(
    records.leadDeleted,
    {
      ...{ ou_id: ouId, lead_id, deletion_id: nameBasedId(ouId, 'end'), joined_to: leadOf('person') },
      deleted_at: receivedAt,
    },
    offset,
  );

test.each<[string, number[][], number[][]]>([
  ['what was read is all', [[1, 2]], []],
  ['another record is stored before the end', [[1, 2]], [[3]]],
  ['nothing was stored when it was read', [], [[3]]],
])(
  '%s',
  async (_, before, meanwhile) => {
    const { collections } = ingestService(serviceOptions);
    await inThrowawayReadModel(collections, async (readModel) => {
      const store = eventStore({ listedTypes: 1 }).open({
        ...{ partition: 0, readModel, eventsDecided: () => 0 },
        opened: () => {
          throw new Error('the event store opens no other capability');
        },
      });
      const leads = new StoredLeads(readModel, store.histories);
      for (const offsets of before) await store.fold(offsets.map(ingested));
      await leads.historiesOf([{ ou_id: ouId, alias_lead_id: lead_id, from: 0 }]);
      for (const offsets of meanwhile) await store.fold(offsets.map(ingested));
      await store.fold([ended(9)]);
      expect(await readModel.collection(eventRecords).find().toArray()).toEqual([]);
      const seconds = await readModel.collection(eventSeconds).find().toArray();
      expect(seconds.map(({ count }) => count)).toEqual([0]);
      // Nothing is kept for a later end of the lead.
      expect(store.histories.take(lead_id)).toBeNull();
    });
  },
  60_000,
);
