// Faults of a real PostgreSQL under a real FerretDB are never reported as the fault of a document. Once the fault is over, the
// repeated call succeeds.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '@lead-scoring/platform/waiting';
import {
  connectReadModel,
  createGuardedWriter,
  defineCollection,
  ensureCollections,
  insertMissing,
  isRetriable,
  type GuardedDocument,
  type ReadModel,
} from '@lead-scoring/read-model';
import { createLogger } from '@lead-scoring/service';
import { isFullSize } from './full-size.js';
import {
  postgresqlOf,
  startDatabaseOnSmallDisk,
  type OwnPostgresql,
  type SmallDisk,
} from './own-postgresql.js';

interface Thing extends GuardedDocument {
  _id: number;
  text: string;
}
const things = defineCollection<Thing>({ name: 'things', indexes: [{ key: { text: 1 } }] });
interface Scored extends GuardedDocument {
  _id: number;
  ou: string;
  score: number;
}
const scored = defineCollection<Scored>({ name: 'scored', indexes: [{ key: { ou: 1, score: -1, _id: 1 } }] });

let disk: SmallDisk;
let postgresql: OwnPostgresql;
let readModel: ReadModel;
beforeAll(async () => {
  disk = await startDatabaseOnSmallDisk(600);
  postgresql = postgresqlOf(disk.database);
  readModel = await connectReadModel(
    { uri: disk.database.endpoints.mongodbUri, database: 'faults' },
    { logger: createLogger({ name: 'test', level: 'silent' }) },
  );
  await ensureCollections(readModel, [things, scored]);
}, 240_000);
afterAll(async () => {
  await readModel.close();
  await disk.stop();
}, 60_000);

/** Documents in the order of their ids, as every writer sorts them. */
const documents = (from: number, offset: number): Thing[] =>
  Array.from({ length: 500 }, (_, index) => ({
    _id: from + index,
    partition: 0,
    offset,
    text: String(index).padEnd(2_000, 'x'),
  }));

let next = 0;
/** Every kind of read and write of the read models. */
const operations: { [name: string]: () => Promise<unknown> } = {
  'a guarded write of new documents': () =>
    createGuardedWriter(readModel).write(readModel.collection(things), documents((next += 1_000), 1), {
      isNew: () => true,
    }),
  'a guarded write of existing documents': () =>
    createGuardedWriter(readModel).write(readModel.collection(things), documents(0, (next += 1))),
  'an insert of missing documents': () =>
    insertMissing(readModel.collection(things), documents((next += 1_000), 1)),
  'a deletion': () => readModel.collection(things).deleteMany({ _id: { $gt: 1_000_000 } }),
  'a replacement': () =>
    readModel
      .collection(things)
      .replaceOne({ _id: -1 }, { partition: 1, offset: 1, text: '' }, { upsert: true }),
  'a find by many ids': () =>
    readModel
      .collection(things)
      .find({ text: { $gt: '1' } })
      .toArray(),
  'a count': () => readModel.collection(things).countDocuments({ partition: 0 }),
};

/** Repeats all operations during the fault, until `isOver`; returns their errors. */
async function failuresDuring(fault: () => Promise<unknown>, isOver: () => boolean): Promise<unknown[]> {
  const failures: unknown[] = [];
  const working = Object.values(operations).map(async (operation) => {
    do await operation().catch((error: unknown) => failures.push(error));
    while (!isOver());
  });
  await fault();
  await Promise.all(working);
  return failures;
}

async function holdsAgainst(fault: () => Promise<unknown>, atLeast = 1): Promise<void> {
  let over = false;
  const failures = await failuresDuring(
    () => fault().finally(() => (over = true)),
    () => over,
  );
  expect(failures.filter((error) => !isRetriable(error))).toEqual([]);
  expect(failures.length).toBeGreaterThanOrEqual(atLeast);
  for (const [name, operation] of Object.entries(operations))
    await eventually(
      `${name} goes through again`,
      () =>
        operation().then(
          () => true,
          () => false,
        ),
      60_000,
    );
}

const times = async (count: number, work: () => Promise<unknown>) => {
  for (let done = 0; done < count; done += 1) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    await work();
  }
};

test(
  'a statement timeout',
  () =>
    holdsAgainst(async () => {
      // Open connections keep the setting with which they were opened.
      await postgresql.sql(`ALTER ROLE postgres SET statement_timeout = '1ms'`);
      try {
        await times(5, () => postgresql.endConnections());
      } finally {
        await postgresql.sql('ALTER ROLE postgres RESET statement_timeout');
      }
      await postgresql.endConnections();
    }),
  120_000,
);

test(
  'connections that an administrator ends',
  () => holdsAgainst(() => times(10, () => postgresql.endConnections())),
  120_000,
);

test(
  'PostgreSQL that is killed',
  () => holdsAgainst(() => times(isFullSize ? 10 : 2, () => postgresql.kill())),
  180_000,
);

test('an index whose pages were split before PostgreSQL was killed is intact', async () => {
  const leads = readModel.collection(scored);
  const count = 5_000;
  const some = (from: number): Scored[] =>
    Array.from({ length: count }, (_, index) => ({
      _id: from + index,
      partition: 0,
      offset: 1,
      ou: 'ou',
      score: (index * 7_919) % count,
    }));
  await insertMissing(leads, some(0));
  // A finished WAL segment is on disk, and with it all acknowledged data.
  await postgresql.sql('SELECT pg_switch_wal()');
  await postgresql.kill();
  const add = () => insertMissing(leads, some(count));
  await eventually('it is written to again', () => add().then(() => true), 60_000);
  const inOrder = await leads.find({ ou: 'ou' }).sort({ score: -1, _id: 1 }).toArray();
  expect(inOrder.map(({ score }) => score)).toEqual(
    Array.from({ length: 2 * count }, (_, index) => count - 1 - Math.floor(index / 2)),
  );
}, 120_000);

// At full size only: filling the disk takes most of a minute.
const testFullDisk = isFullSize ? test : test.skip;

testFullDisk(
  'a disk that is full',
  () =>
    holdsAgainst(async () => {
      await disk.fill();
      const full = async () => {
        try {
          for (;;) await operations['a guarded write of new documents']?.();
        } catch (error) {
          return error;
        }
      };
      expect(String(await full())).toMatch(/No space left|not available/);
      disk.free();
    }),
  180_000,
);
