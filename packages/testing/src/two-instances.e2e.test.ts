// Two processes of each service share the partitions; after the death of one, the other has all partitions.
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '@lead-scoring/platform/waiting';
import { seededRandom } from '@lead-scoring/start/random';
import {
  audit,
  auditUntilRight,
  createLedger,
  createRules,
  endlessTraffic,
  inParallel,
  ledgerRules,
  nothingWrong,
  traffic,
  untilVisible,
  type Ledger,
  type LedgerEvent,
} from './ledger.js';
import { isFullSize } from './full-size.js';
import { groupMembers } from './group-members.js';
import { startTestSystem, upToScoring, type TestSystem } from './test-system.js';

/** Processes of ingest and of scoring at the start; in the end two. */
const workers = isFullSize ? 4 : 2;
const suspendedMs = isFullSize ? 45_000 : 15_000;
const stormMs = isFullSize ? 300_000 : 15_000;
const caughtUpWithinMs = isFullSize ? 30_000 : 60_000;
const workerNames = ['ingest', 'scoring'] as const;

let system: TestSystem;
let ledger: Ledger;

beforeAll(async () => {
  system = await startTestSystem({
    instances: { ingest: workers, scoring: workers, ...upToScoring },
  });
  ledger = createLedger(system);
  await createRules(system);
}, 180_000);

afterAll(() => system.stop(), 60_000);

