// The fold's laws on a real database: with any deletions, any division of the log into batches, and a kill at any time, the
// documents are the same.
import { expect, test } from '@jest/globals';
import { openServicePartition } from '@lead-scoring/capability';
import type { RecordDeclaration } from '@lead-scoring/contracts';
import {
  anyStep,
  foldedInSteps,
  foldedRecord,
  oneByOne,
  type FoldStep,
} from '@lead-scoring/testing/fold-laws';
import fc from 'fast-check';
import { intakeEvents, type IntakeEvent } from './intake/messages.js';
import { ingestService } from './service.js';
import { Model } from './testing/model.js';

// Fewer types are listed than there are.
const service = ingestService({ listedTypes: 1 });

/** Offsets far apart, so that the documents are of several blocks of the log. */
const recorded = ({ type, payload }: IntakeEvent, index: number) => {
  const declaration: RecordDeclaration = intakeEvents[type];
  return foldedRecord(declaration, payload, index * 300);
};

const names = ['a', 'b', 'c', 'cookie:1'];
const action = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      aliases: fc.uniqueArray(fc.constantFrom(...names), { minLength: 1, maxLength: 2 }),
      event_id: fc.constantFrom('1', '2', '3', '4', '5', '6'),
      event_type: fc.constantFrom('Page View', 'page_view', 'Email Open'),
      timestamp: fc.constantFrom(
        '2026-01-01T11:00:00.100Z',
        '2026-01-01T11:00:00.200Z',
        '2026-01-01T11:00:01.000Z',
        '2026-01-01T12:20:00.000Z',
        '2026-02-03T12:00:00.000Z',
      ),
      metadata: fc.dictionary(fc.constantFrom('path', 'plan', 'name'), fc.constant('x')),
    }),
  },
  { weight: 1, arbitrary: fc.constantFrom(...names) },
);

test('any division of the log into batches, killed at any write, gives the same documents as one record at a time', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(action, { minLength: 10, maxLength: 25 }),
      fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 5, maxLength: 5 }),
      fc.array(anyStep(12, 12), { minLength: 3, maxLength: 10 }),
      async (actions, sizes, steps) => {
        // One partition decides all, in batches.
        const model = new Model(1, 2);
        const [partition] = model.partitions;
        if (!partition) throw new Error('one partition');
        actions.forEach((one, index) => {
          if (typeof one === 'string') model.delete(one);
          else model.send(one);
          if (index % 5 === 4) model.step(partition, sizes[Math.floor(index / 5)] ?? 1);
        });
        model.drain();
        const log = partition.log.map(recorded);
        const folded = (cut: FoldStep[]) =>
          foldedInSteps({
            collections: service.collections,
            log,
            steps: cut,
            open: (readModel) => openServicePartition(service, readModel, 0),
          });
        expect(await folded(steps)).toEqual(await folded(oneByOne(log)));
      },
    ),
    { numRuns: 10 },
  );
}, 180_000);
