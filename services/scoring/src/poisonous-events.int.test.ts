// Events that were made to be expensive do not delay others: forty whose amount is 40,000 digits and a letter, on a running
// service with rules that compare amounts, and the events of other leads in the same batch.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { AttributeFilter } from '@lead-scoring/contracts';
import { createRule, idOf, ingested } from './testing/builders.js';
import { startRig, type Rig } from './testing/rig.js';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
}, 60_000);
afterAll(async () => {
  await rig.stop();
}, 60_000);

const comparisons: AttributeFilter[] = [
  ...(['equals', 'not_equals', 'gt', 'gte', 'lt', 'lte'] as const).map((operator): AttributeFilter => ({
    field: 'amount',
    operator,
    value: 1_000,
  })),
  { field: 'amount', operator: 'between', value: [1_000, 2_000] },
  { field: 'amount', operator: 'in', value: [1_000, 2_000] },
];
const events = 40;
/** Milliseconds by which one event may delay the others of its partition. */
const longestDelayMs = 100;

test('forty poisonous events cost the service at most 100 ms of processor time each, and the normal event is scored', async () => {
  for (const [index, filter] of comparisons.entries())
    await rig.request(createRule(`amount ${String(index)}`, { weight: 1, attribute_filters: [filter] }));
  const before = process.cpuUsage();
  await rig.score([
    ...Array.from({ length: events }, (_, index) =>
      ingested(`poisoned ${String(index)}`, [{ metadata: { amount: `${'1'.repeat(40_000)}x` } }]),
    ),
    ingested('innocent', [{ metadata: { amount: 1_000 } }]),
  ]);
  const { user, system } = process.cpuUsage(before);
  expect((await rig.get(`/score/${idOf('innocent')}`)).body).toMatchObject({ score: 5 });
  expect((user + system) / 1_000 / events).toBeLessThan(longestDelayMs);
});
