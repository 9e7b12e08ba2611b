// How an effect tells its work of decisions: never before the batch is committed and folded, and only while the partition
// is its own.
import { expect, test } from '@jest/globals';
import type { FoldedRecord, IncomingRecord, Reply } from '@lead-scoring/event-log';
import type { CapabilityDecision, PartitionScope } from './capability.js';
import { batchEffect, type EffectDecider } from './effect.js';

/** An effect that signals the number of records of each batch, and what its work and its decider were called with. */
function openEffect(replies?: Reply[]) {
  const calls: string[] = [];
  const decider: EffectDecider<number, number> = {
    decide: (records) =>
      Promise.resolve({
        outcome: 'decided',
        events: [],
        signals: [records.length],
        ...(replies && {
          replies: () => {
            calls.push('replies');
            return replies;
          },
        }),
      }),
    fold: (events) => Promise.resolve(events.length),
    close: () => {
      calls.push('close');
      return Promise.resolve();
    },
  };
  const declared = batchEffect<{ command: never; event: never; decider: typeof decider }>({
    name: 'counted',
    commands: {},
    events: {},
    collections: [],
    open: () => ({
      decider,
      work: {
        takeUp: () => {
          calls.push('take up');
          return Promise.resolve();
        },
        changed: (changes) => calls.push(`changed ${String(changes)}`),
        signalled: (signals) => calls.push(`signalled ${signals.join(', ')}`),
        stop: () => {
          calls.push('stop');
          return Promise.resolve();
        },
      },
    }),
  });
  return { calls, opened: declared.open({} as PartitionScope) };
}

const records = (count: number) => Array.from({ length: count }, () => ({}) as IncomingRecord);
const events = (count: number) => records(count) as FoldedRecord[];

/** As the event log does with a batch that is committed and folded. */
async function answer(decision: CapabilityDecision | undefined): Promise<readonly Reply[]> {
  if (decision?.outcome !== 'decided') throw new Error('nothing is decided');
  const { replies = [] } = decision;
  return typeof replies === 'function' ? replies() : replies;
}

test('the signals of a batch come after the changes of its events, and before its callers are answered', async () => {
  const replies: Reply[] = [{ to: {} as IncomingRecord, reply: { outcome: 'done' } }];
  const { calls, opened } = openEffect(replies);
  await opened.caughtUp?.();
  const decision = await opened.decide?.(records(2), []);
  await opened.fold?.(events(3));
  expect(await answer(decision)).toEqual(replies);
  expect(calls).toEqual(['take up', 'changed 3', 'signalled 2', 'replies']);
});

test('a decision that comes to no event has its signals as well', async () => {
  const { calls, opened } = openEffect();
  await opened.caughtUp?.();
  expect(await answer(await opened.decide?.(records(1), []))).toEqual([]);
  expect(calls).toEqual(['take up', 'signalled 1']);
});

test('a decision that is discarded, and decided again on fewer records, signals nothing', async () => {
  const { calls, opened } = openEffect();
  await opened.caughtUp?.();
  await opened.decide?.(records(2), []);
  await answer(await opened.decide?.(records(1), []));
  expect(calls).toEqual(['take up', 'signalled 1']);
});

test('the work hears nothing before it takes up the partition, and nothing after it is stopped', async () => {
  const { calls, opened } = openEffect();
  await opened.fold?.(events(1));
  await opened.caughtUp?.();
  const decision = await opened.decide?.(records(1), []);
  await opened.close?.();
  await answer(decision);
  await opened.fold?.(events(1));
  expect(calls).toEqual(['take up', 'stop', 'close']);
});
