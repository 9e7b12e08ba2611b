// A process is suspended after it has committed decisions and before it has stored the documents; another takes over its partitions
// and deletes the leads concerned; then the first one resumes, with documents of these leads in its memory.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { leadIdOf } from '@lead-scoring/contracts';
import { eventually } from '@lead-scoring/platform/waiting';
import { MongoClient } from 'mongodb';
import { isFullSize } from './full-size.js';
import { groupMembers } from './group-members.js';
import { createRules, inParallel } from './ledger.js';
import { partitionsToStore, storedOffsets } from './stored-checkpoints.js';
import { differences, storedDocuments, type StoredDocuments } from './stored-documents.js';
import { startTestSystem, upToScoring, type TestSystem } from './test-system.js';

const workers = ['ingest', 'scoring'] as const;
type Worker = (typeof workers)[number];
/** The process that each round is about: one that has to be suspended in the short time between its commit and its store. */
const rounds = Array.from({ length: 3 }, (_, number) =>
  workers.map((worker) => [worker, number] as const),
).flat();
const nothingStored: StoredDocuments = new Map();

let system: TestSystem;
let database: MongoClient;
beforeAll(async () => {
  system = await startTestSystem({
    instances: { ingest: 2, scoring: 2, ...upToScoring },
  });
  database = await MongoClient.connect(system.endpoints.mongodbUri);
  await createRules(system);
}, 180_000);
afterAll(async () => {
  await database.close();
  await system.stop();
}, 60_000);

const nameOf = (service: Worker) => `${system.namespace}_${service}`;
const idOf = (alias: string) => leadIdOf(system.ouId, 'email', alias);

let sent = 0;
/** Sends an event of each lead; returns the position, or undefined if the events were not accepted. */
async function post(aliases: readonly string[]): Promise<string | undefined> {
  const events = aliases.map((alias) => ({
    alias,
    alias_kind: 'email',
    event_type: 'Page View',
    event_id: String((sent += 1)),
    timestamp: new Date().toISOString(),
  }));
  const { status, body } = await system.request<{ position: string }>('/ingest', { body: events });
  return status === 202 ? body.position : undefined;
}

const unstored = (service: Worker) => partitionsToStore(database, system, service);

const signal = (name: NodeJS.Signals) => {
  for (const service of workers) process.kill(system.service(service, 1).process.pid ?? 0, name);
};

/** Suspends one process of each service under load, again and again, until the worker's has recorded more than it has stored. */
async function suspendBetweenCommitAndStore(worker: Worker, aliases: readonly string[]): Promise<void> {
  await eventually(
    `a process of ${worker} is suspended between its commit and its store`,
    async () => {
      const before = sent;
      let isSending = true;
      const sending = Promise.all(
        [0, 1, 2].map(async () => {
          while (isSending) await post(aliases);
        }),
      );
      await eventually('some are sent', () => sent >= before + 10 * aliases.length, 60_000);
      signal('SIGSTOP');
      isSending = false;
      await sending;
      // Once the other processes are idle, the rest belongs to the suspended ones.
      let left = '';
      const settled = await eventually('the others have stored', async () => {
        const now = (await Promise.all(workers.map(unstored))).map((partitions) => partitions.join());
        const isSame = now.join(';') === left;
        left = now.join(';');
        return isSame && now;
      });
      if (settled[workers.indexOf(worker)] !== '') return true;
      signal('SIGCONT');
      return false;
    },
    300_000,
  );
}

/** Every document of both services in which one of these leads is named: as 16 bytes, or as text. */
async function documentsOf(leadIds: readonly string[]): Promise<string[]> {
  const names = leadIds.flatMap((id) => [Buffer.from(id.replaceAll('-', ''), 'hex'), Buffer.from(id)]);
  const found: string[] = [];
  for (const service of workers)
    for (const [collection, documents] of await storedDocuments(system.endpoints, nameOf(service)))
      for (const [key, bytes] of documents) {
        const document = Buffer.from(bytes);
        if (names.some((name) => document.includes(name))) found.push(`${service}.${collection} ${key}`);
      }
  return found.sort();
}

/** Reads the checkpoints continuously; `stop` resolves with those that decreased. */
function watchCheckpoints(): { stop: () => Promise<string[]> } {
  const highest = new Map<string, number>();
  const decreased: string[] = [];
  const stopping = new AbortController();
  const watching = (async () => {
    while (!stopping.signal.aborted)
      for (const service of workers)
        for (const [partition, offset] of await storedOffsets(database, system, service)) {
          const id = `${service}:${String(partition)}`;
          const known = highest.get(id) ?? 0;
          if (offset < known) decreased.push(`${id} from ${String(known)} to ${String(offset)}`);
          highest.set(id, Math.max(offset, known));
        }
  })();
  return {
    stop: async () => {
      stopping.abort();
      await watching;
      return decreased;
    },
  };
}

// At full size only: a round takes a minute. `leased-writes.int` of read-model tests the fence in every run.
(isFullSize ? test : test.skip).each(rounds)(
  'no data returns of a lead that is deleted while a process of %s is suspended between its commit and its store; no checkpoint decreases (%i)',
  async (worker, round) => {
    const doomed = Array.from(
      { length: 40 },
      (_, n) => `doomed-${worker}-${String(round)}-${String(n)}@example.com`,
    );
    const ids = doomed.map(idOf);
    const watch = watchCheckpoints();
    await suspendBetweenCommitAndStore(worker, doomed);
    try {
      // Another process answers once it owns the partition.
      await inParallel(ids, 10, async (id) => {
        await eventually(
          `lead ${id} is deleted`,
          async () => [204, 404].includes((await system.request(`/lead/${id}`, { method: 'DELETE' })).status),
          90_000,
        );
      });
      for (const service of workers)
        await eventually('all is stored', async () => (await unstored(service)).length === 0, 60_000);
      const stored = () =>
        Promise.all(
          workers.map((service) =>
            storedDocuments(system.endpoints, nameOf(service), { except: ['checkpoints'] }),
          ),
        );
      // Scoring may not have read the deletions yet, and has then nothing left to store either.
      const named = await eventually(
        'two documents remain of each deleted lead: its deletion, and the ids of its counted events',
        async () => {
          const found = await documentsOf(ids);
          return found.every((name) => /^ingest\.(lead_deletions|known_events) /.test(name)) && found;
        },
        60_000,
      );
      const before = await stored();
      const stopped = await Promise.all(workers.map((service) => groupMembers(system, service)));
      signal('SIGCONT');
      for (const [at, service] of workers.entries())
        await eventually(
          `${service} has both members again`,
          async () => {
            const members = await groupMembers(system, service);
            return members.length === 2 && members.join() !== stopped[at]?.join();
          },
          60_000,
        );
      const after = await stored();
      expect(before.flatMap((was, at) => differences(was, after[at] ?? nothingStored))).toEqual([]);
      const witnesses = Array.from({ length: 30 }, (_, n) => `witness-${String(n)}@example.com`);
      const position = await eventually('an event of each is taken', () => post(witnesses), 60_000);
      await eventually(
        'all partitions are worked on',
        async () => (await system.request(`/leads?limit=1&min_position=${position}`)).status === 200,
        60_000,
      );
      expect(await documentsOf(ids)).toEqual(named);
      for (const id of ids) expect((await system.request(`/lead/${id}/score-explain`)).status).toBe(404);
    } finally {
      signal('SIGCONT');
      expect(await watch.stop()).toEqual([]);
    }
  },
  600_000,
);
