// Two versions of every service: the processes of an older checkout are replaced by this one's, one after the other, in the order of
// docs/runbooks/upgrade.md, both side by side for a while; then it goes back, and forward again, under events and reads. Nothing is lost or
// doubled, no record is parked, and a process that is too old says so and stops there.
//
//   npm run test:chaos -- versions --before CHECKOUT      a built checkout of an earlier commit
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ServiceName } from '@lead-scoring/contracts';
import { listDeadLetters } from '@lead-scoring/event-log';
import { eventually } from '@lead-scoring/platform/waiting';
import { obstacleAt } from '@lead-scoring/start';
import { seededRandom } from '@lead-scoring/start/random';
import { isFullSize } from './full-size.js';
import {
  auditUntilRight,
  createLedger,
  createRules,
  endlessTraffic,
  nothingWrong,
  untilVisible,
  type Ledger,
} from './ledger.js';
import { openSystemLog } from './system-log.js';
import { checkout, startTestSystem, type TestSystem } from './test-system.js';

/**
 * Each service before those whose records it reads, and the gateway, which sends commands to all, last: so a record of a new type meets no
 * process that does not know it.
 */
const upgradeOrder: readonly ServiceName[] = [
  'site-analysis',
  'share',
  'notification',
  'scoring',
  'ingest',
  'gateway',
];

const older = process.env['BEFORE_CHECKOUT'];
/** For how long both versions of the services work side by side, in all. */
const sideBySideMs = isFullSize ? 3_600_000 : 120_000;
const readyWithinMs = 120_000;
const readPaths = ['/leads?limit=20', '/events?limit=20', '/engagement-scoring/rules', '/triggers'];

/** The sentences by which an old process refuses records or read models of a newer one: docs/runbooks/upgrade.md */
const tooOld =
  /the read models are of version \d+, and this process writes version \d+: start the newer release|is not declared for/;

let system: TestSystem;
let ledger: Ledger;
/** The checkout that the next process of a service runs. */
const versions = new Map<ServiceName, string>();

beforeAll(async () => {
  if (older === undefined) return;
  for (const name of upgradeOrder) versions.set(name, older);
  system = await startTestSystem({
    instances: { ingest: 2, scoring: 2, notification: 2, share: 2, 'site-analysis': 2 },
    registersSchemas: true,
    environmentOf: (name) => ({ VERSION_ROOT: versions.get(name) ?? checkout }),
    programOf: (name) => ({
      command: '/bin/sh',
      args: [
        '-c',
        `exec "${process.execPath}" --import "$VERSION_ROOT/packages/service/dist/telemetry.js" "$VERSION_ROOT/services/${name}/dist/main.js"`,
      ],
    }),
  });
  ledger = createLedger(system);
  await createRules(system);
}, 240_000);

afterAll(async () => {
  if (older !== undefined) await system.stop();
}, 120_000);

const instancesOf = (name: ServiceName) => (name === 'gateway' ? [0] : [0, 1]);

/** Starts a process again, from this checkout. */
async function replace(name: ServiceName, instance: number, root: string): Promise<void> {
  versions.set(name, root);
  await system.service(name, instance).process.restart();
}

const obstacleOf = (name: ServiceName, instance: number) => obstacleAt(system.service(name, instance).url);

async function untilReady(name: ServiceName, instance: number): Promise<void> {
  await eventually(
    `${name} ${String(instance)} is ready`,
    async () => {
      const obstacle = await obstacleOf(name, instance);
      if (obstacle !== null) throw new Error(obstacle);
      return true;
    },
    readyWithinMs,
  );
}

/** The dead letters of all services. */
async function parked(): Promise<string[]> {
  const log = openSystemLog(system);
  try {
    const found: string[] = [];
    for (const name of upgradeOrder)
      for await (const { type, reason } of listDeadLetters(log, name))
        found.push(`${name}: ${String(type)}: ${reason}`);
    return found;
  } finally {
    await log.close();
  }
}

