// The projection's laws on a real database: twice is as once, and the log may be cut into batches anywhere.
import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { records, type PayloadOf, type RecordDeclaration } from '@lead-scoring/contracts';
import type { FoldedRecord } from '@lead-scoring/event-log';
import { connectReadModel, databaseName, ensureCollections, type ReadModel } from '@lead-scoring/read-model';
import { createLogger } from '@lead-scoring/service';
import fc from 'fast-check';
import { explanationCollections } from './index.js';
import { openExplanationPartition } from './project.js';
import { leadScored, levelsSet, ruleCreated, rulesetCreated } from './testing/builders.js';

const log: FoldedRecord[] = [
  incoming(records.rulesetCreated, rulesetCreated()),
  ...['pricing', 'careers'].map((name) => incoming(records.ruleCreated, ruleCreated(name, 5))),
  incoming(records.engagementLevelsSet, levelsSet([['Hot', 5, null]])),
  ...Array.from({ length: 12 }, (_, index) =>
    incoming(
      records.leadScored,
      leadScored(
        ['ada', 'bob', 'cy'][index % 3] ?? '',
        {
          rule: index % 2 === 0 ? 'pricing' : 'careers',
          points: 5,
          // Some decisions give no points: they change nothing that is stored.
          times: index % 4 === 3 ? 0 : 1,
          previous: 5 * Math.floor(index / 3),
        },
        { event_count: 1, decided_at: `2026-01-01T12:00:${String(index).padStart(2, '0')}.000Z` },
      ),
    ),
  ),
].map((record, offset) => ({ ...record, offset: BigInt(offset * 2) }));

function incoming<Declaration extends RecordDeclaration>(
  declaration: Declaration,
  payload: PayloadOf<Declaration>,
): FoldedRecord {
  const { type, topic } = declaration;
  return {
    type,
    declaration,
    topic,
    partition: 0,
    offset: 0n,
    key: null,
    payload,
    json: Buffer.from(JSON.stringify(payload)),
    headers: { type, id: '', time: '' },
  };
}

interface Batch {
  records: FoldedRecord[];
  /** Whether it is folded with a state that is opened for it. */
  afresh: boolean;
}

async function folded(batches: readonly Batch[]): Promise<Record<string, unknown[]>> {
  const readModel = await throwaway();
  // Less than there are leads: what is in hand is not all that there is.
  const open = () =>
    openExplanationPartition(readModel, 0, {
      projectorName: 'test-explanations',
      beforeReset: () => Promise.resolve(),
      cachedLeads: 2,
    });
  try {
    let state = open();
    for (const batch of batches) {
      if (batch.afresh) state = open();
      await state.fold(batch.records);
    }
    const documents: Record<string, unknown[]> = {};
    for (const { name } of explanationCollections)
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
      database: databaseName(`explanations-fold-${randomUUID().slice(0, 8)}`, 'share'),
    },
    { logger: createLogger({ name: 'test', level: 'silent' }) },
  );
  await ensureCollections(readModel, explanationCollections);
  return readModel;
}

test('any cut of the log into batches, with any of them folded again, gives the same documents', async () => {
  const whole = await folded([{ records: log, afresh: true }]);
  expect(whole.leads).toHaveLength(3);
  expect(whole.decisions).toHaveLength(9);
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 0, max: 4 })), {
        minLength: 15,
        maxLength: 15,
      }),
      async (cuts) => {
        const batches: Batch[] = [];
        let from = 0;
        for (const [size, back] of cuts) {
          if (from >= log.length) break;
          // As after a crash between the fold and its checkpoint: some of what was folded comes again.
          batches.push({ records: log.slice(Math.max(0, from - back), from + size), afresh: back > 0 });
          from += size;
        }
        if (from < log.length) batches.push({ records: log.slice(from), afresh: false });
        expect(await folded(batches)).toEqual(whole);
      },
    ),
    { numRuns: 8 },
  );
}, 120_000);
