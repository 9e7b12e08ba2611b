// Which parts keep a service from being ready, and the message about each.
import { expect, test } from '@jest/globals';
import { pino } from 'pino';
import { readinessOf, serviceHealthChecks } from './health.js';

const logger = pino({ level: 'silent' });
const answering = { ping: () => Promise.resolve() };
const away = { ping: () => Promise.reject(new Error('mongodb://secret-host')) };
const caughtUp = { ready: () => true };
const behind = { ready: () => false };

test('a service is ready when its database answers and every reader is caught up', async () => {
  expect(await readinessOf(serviceHealthChecks(answering, caughtUp, caughtUp), logger)).toEqual({
    status: 'ready',
    checks: { 'read model': { ok: true }, partitions: { ok: true } },
  });
});

test('one reader that is behind, or a database that is away, keeps it from being ready', async () => {
  expect(await readinessOf(serviceHealthChecks(answering, caughtUp, behind), logger)).toEqual({
    status: 'not_ready',
    checks: {
      'read model': { ok: true },
      partitions: { ok: false, detail: 'not every partition is caught up yet' },
    },
  });
  expect(await readinessOf(serviceHealthChecks(away, caughtUp), logger)).toEqual({
    status: 'not_ready',
    checks: {
      'read model': { ok: false, detail: 'failed; see the log' },
      partitions: { ok: true },
    },
  });
});

test('a partition that stands still until an operator does something says what is wrong', async () => {
  const halted = {
    ready: () => false,
    partitions: () => [
      {},
      { halted: 'x.ingest.events 1 ends at 4' },
      { halted: 'x.ingest.events 1 ends at 4' },
    ],
  };
  expect(await readinessOf(serviceHealthChecks(answering, caughtUp, halted), logger)).toMatchObject({
    status: 'not_ready',
    checks: { partitions: { ok: false, detail: 'x.ingest.events 1 ends at 4' } },
  });
});

test('a check that fails is logged in one line, again only with another reason, and once when it is over', async () => {
  const lines: Record<string, unknown>[] = [];
  const log = pino(
    {},
    { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) },
  );
  const reported = new Map<string, string>();
  let failure: string | null = 'connect ECONNREFUSED';
  const checks = {
    database: () => (failure === null ? Promise.resolve() : Promise.reject(new Error(failure))),
  };
  for (const next of ['connect ECONNREFUSED', 'no\nroom', null, null]) {
    failure = next;
    await readinessOf(checks, log, reported);
    await readinessOf(checks, log, reported);
  }
  expect(lines.map(({ msg, check, reason }) => [msg, check, reason])).toEqual([
    ['not ready', 'database', 'connect ECONNREFUSED'],
    ['not ready', 'database', 'no room'],
    ['ready again', 'database', undefined],
  ]);
  expect(JSON.stringify(lines)).not.toContain('stack');
});
