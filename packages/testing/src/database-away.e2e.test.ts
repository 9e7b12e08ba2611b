// PostgreSQL and FerretDB are restarted under load: reads get 503 until they are back, no record is parked, and every acknowledged
// event is stored exactly once. While the database is unreachable, events are accepted. `npm run test:chaos` restarts it ten times
// and keeps it unreachable for ten minutes.
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { serviceNames } from '@lead-scoring/contracts';
import { listDeadLetters } from '@lead-scoring/event-log';
import { eventually } from '@lead-scoring/platform/waiting';
import { seededRandom } from '@lead-scoring/start/random';
import { isFullSize } from './full-size.js';
import {
  auditUntilRight,
  endlessTraffic,
  nothingWrong,
  traffic,
  untilVisible,
  type Ledger,
} from './ledger.js';
import { startOwnDatabase, startSystemOn, type OwnDatabase } from './own-servers.js';
import { rebuilt } from './rebuild.js';
import { startProxy, type SwitchableProxy } from './switchable-proxy.js';
import { openSystemLog } from './system-log.js';
import type { TestSystem } from './test-system.js';

// PostgreSQL gets SIGINT: started natively, it runs with synchronous_commit=off and may lose its last writes in a crash.
const ends = Array.from({ length: isFullSize ? 10 : 2 }, (_, index) =>
  index % 2 === 0
    ? ({ name: 'postgresql', signal: 'SIGINT' } as const)
    : ({ name: 'ferretdb', signal: 'SIGKILL' } as const),
);
const awayMs = isFullSize ? 600_000 : 10_000;
/** Requests a second while the database is unreachable, of up to 60 events each. */
const requestsPerSecond = 5;

let database: OwnDatabase;
let proxy: SwitchableProxy;
let system: TestSystem;
let ledger: Ledger;
let stop: () => Promise<void>;

beforeAll(async () => {
  database = await startOwnDatabase();
  const { hostname, port } = new URL(database.endpoints.mongodbUri);
  proxy = await startProxy(hostname, Number(port));
  ({ system, ledger, stop } = await startSystemOn({
    ...database,
    endpoints: {
      ...database.endpoints,
      mongodbUri: `mongodb://127.0.0.1:${proxy.port}/?directConnection=true`,
    },
  }));
}, 240_000);

afterAll(async () => {
  proxy.restore();
  await stop();
  await proxy.stop();
}, 60_000);

describe(`the database ends under load ${ends.length} times`, () => {
  test(
    'reads get 503 until it is back, and never 500',
    async () => {
      const batches = endlessTraffic({ random: seededRandom(5), leads: 500, repeats: 0.05, batch: [1, 60] });
      let running = true;
      const sender = async () => {
        while (running) {
          // Two senders send about 600 events a second.
          const nextAt = Date.now() + 100;
          await ledger.deliver(batches.next().value, 90_000);
          await delay(nextAt - Date.now());
        }
      };
      const answers = new Set<number>();
      const reader = async (path: string) => {
        while (running) answers.add((await system.request(path)).status);
      };
      const read = ['/leads?limit=1', '/events?limit=1', '/engagement-scoring/rulesets', '/milestone-events'];
      const working = [sender(), sender(), ...read.map(reader)];
      const acknowledged = () => ledger.positions.length;
      for (const { name, signal } of ends) {
        const known = acknowledged();
        await eventually('more is acknowledged', () => acknowledged() >= known + 30, 60_000);
        const found = database.processes().find((one) => one.name === name);
        if (!found) throw new Error(`${name} does not run`);
        process.kill(found.pid, signal);
        await eventually(
          'it runs again',
          () => database.processes().some((one) => one.name === name && one.pid !== found.pid),
          30_000,
        );
      }
      const known = acknowledged();
      await eventually('it goes on', () => acknowledged() >= known + 30, 60_000);
      running = false;
      await Promise.all(working);
      expect(
        [...answers, ...ledger.answers.keys()].filter((status) => ![200, 202, 503].includes(status)),
      ).toEqual([]);
    },
    isFullSize ? 1_200_000 : 600_000,
  );

  test('every acknowledged event is stored exactly once, and no record is parked', async () => {
    await expectAllThere();
  }, 900_000);
});

describe(`the database cannot be reached for ${awayMs / 1_000} s`, () => {
  test(
    'every POST /ingest is answered 202 meanwhile',
    async () => {
      const count = (requestsPerSecond * awayMs) / 1_000;
      const batches = traffic({
        random: seededRandom(9),
        events: count * 30,
        leads: 500,
        repeats: 0.05,
        batch: [1, 60],
        name: 'away',
      });
      const statuses = new Map<number, number>();
      const startedAt = Date.now();
      proxy.cut();
      await Promise.all(
        batches.map(async (batch, index) => {
          await delay(startedAt + (index * 1_000) / requestsPerSecond - Date.now());
          const { status } = await ledger.post(batch);
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
        }),
      );
      await eventually('the time is over', () => Date.now() - startedAt >= awayMs, awayMs + 60_000);
      expect([...statuses]).toEqual([[202, batches.length]]);
    },
    awayMs + 180_000,
  );

  test('it is back: every acknowledged event is stored exactly once, and no record is parked', async () => {
    proxy.restore();
    await system.system.ready(120_000);
    await expectAllThere();
  }, 900_000);

  // At full size only: after ten seconds the rebuilds of `exactly-once` test the same.
  (isFullSize ? test : test.skip).each(['ingest', 'scoring'] as const)(
    'rebuild %s: the rebuilt read models equal the earlier ones, field by field',
    async (service) => {
      expect((await rebuilt(system, service, 420_000)).differences).toEqual([]);
    },
    480_000,
  );
});

async function expectAllThere(): Promise<void> {
  await untilVisible(system, ledger, isFullSize ? 600_000 : 180_000);
  expect(await auditUntilRight(system, ledger, 60_000)).toEqual(nothingWrong);
  const log = openSystemLog(system);
  try {
    for (const service of serviceNames)
      for await (const { type, reason } of listDeadLetters(log, service))
        expect({ service, type, reason }).toBeUndefined();
  } finally {
    await log.close();
  }
}
