// PostgreSQL is killed at random times. In tests it runs with synchronous_commit=off, so that it loses the last acknowledged
// writes. The services have to repeat them: the documents of busy and idle partitions equal a fold of the log, and a revoked
// token stays revoked. `npm run test:chaos` kills it fifty times.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { serviceNames, type ServiceName } from '@lead-scoring/contracts';
import { listDeadLetters, listLag, type EventLog } from '@lead-scoring/event-log';
import { eventually } from '@lead-scoring/platform/waiting';
import { seededRandom } from '@lead-scoring/start/random';
import { isFullSize } from './full-size.js';
import { auditUntilRight, nothingWrong, traffic, untilVisible, type Ledger } from './ledger.js';
import { postgresqlOf } from './own-postgresql.js';
import { startOwnDatabase, startSystemOn, type OwnDatabase } from './own-servers.js';
import { rebuild } from './rebuild.js';
import { untilAllIsStored } from './stored-checkpoints.js';
import { differences, storedDocuments, type StoredDocuments } from './stored-documents.js';
import { openSystemLog } from './system-log.js';
import type { TestSystem } from './test-system.js';

const { kills, eventsPerKill } = isFullSize
  ? { kills: 50, eventsPerKill: 3_000 }
  : { kills: 2, eventsPerKill: 2_000 };
const seed = Number(process.env['SEED'] ?? 20_261_124);
const random = seededRandom(seed);

/** Collections that are not folded from the log: checkpoints, and documents that live for minutes. */
const besidesTheLog = [
  'checkpoints',
  'idempotent_answers',
  'rate_limit_buckets',
  'call_counts',
  'quota_uses',
  'credential_last_uses',
];
const nothingStored: StoredDocuments = new Map();
const rebuilt: readonly ServiceName[] = ['gateway', 'ingest', 'scoring', 'notification', 'share'];

let database: OwnDatabase;
let system: TestSystem;
let ledger: Ledger;
let stop: () => Promise<void>;

beforeAll(async () => {
  database = await startOwnDatabase();
  ({ system, ledger, stop } = await startSystemOn(database));
}, 240_000);

afterAll(() => stop(), 60_000);

/** Makes a token and revokes it; returns its secret once the revocation is acknowledged. */
async function revokedToken(name: string): Promise<string> {
  const made = await eventually(
    'a token is made',
    async () => {
      const answer = await system.request<{ id: string; token: string }>('/settings/tokens', {
        body: { name, role: 'viewer' },
      });
      return answer.status === 201 ? answer.body : undefined;
    },
    60_000,
  );
  await eventually(
    'it is revoked',
    async () => {
      const { status } = await system.request(`/settings/tokens/${made.id}`, { method: 'DELETE' });
      return status === 204 || status === 404;
    },
    60_000,
  );
  return made.token;
}

const isRefused = async (token: string) => (await system.request('/leads?limit=1', { token })).status === 401;

async function withLog(work: (log: EventLog) => Promise<void>): Promise<void> {
  const log = openSystemLog(system);
  try {
    await log.prepare();
    await work(log);
  } finally {
    await log.close();
  }
}

const storedBy = (service: ServiceName) =>
  storedDocuments(system.endpoints, `${system.namespace}_${service}`, { except: besidesTheLog });

describe(`PostgreSQL is killed ${kills} times (seed ${seed})`, () => {
  const revoked: string[] = [];

  test(
    'a token that was revoked just before a kill is refused after it, and events are acknowledged meanwhile',
    async () => {
      const postgresql = postgresqlOf(database);
      const batches = traffic({
        random,
        events: kills * eventsPerKill,
        leads: 800,
        repeats: 0.05,
        batch: [1, 60],
      });
      const each = Math.floor(batches.length / kills);
      for (let kill = 0; kill < kills; kill += 1) {
        const mine = batches.slice(kill * each, (kill + 1) * each);
        const isBusy = kill % 2 === 0;
        let next = 0;
        const deliver = async () => {
          for (let batch = mine[next++]; batch !== undefined; batch = mine[next++])
            await ledger.deliver(batch, 120_000);
        };
        const delivering = Promise.all([deliver(), deliver()]);
        // Every other kill hits idle partitions, which store no more documents by themselves.
        if (!isBusy) await delivering;
        else await eventually('some are sent', () => next > mine.length / 4, 60_000);
        const token = await revokedToken(`number ${String(kill)}`);
        revoked.push(token);
        await new Promise((resolve) => setTimeout(resolve, random.between(0, isBusy ? 400 : 120)));
        await postgresql.kill();
        await delivering;
        await eventually('the revoked token is refused', () => isRefused(token), 30_000);
      }
    },
    kills * 60_000 + 60_000,
  );

  test('every revoked token stays refused', async () => {
    for (const token of revoked) expect(await isRefused(token)).toBe(true);
  }, 60_000);

  test('every acknowledged event is stored exactly once, and no record is parked', async () => {
    await untilVisible(system, ledger, 120_000);
    expect(await auditUntilRight(system, ledger, 60_000)).toEqual(nothingWrong);
    await withLog(async (log) => {
      for (const service of serviceNames)
        for await (const { type, reason } of listDeadLetters(log, service))
          expect({ service, type, reason }).toBeUndefined();
    });
  }, 240_000);

  test(`rebuilt from the log, the documents of ${rebuilt.join(', ')} equal the earlier ones, field by field`, async () => {
    // Notification and share follow the decisions at their own pace.
    await withLog(async (log) => {
      const hasReadAll = async (service: ServiceName) =>
        (await listLag(log, service)).every(({ lag }) => lag === 0n);
      await eventually(
        'each service has read all of its topics',
        async () => (await Promise.all(rebuilt.map(hasReadAll))).every(Boolean),
        60_000,
      );
    });
    await untilAllIsStored(system, rebuilt);
    const before = await Promise.all(rebuilt.map(storedBy));
    await rebuild(system, rebuilt, 180_000);
    const changed = async () => {
      const after = await Promise.all(rebuilt.map(storedBy));
      return before.flatMap((was, at) => differences(was, after[at] ?? nothingStored));
    };
    expect(await changed()).toEqual([]);
  }, 300_000);
});
