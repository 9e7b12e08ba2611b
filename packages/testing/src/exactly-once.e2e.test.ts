// Every event that was answered 202 counts exactly once, whichever process is killed meanwhile, and the read models equal a fold of
// the log. A producer whose own process is killed doubles and loses none either. `npm run test:chaos` runs it at its full size.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createClient } from '@lead-scoring/client';
import { leadIdOf, serviceNames, type ServiceName } from '@lead-scoring/contracts';
import { eventually } from '@lead-scoring/platform/waiting';
import { seededRandom } from '@lead-scoring/start/random';
import { isFullSize } from './full-size.js';
import { killService } from './kill-service.js';
import { runProducer } from './killed-producer.js';
import {
  audit,
  createLedger,
  createRules,
  inParallel,
  nothingWrong,
  sentFormOf,
  traffic,
  untilVisible,
  type Ledger,
} from './ledger.js';
import { rebuild, rebuilt } from './rebuild.js';
import { countOf } from './stored-documents.js';
import { startTestSystem, upToScoring, type TestSystem } from './test-system.js';

const { eventCount, terminationSeconds } = isFullSize
  ? { eventCount: 100_000, terminationSeconds: 20 }
  : { eventCount: 12_000, terminationSeconds: 3 };
const rounds = 2;
/** After how many events a process of the producer is killed. */
const producerKills = Array.from({ length: isFullSize ? 20 : 3 }, (_, kill) => 300 + kill * 111);
/** At full size: the time in which the events are sent, and the least number of kills of each service in that time. */
const underFireMs = 240_000;
const killsAtLeast = 8;
// Another seed: other events, other moments.
const seed = Number(process.env['SEED'] ?? 20_260_131);

interface Job {
  id: string;
  status: string;
}

let system: TestSystem;
let ledger: Ledger;
const random = seededRandom(seed);

beforeAll(async () => {
  // Only these two: the other services read their events, and cost more processor time.
  system = await startTestSystem(isFullSize ? { longestRestartDelayMs: 250 } : { instances: upToScoring });
  ledger = createLedger(system);
  await createRules(system);
}, 120_000);

afterAll(() => system.stop(), 60_000);

