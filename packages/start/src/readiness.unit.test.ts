// Why a service is not ready, in words.
import { expect, test } from '@jest/globals';
import { failedChecks, obstacleAt } from './readiness.js';

test('the failed checks are named, the others are not', () => {
  const checks = {
    'read model': { ok: false, detail: 'failed; see the log' },
    partitions: { ok: false },
    organisation: { ok: true },
  };
  expect(failedChecks(JSON.stringify({ status: 'not_ready', checks }))).toBe(
    'read model is not ready (failed; see the log), partitions is not ready (failed)',
  );
});

test('an answer of something else is shown, shortened', () => {
  expect(failedChecks(`<html>${'x'.repeat(1_000)}`)).toHaveLength('answers: '.length + 200);
});

test('where nothing listens, the sentence has the address that was expected to answer', async () => {
  // Port 0 cannot be connected to.
  expect(await obstacleAt('http://127.0.0.1:0')).toMatch(
    /^the service was expected at http:\/\/127\.0\.0\.1:0\/readyz and does not answer \(.+\)$/,
  );
});
