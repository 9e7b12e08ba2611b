// The runner, with analyses that end when a test says so, and a log that a test can make fail.
import { afterEach, describe, expect, test } from '@jest/globals';
import type { records, SiteAnalysis } from '@lead-scoring/contracts';
import { EventLogError, type OutgoingRecord } from '@lead-scoring/event-log';
import { createLogger } from '@lead-scoring/service';
import type { RunningAnalysis } from '../analyses/state.js';
import { analyzed, analyzeSite, at } from '../testing/builders.js';
import { createAnalysisRunner, type AnalysisRunner } from './runner.js';

const caller = { reply_to: 'gateway', correlation_id: 'request' };
const running = (name: string, more: Partial<RunningAnalysis> = {}): RunningAnalysis => ({
  status: 'running',
  ...analyzeSite(name),
  caller,
  ...more,
});
const urlOf = (name: string) => analyzeSite(name).url;

interface StartedAnalysis {
  signal: AbortSignal;
  succeed(result: SiteAnalysis): void;
  fail(error: unknown): void;
}

let stop: (() => Promise<void>) | undefined;
afterEach(async () => {
  await stop?.();
  stop = undefined;
});

async function start(options: { maximumAtOnce?: number; write?: () => Promise<void> } = {}) {
  const begun = new Map<string, StartedAnalysis>();
  const written: OutgoingRecord[] = [];
  const started = await createAnalysisRunner(
    {
      analyze: (url, signal) =>
        new Promise<SiteAnalysis>((succeed, fail) => {
          begun.set(url, { signal, succeed, fail });
          signal.addEventListener('abort', () => {
            fail(new Error('the time is over'));
          });
        }),
      failureOf: (error) =>
        error instanceof RangeError ? { code: 'site_unreachable', message: error.message } : null,
      writer: {
        write: async (sent) => {
          await options.write?.();
          written.push(...sent);
          return [];
        },
      },
      now: () => new Date(at),
      logger: createLogger({ name: 'test', level: 'silent' }),
    },
    { maximumAtOnce: options.maximumAtOnce ?? 2, budgetMs: 60_000 },
  ).start();
  stop = () => started.stop();
  const runner: AnalysisRunner = started.value;
  return {
    runner,
    begun,
    written,
    outcomes: () =>
      written.map(({ payload }) => {
        const { analysis_id, outcome } = payload as records.RecordSiteAnalysis;
        return [analysis_id, outcome.status === 'failed' ? outcome.code : outcome.status];
      }),
  };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('an analysis', () => {
  test('that ends is written to the log for its caller', async () => {
    const { runner, begun, written } = await start();
    runner.start(running('a'));
    begun.get(urlOf('a'))?.succeed(analyzed('a'));
    await settled();
    expect(written).toMatchObject([
      {
        key: running('a').ou_id,
        headers: { 'reply-to': 'gateway', 'correlation-id': 'request' },
        payload: { ended_at: at, outcome: { status: 'analyzed', result: analyzed('a') } },
      },
    ]);
  });

  test('that fails is written with its reason, or as an internal error', async () => {
    const { runner, begun, outcomes } = await start();
    runner.start(running('a'));
    runner.start(running('b'));
    begun.get(urlOf('a'))?.fail(new RangeError('nobody there'));
    begun.get(urlOf('b'))?.fail(new Error('a bug'));
    await settled();
    expect(outcomes()).toEqual([
      [running('a').analysis_id, 'site_unreachable'],
      [running('b').analysis_id, 'internal_error'],
    ]);
  });

  test('runs concurrently with others; at the limit, the next starts when one ends', async () => {
    const { runner, begun, outcomes } = await start({ maximumAtOnce: 2 });
    expect(runner.room()).toBe(2);
    for (const name of ['a', 'b', 'c']) runner.start(running(name));
    expect(runner.room()).toBe(0);
    expect([...begun.keys()]).toEqual(['a', 'b'].map(urlOf));
    begun.get(urlOf('b'))?.succeed(analyzed('b'));
    await settled();
    expect([...begun.keys()]).toEqual(['a', 'b', 'c'].map(urlOf));
    begun.get(urlOf('c'))?.succeed(analyzed('c'));
    await settled();
    expect(outcomes().map(([id]) => id)).toEqual([running('b').analysis_id, running('c').analysis_id]);
    expect(runner.room()).toBe(1);
  });

  test('that runs is neither started again nor given up', async () => {
    const { runner, outcomes } = await start();
    runner.start(running('a'));
    runner.start(running('a'));
    runner.giveUp(running('a'));
    await settled();
    expect(runner.room()).toBe(1);
    expect(outcomes()).toEqual([]);
  });

  test('that does not run is given up as interrupted', async () => {
    const { runner, outcomes } = await start();
    runner.giveUp(running('a'));
    await settled();
    expect(outcomes()).toEqual([[running('a').analysis_id, 'analysis_interrupted']]);
  });

  test('has its signal aborted when its time is over', async () => {
    const { runner, begun } = await start();
    runner.start(running('a'), 1);
    const signal = begun.get(urlOf('a'))?.signal;
    if (signal && !signal.aborted)
      await new Promise((resolve) => {
        signal.addEventListener('abort', resolve);
      });
    expect(signal?.aborted).toBe(true);
  });
});

test('an end is written as soon as the log accepts records again', async () => {
  let failures = 1;
  const { runner, begun, outcomes } = await start({
    write: () =>
      failures-- > 0
        ? Promise.reject(new EventLogError('log_unavailable', 'away', { retriable: true }))
        : Promise.resolve(),
  });
  runner.start(running('a'));
  begun.get(urlOf('a'))?.succeed(analyzed('a'));
  while (outcomes().length === 0) await settled();
  expect(outcomes()).toEqual([[running('a').analysis_id, 'analyzed']]);
});

test('a result that the log never accepts becomes a failure', async () => {
  let refusals = 1;
  const { runner, begun, outcomes } = await start({
    write: () =>
      refusals-- > 0 ? Promise.reject(new EventLogError('invalid_record', 'too long')) : Promise.resolve(),
  });
  runner.start(running('a'));
  begun.get(urlOf('a'))?.succeed(analyzed('a'));
  await settled();
  expect(outcomes()).toEqual([[running('a').analysis_id, 'internal_error']]);
});

test('stopping ends the running analyses without an outcome: the next owner runs them again', async () => {
  const { runner, begun, outcomes } = await start({ maximumAtOnce: 1 });
  runner.start(running('a'));
  runner.start(running('b'));
  await stop?.();
  expect(begun.get(urlOf('a'))?.signal.aborted).toBe(true);
  expect(outcomes()).toEqual([]);
  expect([...begun.keys()]).toEqual([urlOf('a')]);
});
