// The projection's laws on a real database: twice is as once, and the log may be cut into batches anywhere.
import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { records } from '@lead-scoring/contracts';
import type { IncomingRecord } from '@lead-scoring/event-log';
import { connectReadModel, databaseName, ensureCollections, type ReadModel } from '@lead-scoring/read-model';
import { createLogger } from '@lead-scoring/service';
import fc from 'fast-check';
import { shareCollections } from '../collections.js';
import { leadScored, ruleCreated, rulesetCreated } from '../testing/builders.js';
import { openExplanationPartition } from './project.js';

const log: IncomingRecord[] = [
  ...[rulesetCreated()].map((payload) => incoming('RulesetCreated', payload)),
  ...['pricing', 'careers'].map((name) => incoming('RuleCreated', ruleCreated(name, 5))),
  ...Array.from({ length: 12 }, (_, index) =>
    incoming(
      'LeadScored',
      leadScored(
        ['ada', 'bob', 'cy'][index % 3] ?? '',
        { rule: index % 2 === 0 ? 'pricing' : 'careers', points: 5, previous: 5 * Math.floor(index / 3) },
        { decided_at: `2026-01-01T12:00:${String(index).padStart(2, '0')}.000Z` },
      ),
    ),
  ),
].map((record, offset) => ({ ...record, offset: BigInt(offset * 2) }));

function incoming(type: string, payload: unknown): IncomingRecord {
  return {
    type,
    topic: records.leadScored.topic,
    partition: 0,
    offset: 0n,
    key: null,
    payload,
    headers: { type, id: '', time: '' },
  };
}

async function folded(batches: readonly IncomingRecord[][]): Promise<Record<string, unknown[]>> {
  const readModel = await throwaway();
  try {
    for (const batch of batches)
      await openExplanationPartition(readModel, 0, { endOf: () => Promise.resolve(0n) }).fold(batch);
    const documents: Record<string, unknown[]> = {};
    for (const { name } of shareCollections)
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
      database: databaseName(`share-fold-${randomUUID().slice(0, 8)}`, 'share'),
    },
    { logger: createLogger({ name: 'test', level: 'silent' }) },
  );
  await ensureCollections(readModel, shareCollections);
  return readModel;
}

test('any cut of the log into batches, with any of them folded again, gives the same documents', async () => {
  const whole = await folded([log]);
  expect(whole.leads).toHaveLength(3);
  expect(whole.decisions).toHaveLength(12);
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 0, max: 4 })), {
        minLength: 15,
        maxLength: 15,
      }),
      async (cuts) => {
        const batches: IncomingRecord[][] = [];
        let from = 0;
        for (const [size, back] of cuts) {
          if (from >= log.length) break;
          // As after a crash between the fold and its checkpoint: some of what was folded comes again.
          batches.push(log.slice(Math.max(0, from - back), from + size));
          from += size;
        }
        if (from < log.length) batches.push(log.slice(from));
        expect(await folded(batches)).toEqual(whole);
      },
    ),
    { numRuns: 8 },
  );
}, 120_000);