interface Traffic {
  /** Reads that were not answered while no process was being replaced. */
  unanswered: string[];
  /** Set while a process that answers reads is replaced. */
  isReplacing: boolean;
  stop(): Promise<void>;
}

/** Sends events and reads until it is stopped. */
function startTraffic(name: string): Traffic {
  const batches = endlessTraffic({
    random: seededRandom(29),
    leads: 300,
    repeats: 0.05,
    batch: [20, 20],
    name,
  });
  const ended = new AbortController();
  const traffic: Traffic = { unanswered: [], isReplacing: false, stop: () => Promise.resolve() };
  const look = async (path: string) => {
    const wasReplacing = traffic.isReplacing;
    const answer = await system.request(path).catch((error: unknown) => ({ status: 0, body: String(error) }));
    if (answer.status !== 200 && !wasReplacing && !traffic.isReplacing)
      traffic.unanswered.push(`${path}: ${answer.status} ${JSON.stringify(answer.body).slice(0, 200)}`);
  };
  const running = (async () => {
    while (!ended.signal.aborted) {
      await ledger.post(batches.next().value);
      for (const path of readPaths) await look(path);
      await delay(200);
    }
  })();
  traffic.stop = async () => {
    ended.abort();
    await running;
  };
  return traffic;
}

/** Replaces every process, service by service, each when the one before is ready. */
async function upgrade(traffic: Traffic, sideBySide: number): Promise<void> {
  for (const name of upgradeOrder)
    for (const instance of instancesOf(name)) {
      traffic.isReplacing = true;
      await replace(name, instance, checkout);
      await untilReady(name, instance);
      traffic.isReplacing = false;
      if (instance === 0) await delay(sideBySide / (upgradeOrder.length - 1));
    }
}

async function audited(): Promise<void> {
  await untilVisible(system, ledger, 300_000);
  expect(await auditUntilRight(system, ledger, 120_000)).toEqual(nothingWrong);
}

(older === undefined ? describe.skip : describe)('an older version and this one', () => {
  const root = older ?? checkout;

  test('side by side, nothing is lost, doubled or parked, and every read is answered', async () => {
    const traffic = startTraffic('forward');
    await eventually('events are acknowledged', () => ledger.positions.length >= 5, 60_000);
    await upgrade(traffic, sideBySideMs);
    await traffic.stop();
    expect(traffic.unanswered).toEqual([]);
    await audited();
    expect(await parked()).toEqual([]);
  }, 7_200_000);

  test('back, a process that is too old says so; forward again, nothing is lost or doubled', async () => {
    const traffic = startTraffic('back');
    for (const name of [...upgradeOrder].reverse())
      for (const instance of instancesOf(name)) await replace(name, instance, root);
    const said: string[] = [];
    for (const name of upgradeOrder)
      for (const instance of instancesOf(name))
        said.push(
          await eventually(
            `${name} ${String(instance)} works, or says that it is too old`,
            async () => {
              const obstacle = await obstacleOf(name, instance);
              if (obstacle === null) return `${name} ${String(instance)} works`;
              const log = await readFile(system.service(name, instance).logFile, 'utf8');
              const [sentence] = tooOld.exec(log) ?? [];
              if (sentence === undefined) throw new Error(obstacle);
              return `${name} ${String(instance)}: ${sentence}`;
            },
            readyWithinMs,
          ),
        );
    await traffic.stop();
    process.stdout.write(`Back:\n${said.join('\n')}\n`);
    if (said.every((one) => one.endsWith('works'))) {
      await audited();
      expect(await parked()).toEqual([]);
    }

    const again = startTraffic('again');
    await upgrade(again, 0);
    const { length } = ledger.positions;
    await eventually('events are acknowledged', () => ledger.positions.length >= length + 5, 60_000);
    await again.stop();
    await audited();
    process.stdout.write(`parked while it was back: ${JSON.stringify(await parked())}\n`);
  }, 1_200_000);
});
