// The fold's laws on a real database: whatever is deleted, however the log is cut into batches, and whenever the process is
// killed, the same documents come of it.
import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { records, type RecordDeclaration } from '@lead-scoring/contracts';
import type { FoldedRecord } from '@lead-scoring/event-log';
import { connectReadModel, databaseName, ensureCollections, type ReadModel } from '@lead-scoring/read-model';
import { crashing } from '@lead-scoring/read-model/testing';
import { createLogger } from '@lead-scoring/service';
import fc from 'fast-check';
import type { IntakeEvent } from './intake/events.js';
import { ingestCollections, openPartition } from './partition-state.js';
import { Model } from './testing/model.js';

const declarations: Record<IntakeEvent['type'], RecordDeclaration> = {
  EventsIngested: records.eventsIngested,
  AliasClaimed: records.aliasClaimed,
  AliasLinked: records.aliasLinked,
  LeadDeleted: records.leadDeleted,
  EventsRemembered: records.eventsRemembered,
};

function recorded({ type, payload }: IntakeEvent, index: number): FoldedRecord {
  const declaration = declarations[type];
  return {
    type,
    declaration,
    topic: declaration.topic,
    partition: 0,
    // Between the records of two transactions there is one of the log's own.
    offset: BigInt(index * 2),
    key: payload.lead_id,
    payload,
    json: Buffer.from(JSON.stringify(payload)),
    headers: { type, id: '', time: '' },
  };
}

interface Step {
  /** How many records more are folded. */
  size: number;
  /** Writes after which the process is killed. */
  killedAfter: number;
  /** Whether what is folded is kept in mind: otherwise it is folded again. */
  isStored: boolean;
}

async function folded(log: readonly FoldedRecord[], steps: readonly Step[]) {
  const readModel = await throwaway();
  try {
    let [from, to] = [0, 0];
    for (const { size, killedAfter, isStored } of steps) {
      to = Math.min(log.length, to + size);
      const state = await openPartition(crashing(readModel, killedAfter), 0);
      const isFolded = await state.fold(log.slice(from, to)).then(
        () => true,
        () => false,
      );
      if (isFolded && isStored) from = to;
    }
    await (await openPartition(readModel, 0)).fold(log.slice(from));
    const documents: Record<string, unknown[]> = {};
    for (const { name } of ingestCollections)
      documents[name] = JSON.parse(
        JSON.stringify(await readModel.db.collection(name).find().sort({ _id: 1 }).toArray()),
      ) as unknown[];
    return documents;
  } finally {
    await readModel.patiently((db) => db.dropDatabase());
    await readModel.close();
  }
}

async function throwaway(): Promise<ReadModel> {
  const readModel = await connectReadModel(
    {
      uri: process.env.MONGODB_URI ?? '',
      database: databaseName(`ingest-fold-${randomUUID().slice(0, 8)}`, 'ingest'),
    },
    { logger: createLogger({ name: 'test', level: 'silent' }) },
  );
  await ensureCollections(readModel, ingestCollections);
  return readModel;
}

const names = ['a', 'b', 'c', 'cookie:1'];
const action = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      aliases: fc.uniqueArray(fc.constantFrom(...names), { minLength: 1, maxLength: 2 }),
      event_id: fc.constantFrom('1', '2', '3', '4', '5', '6'),
      event_type: fc.constantFrom('Page View', 'page_view', 'Email Open'),
      metadata: fc.dictionary(fc.constantFrom('path', 'plan', 'name'), fc.constant('x')),
    }),
  },
  { weight: 1, arbitrary: fc.constantFrom(...names) },
);
const step = fc.record({
  size: fc.integer({ min: 1, max: 12 }),
  killedAfter: fc.oneof(fc.integer({ min: 0, max: 12 }), fc.constant(Infinity)),
  isStored: fc.boolean(),
});

test('any cut of the log into batches, killed at any write, gives the same documents as one record after the other', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(action, { minLength: 10, maxLength: 25 }),
      fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 5, maxLength: 5 }),
      fc.array(step, { minLength: 3, maxLength: 10 }),
      async (actions, sizes, steps) => {
        // One partition decides all, in batches.
        const model = new Model(1);
        const [partition] = model.partitions;
        if (!partition) throw new Error('one partition');
        actions.forEach((one, index) => {
          if (typeof one === 'string') model.delete(one);
          else model.send(one);
          if (index % 5 === 4) model.step(partition, sizes[Math.floor(index / 5)] ?? 1);
        });
        model.drain();
        const log = partition.log.map(recorded);
        const oneByOne = log.map(() => ({ size: 1, killedAfter: Infinity, isStored: true }));
        expect(await folded(log, steps)).toEqual(await folded(log, oneByOne));
      },
    ),
    { numRuns: 10 },
  );
}, 180_000);
