// What is said about a service's process that has ended.
import { expect, test } from '@jest/globals';
import type { ProcessRestart } from '@lead-scoring/platform';
import { Refusal, refusalIn, restartSentence } from './restarts.js';

const setting = (variable: string, problem: string) =>
  JSON.stringify({ level: 'fatal', msg: 'invalid configuration', variable, problem });
const failedStart = JSON.stringify({
  level: 'fatal',
  err: {
    message: 'topic x has 6 partitions and PARTITIONS is 3: set PARTITIONS=6.',
    stack: 'Error: …\n  at …',
  },
  msg: 'the start failed',
});

test('every wrong setting is a reason, once', () => {
  const lines = ['(node:1) Warning', setting('LOG_LEVEL', 'must be info'), setting('PORT', 'is wrong')];
  expect(refusalIn([...lines, ...lines])).toEqual(['LOG_LEVEL must be info', 'PORT is wrong']);
});

test('errors of an earlier start are no reasons', () => {
  const earlier = JSON.stringify({ level: 'fatal', err: { message: 'no server answers' } });
  expect(refusalIn([earlier, setting('PORT', 'is wrong')])).toEqual(['PORT is wrong']);
  expect(refusalIn([setting('PORT', 'is wrong'), earlier, failedStart])).toHaveLength(1);
});

test('a start that failed because of a setting is one sentence without a stack', async () => {
  const refusal = new Refusal();
  refusal.report(
    'scoring',
    [JSON.stringify({ level: 'info', msg: 'stopped' }), failedStart],
    '/logs/scoring.log',
  );
  await expect(refusal.happened).rejects.toThrow(
    'scoring cannot start: topic x has 6 partitions and PARTITIONS is 3: set PARTITIONS=6.',
  );
});

test('where the log gives no reason, the sentence names the log', async () => {
  const refusal = new Refusal();
  refusal.report('scoring', ['Segmentation fault'], '/logs/scoring.log');
  await expect(refusal.happened).rejects.toThrow(
    'scoring cannot start: the last lines of /logs/scoring.log say why.',
  );
});

test('a process that keeps ending shows its log once, and then one line each time', () => {
  const said = [1, 2, 3, 4, 40].map((attempt) => restartSentence(restart(attempt), '/logs/scoring.log'));
  expect(said.map((text) => text.split('\n').length)).toEqual([1, 1, 3, 1, 1]);
  expect(said[0]).toBe('scoring ended (SIGKILL) and is started again in 250 ms');
  expect(said[4]).toMatch(/end 40 in a row, and \/logs\/scoring.log says why$/);
});

function restart(attempt: number): ProcessRestart {
  return {
    name: 'scoring',
    exit: { name: 'scoring', code: null, signal: 'SIGKILL', expected: false },
    attempt,
    delayMs: 250,
    crashLooping: attempt >= 3,
    lastLogLines: ['one', 'two'],
  };
}
