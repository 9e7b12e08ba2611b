// A server accepts connections and data, and answers nothing: a service with partitions becomes not ready, ends within 60 s and is
// started again; no acknowledged event is lost. At full size only, for the broker and for the database.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ServiceName } from '@lead-scoring/contracts';
import { eventually } from '@lead-scoring/platform/waiting';
import { seededRandom } from '@lead-scoring/start/random';
import { isFullSize } from './full-size.js';
import {
  auditUntilRight,
  createLedger,
  createRules,
  nothingWrong,
  traffic,
  untilVisible,
  type Ledger,
} from './ledger.js';
import { startOwnBrokers, startOwnDatabase, type OwnBrokers, type OwnDatabase } from './own-servers.js';
import { startTestSystem, upToScoring, type TestSystem } from './test-system.js';

let kafka: OwnBrokers;
let database: OwnDatabase;
let system: TestSystem;
let ledger: Ledger;

beforeAll(async () => {
  [kafka, database] = await Promise.all([startOwnBrokers(1), startOwnDatabase()]);
  system = await startTestSystem({
    endpoints: { ...kafka.endpoints, mongodbUri: database.endpoints.mongodbUri },
    instances: upToScoring,
  });
  await createRules(system);
  ledger = createLedger(system);
}, 300_000);

afterAll(async () => {
  await system.stop();
  await Promise.all([kafka.stop(), database.stop()]);
}, 120_000);

/** Makes a server silent, and lets it answer again. */
interface Silencing {
  begin: () => void;
  end: () => void;
}

function brokerSilencing(): Silencing {
  const [broker] = kafka.brokers;
  if (!broker) throw new Error('no broker');
  return { begin: broker.pause, end: broker.resume };
}

function databaseSilencing(): Silencing {
  const found = database.processes().find(({ name }) => name === 'ferretdb');
  if (!found) throw new Error('FerretDB does not run');
  return {
    begin: () => process.kill(found.pid, 'SIGSTOP'),
    end: () => process.kill(found.pid, 'SIGCONT'),
  };
}

const servers = [
  ['the broker', brokerSilencing],
  ['the database', databaseSilencing],
] as const;

// At full size only: each takes a minute until the service notices. Unit tests of `npm test` cover the detection.
(isFullSize ? describe : describe.skip).each(servers)('%s falls silent under load', (name, silencingOf) => {
  const workers = ['ingest', 'scoring'] as const;

  test('ingest and scoring are not ready, and then end within 60 s', async () => {
    const batches = traffic({
      random: seededRandom(3),
      events: 60_000,
      leads: 500,
      repeats: 0.05,
      batch: [1, 60],
      name,
    });
    let next = 0;
    let sending = true;
    const sender = async () => {
      for (let batch = batches[next++]; sending && batch !== undefined; batch = batches[next++])
        await ledger.post(batch, 10_000);
    };
    const senders = [sender(), sender()];
    const known = ledger.positions.length;
    await eventually('requests are acknowledged', () => ledger.positions.length >= known + 20, 60_000);
    const gateway = system.service('gateway').process.pid;
    const silencing = silencingOf();
    silencing.begin();
    try {
      await Promise.all(workers.map((worker) => notReadyThenEnded(worker)));
    } finally {
      silencing.end();
      sending = false;
    }
    await Promise.all(senders);
    // Ingest accepts events without the database, and would need the database to start.
    if (name === 'the database') expect(system.service('gateway').process.pid).toBe(gateway);
  }, 180_000);

  test('it answers again: the services continue, and every acknowledged event counts once', async () => {
    await system.system.ready(120_000);
    await untilVisible(system, ledger, 120_000);
    expect(await auditUntilRight(system, ledger, 60_000)).toEqual(nothingWrong);
  }, 300_000);
});

async function notReadyThenEnded(worker: ServiceName): Promise<void> {
  const { url, process: running } = system.service(worker);
  const { pid } = running;
  let wasUnready = false;
  await eventually(
    `${worker} has ended`,
    async () => {
      if (running.pid !== pid) return true;
      const status = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(5_000) }).then(
        (answer) => answer.status,
        () => 0,
      );
      if (status === 503 && running.pid === pid) wasUnready = true;
      return false;
    },
    60_000,
    250,
  );
  expect({ worker, wasUnready }).toEqual({ worker, wasUnready: true });
}