describe(`${eventCount} events, 5 % of them sent again, ${isFullSize ? 'each service killed again and again' : `ingest and scoring killed ${rounds} times`} (seed ${seed})`, () => {
  test(
    'every event that was answered 202 is counted exactly once in topics, event store and scores',
    async () => {
      const batches = traffic({
        random,
        events: eventCount,
        leads: 3_000,
        repeats: 0.05,
        batch: isFullSize ? [100, 1_000] : [1, 1_500],
      });
      if (isFullSize) await underFire(batches);
      else await inRounds(batches);
      await untilVisible(system, ledger, 180_000);
      expect(ledger.acknowledged.size).toBe(ledger.sent.size);
      expect(await audit(system, ledger)).toEqual(nothingWrong);
    },
    isFullSize ? 1_800_000 : 420_000,
  );

  test('an upload to POST /import, while ingest is killed twice and its sender once, counts each event once, and its job says so', async () => {
    const events = traffic({
      random,
      events: 6_000,
      leads: 500,
      repeats: 0,
      batch: [100, 100],
      name: 'imported',
    });
    ledger.note(events.flat());
    const kills = [20, 40];
    const client = createClient({ baseUrl: system.url, token: system.token });
    const upload = (killed: readonly number[], breaksOffAt = Infinity) => {
      const sent = async function* () {
        for (const [at, batch] of events.entries()) {
          if (at === breaksOffAt) throw new Error('the sender is gone');
          if (killed.includes(at)) system.service('ingest').process.kill('SIGKILL');
          yield* batch.map(sentFormOf);
          await delay(30);
        }
      };
      return client.import(sent(), { idempotencyKey: 'the-upload' });
    };
    await expect(upload([], 30)).rejects.toThrow('the sender is gone');
    const imported = await upload(kills);
    expect(imported).toMatchObject({ accepted: 6_000, failed: 0, replayed: 0 });
    ledger.note(events.flat(), imported.position);
    const job = await eventually('the job is completed', async () => {
      const answer = await system.request<Job>(`/jobs/${String(imported.job)}`);
      return answer.body.status === 'completed' && answer.body;
    });
    expect(job).toMatchObject({ id: imported.job, kind: 'import', total: 6_000, done: 6_000, failed: 0 });
    await system.system.ready(120_000);
    expect(await upload([])).toMatchObject({ accepted: 6_000, replayed: 6_000, job: imported.job });
    await untilVisible(system, ledger, 120_000);
    expect(await audit(system, ledger)).toEqual(nothingWrong);
  }, 300_000);

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

  test('while scoring is rebuilt under load, and killed as it fills, no list of leads is shorter and every event counts once', async () => {
    const total = () => system.request<{ total: number }>('/leads?limit=1');
    const least = (await total()).body.total;
    expect(least).toBeGreaterThan(2_000);
    const { process } = system.service('scoring');
    const over = new AbortController();
    let answers = 0;
    const watching = (async () => {
      while (!over.signal.aborted) {
        const { status, body } = await total();
        // While its process is gone, the service does not answer.
        if (status !== 200) continue;
        answers += 1;
        expect(body.total).toBeGreaterThanOrEqual(least);
      }
    })();
    const rebuilding = rebuild(system, ['scoring'], 180_000, () => process.kill('SIGKILL'));
    const batches = traffic({
      random,
      events: 3_000,
      leads: 500,
      repeats: 0.05,
      batch: [50, 50],
      name: 'rebuilt',
    });
    await inParallel(batches, 2, (batch) => ledger.deliver(batch, 60_000));
    await rebuilding;
    await untilVisible(system, ledger, 120_000);
    over.abort();
    await watching;
    expect(answers).toBeGreaterThan(10);
    expect(await audit(system, ledger)).toEqual(nothingWrong);
  }, 420_000);

  test.each(['ingest', 'scoring'] as const)(
    'rebuild %s: the rebuilt read models equal the earlier ones, field by field',
    async (service) => {
      const { before, differences } = await rebuilt(system, service, isFullSize ? 420_000 : 180_000);
      expect(countOf(before, service === 'ingest' ? 'event_records' : 'leads')).toBeGreaterThan(2_000);
      expect(differences).toEqual([]);
    },
    isFullSize ? 600_000 : 240_000,
  );

  test('after a rebuild an event that was counted before is a repeat, and a new event counts', async () => {
    const [known] = ledger.sent.values();
    if (!known) throw new Error('nothing was sent');
    await ledger.deliver([known, { ...known, event_id: 'after-rebuild', event_type: 'Form Submit' }], 60_000);
    await untilVisible(system, ledger, 60_000);
    expect(await audit(system, ledger)).toEqual(nothingWrong);
  }, 120_000);

  test.each(isFullSize ? serviceNames : (['gateway', 'ingest', 'scoring'] as const))(
    'SIGTERM to %s under 500 events a second: it ends in order, and no acknowledged event is lost or doubled',
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
      // A service logs this message and exits if it has not stopped within 10 s.
      expect(await readFile(logFile, 'utf8')).not.toContain('stopping took too long');
      await untilVisible(system, ledger, 60_000);
      expect(await audit(system, ledger)).toEqual(nothingWrong);
    },
    240_000,
  );
});

