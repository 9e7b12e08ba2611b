// Two processes of each service share the partitions; when one is gone for good, the other does all the work.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '@lead-scoring/platform/waiting';
import { Kafka, logLevel } from 'kafkajs';
import {
  audit,
  auditUntilRight,
  createLedger,
  createRules,
  inParallel,
  ledgerRules,
  nothingWrong,
  traffic,
  untilVisible,
  type Ledger,
} from './ledger.js';
import { seededRandom } from './random.js';
import { startTestSystem, type TestSystem } from './test-system.js';

let system: TestSystem;
let ledger: Ledger;

beforeAll(async () => {
  system = await startTestSystem({
    instances: { ingest: 2, scoring: 2, notification: 0, share: 0, 'site-analysis': 0 },
  });
  ledger = createLedger(system);
  await createRules(system);
}, 180_000);

afterAll(() => system.stop(), 60_000);

describe('two processes of ingest and of scoring', () => {
  test('share the partitions between them', async () => {
    for (const service of ['ingest', 'scoring']) {
      const members = await eventually(
        `two processes of ${service} are members`,
        async () => {
          const found = await membersOf(service);
          return found.length === 2 && found;
        },
        60_000,
      );
      expect(members).toHaveLength(2);
    }
  }, 130_000);

  test('one of each is killed for good under load: the other takes its partitions over, every event counts once', async () => {
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
    expect(await auditUntilRight(system, ledger, 1)).toEqual(nothingWrong);
    expect(system.service('scoring', 1).process.pid).toBeUndefined();
    expect(await membersOf('scoring')).toHaveLength(1);
    expect(await membersOf('ingest')).toHaveLength(1);
  }, 240_000);

  test('the process that is left is asked to end and one comes back: it goes on where the log says', async () => {
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
    expect(await auditUntilRight(system, ledger, 1)).toEqual(nothingWrong);
  }, 240_000);

  test('the audit that these tests believe notices a lost, an invented and a wrongly scored event', async () => {
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
  }, 120_000);
});

/** The members of a service's consumer group. */
async function membersOf(service: string): Promise<string[]> {
  const admin = new Kafka({ brokers: system.endpoints.kafkaBrokers, logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  try {
    const { groups } = await admin.describeGroups([`${system.namespace}.${service}`]);
    return groups.flatMap(({ members }) => members.map(({ memberId }) => memberId));
  } finally {
    await admin.disconnect();
  }
}