describe('two processes of ingest and of scoring', () => {
  test('share the partitions between them', async () => {
    for (const service of ['ingest', 'scoring']) {
      const members = await eventually(
        `all processes of ${service} are members`,
        async () => {
          const found = await groupMembers(system, service);
          return found.length === workers && found;
        },
        60_000,
      );
      expect(members).toHaveLength(workers);
    }
  }, 130_000);

  test('one of each is suspended under load: another takes over within 40 s, and its late commit counts no event twice', async () => {
    const batches = traffic({
      random: seededRandom(7),
      events: 60_000,
      leads: 1_000,
      repeats: 0.05,
      batch: [1, 500],
      name: 'suspended',
    });
    const load = sendingOf(batches.values());
    await eventually('requests are acknowledged', () => ledger.positions.length >= 20, 60_000);
    const pids = workerNames.map((name) => system.service(name, 1).process.pid ?? 0);
    const resumeAt = Date.now() + suspendedMs;
    for (const pid of pids) process.kill(pid, 'SIGSTOP');
    try {
      const known = ledger.positions.length;
      await eventually('more is acknowledged', () => ledger.positions.length > known, 60_000);
      await untilVisible(system, { ...ledger, positions: ledger.positions.slice(-1) }, 40_000);
      await eventually('the time is over', () => Date.now() >= resumeAt, suspendedMs + 10_000);
    } finally {
      for (const pid of pids) process.kill(pid, 'SIGCONT');
    }
    await load.stop();
    await untilVisible(system, ledger, 120_000);
    expect(await auditUntilRight(system, ledger, 60_000)).toEqual(nothingWrong);
  }, 600_000);

  test(
    'processes start and end every 10 s under load: no event is lost or doubled, and the lag is gone soon after',
    async () => {
      const load = sendingOf(
        endlessTraffic({
          random: seededRandom(8),
          leads: 1_000,
          repeats: 0.05,
          batch: [100, 100],
          name: 'storm',
        }),
        200,
      );
      const [before, startedAt] = [ledger.positions.length, Date.now()];
      const changing = workerNames.flatMap((name) =>
        Array.from({ length: workers - 1 }, (_, index) => system.service(name, index + 1).process),
      );
      const endsAt = Date.now() + stormMs;
      for (let isAway = false; Date.now() < endsAt; isAway = !isAway) {
        const changeAt = Date.now() + 10_000;
        await Promise.all(changing.map((one) => (isAway ? one.start() : one.stop())));
        await eventually('the next change', () => Date.now() >= changeAt, 20_000);
      }
      await load.stop();
      const perSecond = (100_000 * (ledger.positions.length - before)) / (Date.now() - startedAt);
      await untilVisible(system, { ...ledger, positions: ledger.positions.slice(-50) }, caughtUpWithinMs);
      await untilVisible(system, ledger, 240_000);
      expect(await auditUntilRight(system, ledger, 60_000)).toEqual(nothingWrong);
      if (isFullSize) expect(perSecond).toBeGreaterThan(450);
      // Two of each go on.
      for (const name of workerNames)
        for (let instance = 1; instance < workers; instance += 1) {
          const { process: one } = system.service(name, instance);
          if (instance === 1 && one.pid === undefined) await one.start();
          if (instance > 1 && one.pid !== undefined) await one.stop();
        }
      for (const name of workerNames)
        await eventually(
          'two are members',
          async () => (await groupMembers(system, name)).length === 2,
          60_000,
        );
    },
    2 * stormMs + 600_000,
  );

  test('one of each is killed permanently under load: the other takes over its partitions, every event counts once', async () => {
    const random = seededRandom(5);
    const batches = traffic({ random, events: 30_000, leads: 1_000, repeats: 0.05, batch: [1, 500] });
    let acknowledged = 0;
    const ends: Promise<void>[] = [];
    await inParallel(batches, 3, async (batch) => {
      await ledger.deliver(batch, 60_000);
      acknowledged += 1;
      if (acknowledged === Math.floor(batches.length / 3))
        ends.push(system.service('scoring', 1).process.stop('SIGKILL'));
      if (acknowledged === Math.floor(batches.length / 2))
        ends.push(system.service('ingest', 1).process.stop('SIGKILL'));
    });
    await Promise.all(ends);
    await untilVisible(system, ledger, 120_000);
    expect(ledger.acknowledged.size).toBe(ledger.sent.size);
    expect(await auditUntilRight(system, ledger, 60_000)).toEqual(nothingWrong);
    expect(system.service('scoring', 1).process.pid).toBeUndefined();
    expect(await groupMembers(system, 'scoring')).toHaveLength(1);
    expect(await groupMembers(system, 'ingest')).toHaveLength(1);
  }, 480_000);

  test('the remaining process is stopped and the other started: it continues at the committed offsets', async () => {
    await system.service('scoring', 0).process.stop();
    const random = seededRandom(6);
    const batches = traffic({
      random,
      events: 2_000,
      leads: 1_000,
      repeats: 0,
      batch: [100, 300],
      name: 'later',
    });
    for (const batch of batches) await ledger.deliver(batch, 60_000);
    await system.service('scoring', 0).process.start();
    await untilVisible(system, ledger, 120_000);
    expect(await auditUntilRight(system, ledger, 60_000)).toEqual(nothingWrong);
  }, 480_000);

  test('the audit finds a lost, an invented and a wrongly scored event', async () => {
    const [[id, event] = []] = ledger.sent;
    if (id === undefined || !event) throw new Error('nothing was sent');
    const never = { ...event, event_id: 'never sent' };
    const withLost = {
      sent: new Map([...ledger.sent, ['x', never]]),
      acknowledged: new Set([...ledger.acknowledged, 'x']),
    };
    const withInvented = {
      sent: new Map([...ledger.sent].filter(([known]) => known !== id)),
      acknowledged: new Set<string>(),
    };
    const otherRules = ledgerRules.map((rule) => ({ ...rule, weight: rule.weight + 1 }));
    expect((await audit(system, withLost)).lost).toHaveLength(1);
    expect((await audit(system, withInvented)).invented).not.toHaveLength(0);
    expect((await audit(system, ledger, otherRules)).scores).not.toHaveLength(0);
  }, 480_000);
});

/** Sends the batches until it is stopped: three at a time, or one at each interval. */
function sendingOf(
  batches: Iterator<LedgerEvent[], unknown>,
  everyMs?: number,
): { stop: () => Promise<void> } {
  let next = 0;
  let isSending = true;
  const startedAt = Date.now();
  const sender = async () => {
    while (isSending) {
      const { done, value: batch } = batches.next();
      if (done) return;
      const index = next++;
      if (everyMs !== undefined) await delay(startedAt + index * everyMs - Date.now());
      await ledger.deliver(batch, 90_000);
    }
  };
  const senders = Array.from({ length: 3 }, sender);
  return {
    stop: async () => {
      isSending = false;
      await Promise.all(senders);
    },
  };
}
