// A queue waits for one event at a time: the clock or a slot.
import { expect, test } from '@jest/globals';
import { createLogger } from '@lead-scoring/service';
import { createVirtualClock } from '../testing/virtual-clock.js';
import { emptyQueue } from './channel-queue.js';
import { QueueScheduler } from './queue-scheduler.js';
import { createSlots } from './slots.js';

test('a queue that the clock wakes leaves the line for slots: the next free slot wakes another queue', async () => {
  const clock = createVirtualClock();
  const slots = createSlots({ maximum: 1, forAiling: 1 });
  const scheduler = new QueueScheduler(
    () => Promise.resolve(),
    clock,
    createLogger({ name: 'test', level: 'silent' }),
  );
  scheduler.begin();
  const woken: string[] = [];
  const giveBack = slots.take(false);
  const queue = emptyQueue('channel', 'ou');
  scheduler.wakeAt(
    queue,
    clock.now() + 1_000,
    slots.whenFree(false, () => woken.push('queue')),
  );
  await clock.advance(1_000);
  slots.whenFree(false, () => woken.push('another queue'));
  giveBack?.();
  expect(woken).toEqual(['another queue']);
});
