// The law of folds itself: what it does to the processes that fold.
import { expect, test } from '@jest/globals';
import { defineCollection } from '@lead-scoring/read-model';
import { foldedInSteps } from './fold-laws.js';

const things = defineCollection<{ _id: number; partition: number }>({ name: 'things', indexes: [] });

test('nothing that a killed process writes is under way when the next one opens the partition', async () => {
  let underWay = 0;
  const underWayAtOpening: number[] = [];
  const documents = await foldedInSteps({
    collections: [things],
    log: [1, 2, 3, 4, 5, 6],
    steps: [
      // Killed at its second write while the first one is under way.
      { size: 2, killedAfter: 1, isStored: true },
      // Killed at its end, while both writes are under way.
      { size: 4, killedAfter: Infinity, isStored: false },
    ],
    open: (readModel) => {
      underWayAtOpening.push(underWay);
      const written: Promise<unknown>[] = [];
      return {
        fold: async (folded) => {
          for (const _id of folded) {
            underWay += 1;
            const one = readModel
              .collection(things)
              .updateOne({ _id }, { $set: { partition: 0 } }, { upsert: true })
              .finally(() => (underWay -= 1));
            one.catch(() => undefined);
            written.push(one);
          }
          // A rejection that came at once is the kill.
          await Promise.race([Promise.all(written), new Promise(setImmediate)]);
        },
        ...(underWayAtOpening.length > 2 && {
          write: async () => {
            await Promise.all(written);
          },
        }),
      };
    },
  });
  expect(underWayAtOpening).toEqual([0, 0, 0]);
  expect(documents.things).toHaveLength(6);
}, 60_000);