describe(`a producer with its queue on disk, killed ${producerKills.length} times as it sends`, () => {
  const aliases = Array.from({ length: 20 }, (_, lead) => `produced-${lead}@example.com`);
  const stats = async () =>
    (await system.request<{ repeats: number; differing: number }>('/event-stats')).body;

  /** The numbers of the events of a lead, when all of them are visible; and its score. */
  const countedOf = async (alias: string): Promise<{ numbers: number[]; score: number }> => {
    const lead = leadIdOf(system.ouId, 'email', alias);
    const last = { alias_kind: 'email', alias, event_type: 'Form Submit' };
    const { body } = await system.request<{ position: string }>('/ingest', { body: last });
    const { score } = (
      await system.request<{ score: number }>(`/score/${lead}?min_position=${body.position}`)
    ).body;
    const numbers: number[] = [];
    for (let page = 1; numbers.length === (page - 1) * 100; page += 1) {
      const path = `/events/${lead}?event_type=Page%20View&limit=100&page=${page}&min_position=${body.position}`;
      const { data } = (await system.request<{ data: { metadata: { index: number } }[] }>(path)).body;
      numbers.push(...data.map(({ metadata }) => metadata.index));
    }
    return { numbers, score };
  };

  test('each event that a process of it took counts once', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'lead-scoring-producer-'));
    const before = await stats();
    const taken: number[] = [];
    for (const killedAfter of [...producerKills, undefined]) {
      // Whether a killed process took the event behind the last one that it told of, nobody knows.
      const from = taken.length === 0 ? 0 : (taken.at(-1) ?? 0) + 2;
      const run = {
        folder,
        aliases,
        from,
        below: killedAfter === undefined ? from + 10 : Number.MAX_SAFE_INTEGER,
      };
      const { taken: more, code } = await runProducer(
        system,
        killedAfter === undefined ? run : { ...run, killedAfter },
      );
      expect(code).toBe(killedAfter === undefined ? 0 : null);
      taken.push(...more);
    }
    const counted = await Promise.all(aliases.map(countedOf));
    const numbers = counted.flatMap((one) => one.numbers);
    const distinct = new Set(numbers);
    expect(distinct.size).toBe(numbers.length);
    expect(taken.filter((number) => !distinct.has(number))).toEqual([]);
    expect(counted.map(({ score }) => score)).toEqual(counted.map((one) => one.numbers.length + 25));
    // Of most kills: events were in a request whose answer the killed process did not get.
    const after = await stats();
    expect(after.repeats - before.repeats).toBeGreaterThanOrEqual(isFullSize ? 1 : 0);
    expect(after.differing).toBe(before.differing);
    await rm(folder, { recursive: true });
  }, 300_000);
});

/** Sends the batches in rounds; one service or both are killed in each round, and all are ready before the next. */
async function inRounds(batches: Parameters<Ledger['deliver']>[0][]): Promise<void> {
  const slice = Math.ceil(batches.length / (rounds + 1));
  for (let round = 0; round <= rounds; round += 1) {
    const part = batches.slice(round * slice, (round + 1) * slice);
    const victims: ServiceName[] =
      round === rounds ? [] : random.pick([['ingest'], ['scoring'], ['ingest', 'scoring']] as const).slice();
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
    // The next round kills services that are ready, not ones that are starting.
    await system.system.ready(120_000);
  }
}

/**
 * Each service, the gateway too, is killed 5 to 15 s after it has become ready, independently of the others: killing a service that
 * has not started proves nothing. A service that does not become ready while others are killed is killed after a time limit.
 */
async function underFire(batches: Parameters<Ledger['deliver']>[0][]): Promise<void> {
  let isSending = true;
  const kills = new Map<ServiceName, number>();
  const killers = system.system.services.map(async ({ name }) => {
    for (let count = 1; isSending; count += 1) {
      await killAfter(name, random.between(5_000, 15_000));
      kills.set(name, count);
      await readyWithin(name, 20_000);
    }
  });
  const startedAt = Date.now();
  await inParallel([...batches.entries()], 4, async ([index, batch]) => {
    await delay(startedAt + (index * underFireMs) / batches.length - Date.now());
    await ledger.deliver(batch, 300_000);
  });
  isSending = false;
  await Promise.all(killers);
  expect([...kills.keys()].sort()).toEqual([...serviceNames].sort());
  expect(Math.min(...kills.values())).toBeGreaterThanOrEqual(killsAtLeast);
  await system.system.ready(180_000);
}

async function readyWithin(name: ServiceName, timeoutMs: number): Promise<void> {
  const { url } = system.service(name);
  const isReady = async () => (await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(2_000) })).ok;
  await eventually(`${name} is ready`, isReady, timeoutMs, 200).catch(() => undefined);
}

/** Sends SIGKILL; resolves when the supervisor has started the service again. */
async function killAfter(name: ServiceName, delayMs: number): Promise<void> {
  await delay(delayMs);
  await killService(system, name);
}
