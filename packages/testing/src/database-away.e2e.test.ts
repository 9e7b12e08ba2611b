// The database is restarted under load, and so is what stands in front of it: reads say so until it is back, no record is
// blamed for it, and everything that was acknowledged is there exactly once. While it cannot be reached at all, events are
// taken. `npm run test:chaos` restarts it ten times and keeps it away for ten minutes.
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { serviceNames } from '@lead-scoring/contracts';
import { listDeadLetters } from '@lead-scoring/event-log';
import { eventually } from '@lead-scoring/platform/waiting';
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
import { seededRandom } from './random.js';
import { rebuilt } from './rebuild.js';
import { startProxy, type SwitchableProxy } from './switchable-proxy.js';
import { openSystemLog } from './system-log.js';
import type { TestSystem } from './test-system.js';

// PostgreSQL in order: as it is started natively, a crash may make it forget the last moments of what it acknowledged.
const ends = Array.from({ length: isFullSize ? 10 : 2 }, (_, index) =>
  index % 2 === 0
    ? ({ name: 'postgresql', signal: 'SIGINT' } as const)
    : ({ name: 'ferretdb', signal: 'SIGKILL' } as const),
);
const awayMs = isFullSize ? 600_000 : 10_000;
/** Requests a second while it is away, of up to 60 events each. */
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
    'who reads is told 503 until it is back, and never that something went wrong',
    async () => {
      const batches = endlessTraffic({ random: seededRandom(5), leads: 500, repeats: 0.05, batch: [1, 60] });
      let running = true;
      const sender = async () => {
        while (running) {
          // Two of them send 600 events a second or so.
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

  test('everything that was acknowledged is there exactly once, and nothing is parked', async () => {
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

  test('it is back: everything that was acknowledged is there exactly once, and nothing is parked', async () => {
    proxy.restore();
    await system.system.ready(120_000);
    await expectAllThere();
  }, 900_000);

  // Ten seconds bring nothing that the rebuilds of `exactly-once` do not have.
  (isFullSize ? test : test.skip).each(['ingest', 'scoring'] as const)(
    'rebuild %s: the read models folded anew from the log are those that were there, field by field',
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
