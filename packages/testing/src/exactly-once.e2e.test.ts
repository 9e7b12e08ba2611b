// The promise that everything else rests on: what was answered 202 counts once, whatever dies on the way; and what
// the read models hold is what the log says. `npm run test:chaos` runs it at its full size.
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { requestRebuild, waitUntilConsumed } from '@lead-scoring/event-log';
import { leadIdOf, type ServiceName } from '@lead-scoring/contracts';
import { eventually } from '@lead-scoring/platform/waiting';
import { isFullSize } from './full-size.js';
import {
  audit,
  createLedger,
  createRules,
  inParallel,
  nothingWrong,
  traffic,
  untilVisible,
  type Ledger,
} from './ledger.js';
import { seededRandom } from './random.js';
import { countOf, differences, storedDocuments } from './stored-documents.js';
import { openSystemLog } from './system-log.js';
import { startTestSystem, type TestSystem } from './test-system.js';

const { eventCount, rounds, terminationSeconds } = isFullSize
  ? { eventCount: 100_000, rounds: 5, terminationSeconds: 60 }
  : { eventCount: 40_000, rounds: 3, terminationSeconds: 3 };
// Another seed: other events, other moments.
const seed = Number(process.env['SEED'] ?? 20_260_131);

let system: TestSystem;
let ledger: Ledger;
const random = seededRandom(seed);

beforeAll(async () => {
  // The other services read what these two write, and cost more than they do.
  system = await startTestSystem({ instances: { notification: 0, share: 0, 'site-analysis': 0 } });
  ledger = createLedger(system);
  await createRules(system);
}, 120_000);

afterAll(() => system.stop(), 60_000);

describe(`${eventCount} events, 5 % of them sent again, ingest and scoring killed ${rounds} times (seed ${seed})`, () => {
  test('every event that was answered 202 is counted exactly once in topics, event store and scores', async () => {
    const batches = traffic({ random, events: eventCount, leads: 3_000, repeats: 0.05, batch: [1, 1_500] });
    const slice = Math.ceil(batches.length / (rounds + 1));
    for (let round = 0; round <= rounds; round += 1) {
      const part = batches.slice(round * slice, (round + 1) * slice);
      const victims: ServiceName[] =
        round === rounds
          ? []
          : random.pick([['ingest'], ['scoring'], ['ingest', 'scoring']] as const).slice();
      const moments = victims.map((victim) => ({
        victim,
        after: random.between(1, part.length - 1),
        delayMs: random.between(0, 400),
      }));
      let acknowledged = 0;
      const killings: Promise<void>[] = [];
      await inParallel(part, 4, async (batch) => {
        await ledger.deliver(batch, 60_000);
        acknowledged += 1;
        for (const { victim, after, delayMs } of moments)
          if (acknowledged === after) killings.push(killAfter(victim, delayMs));
      });
      await Promise.all(killings);
      // The next round hits services that work, not ones that are still coming up.
      await system.system.ready(120_000);
    }
    await untilVisible(system, ledger, 180_000);
    expect(ledger.acknowledged.size).toBe(ledger.sent.size);
    expect(await audit(system, ledger)).toEqual(nothingWrong);
  }, 420_000);

  test('every explanation accounts for the whole score', async () => {
    const aliases = [...new Set([...ledger.sent.values()].map((event) => event.alias))];
    for (let n = 0; n < 50; n += 1) {
      const lead = leadIdOf(system.ouId, 'email', random.pick(aliases));
      const explained = await system.request<{
        score: number;
        unattributed: number;
        top_drivers: { total: number }[];
      }>(`/lead/${lead}/score-explain?range_hours=876000`);
      const score = await system.request<{ score: number }>(`/score/${lead}`);
      expect(explained.body).toMatchObject({ score: score.body.score, unattributed: 0 });
      expect(explained.body.top_drivers.reduce((sum, driver) => sum + driver.total, 0)).toBe(
        score.body.score,
      );
    }
  }, 60_000);

  test.each(['ingest', 'scoring'] as const)(
    'rebuild %s: the read models folded anew from the log are those that were there, field by field',
    async (service) => {
      const database = `${system.namespace}_${service}`;
      const before = await storedDocuments(system.endpoints, database, { except: ['checkpoints'] });
      expect(countOf(before, service === 'ingest' ? 'event_records' : 'leads')).toBeGreaterThan(2_000);
      const log = openSystemLog(system);
      try {
        await log.prepare();
        const { positions } = await requestRebuild(log, service);
        expect(
          await waitUntilConsumed(log, service, `${service}.commands`, positions, { timeoutMs: 180_000 }),
        ).toBe(true);
      } finally {
        await log.close();
      }
      const after = await storedDocuments(system.endpoints, database, { except: ['checkpoints'] });
      expect(differences(before, after)).toEqual([]);
    },
    240_000,
  );

  test('a rebuilt system goes on: an event that was counted before is a repeat, a new one counts', async () => {
    const [known] = ledger.sent.values();
    if (!known) throw new Error('nothing was sent');
    await ledger.deliver([known, { ...known, event_id: 'after-rebuild', event_type: 'Form Submit' }], 60_000);
    await untilVisible(system, ledger, 60_000);
    expect(await audit(system, ledger)).toEqual(nothingWrong);
  }, 120_000);

  test.each(['gateway', 'ingest', 'scoring'] as const)(
    'SIGTERM to %s under 500 events a second: it ends in order, and nothing acknowledged is lost or doubled',
    async (name) => {
      const { process, logFile } = system.service(name);
      const ended = process.pid;
      const batches = traffic({
        random,
        events: terminationSeconds * 500,
        leads: 500,
        repeats: 0.05,
        batch: [50, 50],
        name: `terminated-${name}`,
      });
      let sent = 0;
      await Promise.all(
        batches.map(async (batch, at) => {
          await delay(at * 100);
          await ledger.deliver(batch, 60_000);
          sent += 1;
          if (sent === Math.ceil(batches.length / 3)) process.kill('SIGTERM');
        }),
      );
      await eventually(
        `${name} is started again`,
        () => process.pid !== undefined && process.pid !== ended,
        60_000,
      );
      await system.system.ready(120_000);
      // A service that has not ended 10 s after the signal says so and gives up.
      expect(await readFile(logFile, 'utf8')).not.toContain('stopping took too long');
      await untilVisible(system, ledger, 60_000);
      expect(await audit(system, ledger)).toEqual(nothingWrong);
    },
    240_000,
  );
});

/** SIGKILL, and back again by the supervisor. */
async function killAfter(name: ServiceName, delayMs: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, delayMs));
  const { process } = system.service(name);
  const killed = process.pid;
  process.kill('SIGKILL');
  await eventually(
    `${name} is started again`,
    () => process.pid !== undefined && process.pid !== killed,
    60_000,
  );
}
