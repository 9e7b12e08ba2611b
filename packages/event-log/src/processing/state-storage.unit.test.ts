// The stores of a partition: what a store has left is stored once the inputs are idle.
import { expect, test } from '@jest/globals';
import { StateStorage } from './state-storage.js';

/** A storage whose state leaves something unwritten in stores that nobody awaits. */
function setUp() {
  const stores: boolean[] = [];
  let hasUnwritten = false;
  const storage = new StateStorage({
    metrics: { stage: () => undefined } as never,
    everyMs: 0,
    write: (_checkpoint, { aborted: isAwaited }) => {
      stores.push(isAwaited);
      hasUnwritten = !isAwaited;
      return Promise.resolve();
    },
    hasUnwritten: () => hasUnwritten,
    checkpoint: () => ({ offset: 0n, positions: {} }),
  });
  return { storage, stores };
}

test.each([
  ['of a process without work', (storage: StateStorage) => storage.flush(false)],
  ['of a partition without work beside others', (storage: StateStorage) => storage.storeRest()],
  ['at the end of a session', (storage: StateStorage) => storage.flush(true)],
])('a store %s writes what the last one has left, once', async (_when, store) => {
  const { storage, stores } = setUp();
  await storage.storeIfDue();
  await storage.untilStored();
  for (let again = 0; again < 3; again += 1) {
    await store(storage);
    await storage.untilStored();
  }
  expect(stores).toEqual([false, true]);
});
