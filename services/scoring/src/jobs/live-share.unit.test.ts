// A job rests while live events keep their thread busy, and works without a pause while they do not.
import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { eventually } from '@lead-scoring/platform/waiting';
import { readBusyShare, restAfter, watchBusyShare } from './live-share.js';

describe('a job', () => {
  test('goes on at once beside a thread that is idle', () => {
    expect(restAfter(20, 0)).toBe(0);
    expect(restAfter(20, 0.08)).toBe(0);
  });

  test('rests the longer, the busier the thread of live events is, and after more work', () => {
    expect(restAfter(20, 0.25)).toBeGreaterThan(restAfter(20, 0.2));
    expect(restAfter(40, 0.2)).toBeGreaterThan(restAfter(20, 0.2));
  });

  test('goes on beside one that is always busy: it rests for a bounded time', () => {
    expect(restAfter(20, 1)).toBe(restAfter(20, 0.9));
    expect(restAfter(60_000, 1)).toBeLessThan(1_000);
  });
});

test('a thread that computes is seen to be busy, and then to be idle again', async () => {
  const watch = watchBusyShare();
  try {
    const until = performance.now() + 1_200;
    await eventually('the thread is seen to be busy', () => {
      while (performance.now() < until) Math.random();
      return readBusyShare(watch.share) > 0.05;
    });
    await eventually('the thread is seen to be idle', () => readBusyShare(watch.share) < 0.5);
  } finally {
    watch.stop();
  }
});

test('what a job does itself in the thread is not taken for live work', async () => {
  const watch = watchBusyShare();
  try {
    const until = performance.now() + 1_200;
    await watch.apart(async () => {
      while (performance.now() < until) {
        const slice = performance.now() + 20;
        while (performance.now() < slice) Math.random();
        await setImmediate();
      }
    });
    expect(readBusyShare(watch.share)).toBe(0);
  } finally {
    watch.stop();
  }
});
