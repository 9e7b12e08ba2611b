import { expect, test } from '@jest/globals';
import { createLogger } from '@lead-scoring/service';
import { createVirtualClock } from '../testing/virtual-clock.js';
import { emptyLane } from './lane.js';
import { LaneTurns } from './lane-turns.js';
import { createSlots } from './slots.js';

test('a lane that is woken by the clock waits for a slot no more: the next free slot wakes one that does', async () => {
  const clock = createVirtualClock();
  const slots = createSlots({ maximum: 1, forAiling: 1 });
  const turns = new LaneTurns(
    () => Promise.resolve(),
    clock,
    createLogger({ name: 'test', level: 'silent' }),
  );
  turns.begin();
  const woken: string[] = [];
  const giveBack = slots.take(false);
  const lane = emptyLane('channel', 'ou');
  turns.wakeAt(
    lane,
    clock.now() + 1_000,
    slots.whenFree(false, () => woken.push('lane')),
  );
  await clock.advance(1_000);
  slots.whenFree(false, () => woken.push('another lane'));
  giveBack?.();
  expect(woken).toEqual(['another lane']);
});
