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
