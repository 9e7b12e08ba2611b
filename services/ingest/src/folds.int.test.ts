// The fold's laws on a real database: with any deletions of leads and of a type, any merges, any division of the log into batches, and a kill at any time, the
// documents are the same.
import { expect, test } from '@jest/globals';
import { openServicePartition } from '@lead-scoring/capability';
import { nameBasedId, records, type RecordDeclaration } from '@lead-scoring/contracts';
import { hexOf } from '@lead-scoring/read-model';
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
import { secondKey } from './events/keys.js';
import { blockOf } from './events/seconds.js';
import { ouId, receivedAt, serviceOptions } from './testing/builders.js';
import { Model } from './testing/model.js';

// Fewer types are listed than there are.
const options = { ...serviceOptions, listedTypes: 1 };
const service = ingestService(options);

/** Offsets far apart, so that the documents are of several blocks of the log. */
const offsetOf = (index: number) => index * 300;

type Recorded = IntakeEvent | { type: 'EventsOfTypeDeleted' | 'DeletedEventsCleared'; payload: object };

const recorded = ({ type, payload }: Recorded, index: number) => {
  const declaration: RecordDeclaration = { ...intakeEvents, ...deletionEvents }[type];
  return foldedRecord(declaration, payload, offsetOf(index));
};
const deletionEvents = {
  EventsOfTypeDeleted: records.eventsOfTypeDeleted,
  DeletedEventsCleared: records.deletedEventsCleared,
};

/** The log with the deletion of a type: the mark at a place, and its two parts at two later ones. */
function withDeletion(log: readonly IntakeEvent[], places: readonly [number, number, number]): Recorded[] {
  const [mark = 0, first = 0, second = 0] = places
    .map((place) => place % (log.length + 1))
    .sort((a, b) => a - b);
  const deletion = {
    ou_id: ouId,
    deletion_id: nameBasedId(ouId, 'deletion'),
    event_type: 'Page View',
    partition: 0,
  };
  const seconds = log.slice(0, mark).flatMap((event, index) =>
    event.type === 'EventsIngested'
      ? event.payload.events.map(({ timestamp }) => {
          const at = blockOf(offsetOf(index), event.payload.events.length);
          const second = Math.floor(Date.parse(timestamp) / 1_000);
          return hexOf(secondKey({ ouId, second, partition: 0, ...at }));
        })
      : [],
  );
  const keys = [...new Set(seconds)];
  const half = Math.floor(keys.length / 2);
  const part = (number: number, some: string[]) => ({
    type: 'DeletedEventsCleared' as const,
    payload: {
      ...deletion,
      before: offsetOf(mark),
      part: number,
      seconds: some,
      leads: [],
      is_last: number === 2,
      cleared_at: receivedAt,
    },
  });
  return [
    ...log.slice(0, mark),
    { type: 'EventsOfTypeDeleted', payload: { ...deletion, deleted_at: receivedAt } },
    ...log.slice(mark, first),
    part(1, keys.slice(0, half)),
    ...log.slice(first, second),
    part(2, keys.slice(half)),
    ...log.slice(second),
  ];
}

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
  // A merge into another lead, or out of it.
  {
    weight: 1,
    arbitrary: fc.record({
      source: fc.constantFrom(...names),
      target: fc.option(fc.constantFrom(...names)),
    }),
  },
);

test('any division of the log into batches, killed at any write, gives the same documents as one record at a time', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(action, { minLength: 10, maxLength: 25 }),
      fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 5, maxLength: 5 }),
      fc.array(anyStep(12, 12), { minLength: 3, maxLength: 10 }),
      fc.tuple(fc.nat(40), fc.nat(40), fc.nat(40)),
      // How many bytes of the records of deleted leads may be in memory: all of them, none, or some.
      fc.constantFrom(undefined, 0, 500),
      async (actions, sizes, steps, places, deletedBytes) => {
        // One partition decides all, in batches.
        const model = new Model(1, 2);
        const [partition] = model.partitions;
        if (!partition) throw new Error('one partition');
        actions.forEach((one, index) => {
          if (typeof one === 'string') model.delete(one);
          else if ('aliases' in one) model.send(one);
          else {
            model.drain();
            if (one.target === null) model.unmerge(one.source);
            else model.merge(one.source, one.target);
          }
          if (index % 5 === 4) model.step(partition, sizes[Math.floor(index / 5)] ?? 1);
        });
        model.drain();
        const log = withDeletion(partition.log, places).map(recorded);
        const folded = (cut: FoldStep[], by = service) =>
          foldedInSteps({
            collections: service.collections,
            log,
            steps: cut,
            open: (readModel) => openServicePartition(by, readModel, 0),
          });
        const bounded = ingestService({ ...options, ...(deletedBytes !== undefined && { deletedBytes }) });
        expect(await folded(steps, bounded)).toEqual(await folded(oneByOne(log)));
      },
    ),
    { numRuns: 10 },
  );
}, 360_000);
