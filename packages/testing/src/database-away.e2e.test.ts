// The database is restarted under load, and so is what stands in front of it: reads say so until it is back, no record is
// blamed for it, and everything that was acknowledged is there exactly once.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { serviceNames } from '@lead-scoring/contracts';
import { listDeadLetters } from '@lead-scoring/event-log';
import { eventually } from '@lead-scoring/platform/waiting';
import { auditUntilRight, nothingWrong, traffic, untilVisible, type Ledger } from './ledger.js';
import { startOwnDatabase, startSystemOn, type OwnDatabase } from './own-servers.js';
import { seededRandom } from './random.js';
import { openSystemLog } from './system-log.js';
import type { TestSystem } from './test-system.js';

// PostgreSQL in order: as it is started natively, a crash may make it forget the last moments of what it acknowledged.
const ends = [
  { name: 'postgresql', signal: 'SIGINT' },
  { name: 'ferretdb', signal: 'SIGKILL' },
  { name: 'postgresql', signal: 'SIGINT' },
] as const;

let database: OwnDatabase;
let system: TestSystem;
let ledger: Ledger;
let stop: () => Promise<void>;

beforeAll(async () => {
  database = await startOwnDatabase();
  ({ system, ledger, stop } = await startSystemOn(database));
}, 240_000);

afterAll(() => stop(), 60_000);

describe(`the database ends under load (${ends.map(({ name }) => name).join(', ')})`, () => {
  test('who reads is told 503 until it is back, and never that something went wrong', async () => {
    const batches = traffic({
      random: seededRandom(5),
      events: 60_000,
      leads: 500,
      repeats: 0.05,
      batch: [1, 60],
    });
    let next = 0;
    let running = true;
    const sender = async () => {
      for (let batch = batches[next++]; running && batch !== undefined; batch = batches[next++])
        await ledger.deliver(batch, 60_000);
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
  }, 240_000);

  test('everything that was acknowledged is there exactly once, and nothing is parked', async () => {
    await untilVisible(system, ledger, 120_000);
    expect(await auditUntilRight(system, ledger, 60_000)).toEqual(nothingWrong);
    const log = openSystemLog(system);
    try {
      for (const service of serviceNames)
        for await (const { type, reason } of listDeadLetters(log, service))
          expect({ service, type, reason }).toBeUndefined();
    } finally {
      await log.close();
    }
  }, 240_000);
});
