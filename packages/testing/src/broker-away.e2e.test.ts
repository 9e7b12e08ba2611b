// The broker is killed under load and started again: no 202 is sent for events that are not in the log, and no acknowledged event
// is lost. `npm run test:chaos` keeps the broker away for ten minutes.
import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '@lead-scoring/platform/waiting';
import { seededRandom } from '@lead-scoring/start/random';
import { isFullSize } from './full-size.js';
import { auditUntilRight, nothingWrong, traffic, untilVisible, type Ledger } from './ledger.js';
import { startOwnBrokers, startSystemOn, type OwnBrokers } from './own-servers.js';
import type { TestSystem } from './test-system.js';

const awayMs = isFullSize ? 600_000 : 20_000;
/** The time that the system may take to work again; an idle machine takes half a minute. */
const backWithinMs = isFullSize ? 30_000 : 60_000;
const answeredWithinMs = 5_000;
const mayGrowBy = 100 * 1024 * 1024;

let kafka: OwnBrokers;
let system: TestSystem;
let ledger: Ledger;
let stop: () => Promise<void>;

beforeAll(async () => {
  kafka = await startOwnBrokers(1);
  ({ system, ledger, stop } = await startSystemOn(kafka));
}, 240_000);

afterAll(() => stop(), 60_000);

describe(`the broker is killed under load and away for ${awayMs / 1_000} s`, () => {
  const refusals: { status: number; retryAfter: string | null; body: unknown; tookMs: number }[] = [];
  let acknowledgedWhileAway = 0;
  let pids: (number | undefined)[] = [];
  let backAt = 0;

  test(
    'while it is away every POST /ingest is refused with 503 and Retry-After, none with 202',
    async () => {
      const [broker] = kafka.brokers;
      if (!broker) throw new Error('no broker');
      const random = seededRandom(7);
      const batches = traffic({ random, events: 40_000, leads: 500, repeats: 0.05, batch: [1, 60] });
      pids = system.system.services.map((service) => service.process.pid);
      let phase: 'before' | 'away' | 'after' = 'before';
      let next = 0;
      let sending = true;
      const sender = async () => {
        while (sending) {
          const batch = batches[next++ % batches.length] ?? [];
          const began = phase;
          const askedAt = performance.now();
          const { status, headers, body } = await ledger.post(batch);
          if (began !== 'away' || phase !== 'away') continue;
          if (status === 202) acknowledgedWhileAway += 1;
          else {
            const tookMs = performance.now() - askedAt;
            refusals.push({ status, retryAfter: headers?.get('retry-after') ?? null, body, tookMs });
          }
        }
      };
      const senders = [sender(), sender(), sender()];
      await eventually('50 requests are acknowledged', () => ledger.positions.length >= 50, 60_000);
      await broker.stop('SIGKILL');
      phase = 'away';
      const before = residentBytes();
      let grown = 0;
      const endsAt = Date.now() + awayMs;
      while (Date.now() < endsAt) {
        await new Promise((resolve) => setTimeout(resolve, 1_000));
        const now = residentBytes();
        grown = Math.max(grown, ...[...now].map(([name, bytes]) => bytes - (before.get(name) ?? bytes)));
      }
      phase = 'after';
      await broker.start();
      backAt = Date.now();
      const known = ledger.positions.length;
      await eventually('50 more are acknowledged', () => ledger.positions.length >= known + 50, backWithinMs);
      sending = false;
      await Promise.all(senders);

      expect(acknowledgedWhileAway).toBe(0);
      expect(refusals.length).toBeGreaterThan(0);
      const tookMs = refusals.map((refusal) => refusal.tookMs).sort((a, b) => a - b);
      // Checks the median, because a machine under load has outliers.
      expect(tookMs[Math.floor(tookMs.length / 2)]).toBeLessThan(answeredWithinMs);
      expect(grown).toBeLessThan(mayGrowBy);
      for (const { status, retryAfter, body } of refusals) {
        expect(status).toBe(503);
        expect(Number(retryAfter)).toBeGreaterThan(0);
        expect(Number(retryAfter)).toBeLessThanOrEqual(5);
        expect(body).toMatchObject({ status: 503, code: expect.any(String), detail: expect.any(String) });
      }
    },
    awayMs + 180_000,
  );

  test('the services work again without a restart', async () => {
    await system.system.ready(Math.max(backAt + backWithinMs - Date.now(), 1_000));
    expect(system.system.services.map((service) => service.process.pid)).toEqual(pids);
  }, 100_000);

  test('every event that was acknowledged before, during and after the outage is stored exactly once', async () => {
    await untilVisible(system, ledger, 120_000);
    expect(await auditUntilRight(system, ledger, 60_000)).toEqual(nothingWrong);
  }, 240_000);
});

/** The resident memory of each service's process, in bytes. */
function residentBytes(): Map<string, number> {
  return new Map(
    system.system.services.map(({ name, process: { pid } }) => {
      if (pid === undefined) throw new Error(`${name} does not run`);
      const kilobytes = execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' });
      return [name, Number(kilobytes) * 1_024];
    }),
  );
}
