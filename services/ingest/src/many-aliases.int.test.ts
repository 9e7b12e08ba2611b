// Very many redirects and claims in a partition: only a part is cached, and decisions are the same.
// `npm run test:chaos` runs it with three million.
import { randomUUID } from 'node:crypto';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openServicePartition } from '@lead-scoring/capability';
import { nameBasedId, records, type RecordDeclaration } from '@lead-scoring/contracts';
import {
  connectReadModel,
  databaseName,
  ensureCollections,
  uuidToBinary,
  type Collection,
  type Document,
  type ReadModel,
} from '@lead-scoring/read-model';
import { createLogger } from '@lead-scoring/service';
import { isFullSize } from '@lead-scoring/testing';
import { foldedRecord } from '@lead-scoring/testing/fold-laws';
import { endpointsFromEnvironment } from '@lead-scoring/testing/service-rig';
import fc from 'fast-check';
import { intakeCommands, type IntakeCommand } from './intake/messages.js';
import { KnownAliases } from './aliases/known-aliases.js';
import { claimId, claims, redirects } from './aliases/documents.js';
import { ingestService } from './service.js';
import { aliasOf, deleteLead, ingest, leadOf, ouId, receivedAt, serviceOptions } from './testing/builders.js';

const opened: ReadModel[] = [];
async function throwawayReadModel(): Promise<ReadModel> {
  const readModel = await connectReadModel(
    {
      uri: endpointsFromEnvironment().mongodbUri,
      database: databaseName(`test-${randomUUID().slice(0, 8)}`, 'aliases'),
    },
    { logger: createLogger({ name: 'test', level: 'silent' }) },
  );
  opened.push(readModel);
  await ensureCollections(readModel, ingestService(serviceOptions).collections);
  return readModel;
}
afterAll(async () => {
  for (const readModel of opened) {
    await readModel.patiently((db) => db.dropDatabase());
    await readModel.close();
  }
}, 120_000);

const declarationOf = (type: IntakeCommand['type']): RecordDeclaration => intakeCommands[type];

describe('with any size of the cache', () => {
  const names = ['a', 'b', 'c', 'd', 'cookie:1', 'cookie:2'];
  const action = fc.oneof(
    {
      weight: 4,
      arbitrary: fc
        .record({
          aliases: fc.uniqueArray(fc.constantFrom(...names), { minLength: 1, maxLength: 3 }),
          event_id: fc.constantFrom('1', '2', '3', '4'),
        })
        .map((event): IntakeCommand => ingest([event])),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.constantFrom(...names), fc.nat(1_000))
        .map(([name, n]): IntakeCommand =>
          deleteLead(name, { deletion_id: nameBasedId(ouId, `deletion ${String(n)}`) }),
        ),
    },
  );

  test('decisions are the same: with all documents cached, none, or the latest look-ups', async () => {
    const held = [
      undefined,
      { completeUpTo: 0, lookUps: 1 },
      { completeUpTo: 0, lookUps: 3 },
      { completeUpTo: 2, lookUps: 2 },
    ];
    const optionsAt = (index: number) => {
      const knownAliases = held[index];
      return { ...serviceOptions, ...(knownAliases && { knownAliases }), aliasShare: 4 };
    };
    const readModels = await Promise.all(held.map(throwawayReadModel));
    await fc.assert(
      fc.asyncProperty(
        fc.array(action, { minLength: 5, maxLength: 25 }),
        fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 5 }),
        async (actions, sizes) => {
          const decided = await Promise.all(
            readModels.map(async (readModel, index) => {
              const service = ingestService(optionsAt(index));
              await openServicePartition(service, readModel, 0).reset(() => undefined);
              return decideAll(openServicePartition(service, readModel, 0), actions, sizes);
            }),
          );
          for (const one of decided.slice(1)) expect(one).toEqual(decided[0]);
        },
      ),
      { numRuns: 12 },
    );
  }, 240_000);
});

/** Decides on the commands, and on those that follow from them, in batches of these sizes; returns all events. */
async function decideAll(
  state: ReturnType<typeof openServicePartition>,
  actions: readonly IntakeCommand[],
  sizes: readonly number[],
): Promise<unknown[]> {
  const queue = [...actions];
  const log: unknown[] = [];
  let offset = 0;
  for (let round = 0; queue.length > 0; round += 1) {
    if (round > 1_000) throw new Error('forwarding does not end');
    const batch = queue.splice(0, sizes[round % sizes.length] ?? 1);
    const { events, commands = [] } = await state.decide(
      batch.map(({ type, payload }, index) => foldedRecord(declarationOf(type), payload, index)),
    );
    for (const { declaration, payload } of commands)
      queue.push({ type: declaration.type, payload } as IntakeCommand);
    log.push(...events.map(({ payload }) => payload));
    await state.fold(
      events.map(({ declaration, payload }) => foldedRecord(declaration, payload, (offset += 300))),
    );
  }
  return log;
}

describe('very many', () => {
  const each = isFullSize ? 1_500_000 : 60_000;
  const bounds = isFullSize ? { ms: 10_000, bytes: 200e6 } : { ms: 10_000, bytes: 15e6 };
  let readModel: ReadModel;

  beforeAll(async () => {
    readModel = await throwawayReadModel();
    const chunk = 5_000;
    for (let from = 0; from < each; from += chunk) {
      const numbers = Array.from({ length: Math.min(chunk, each - from) }, (_, index) => from + index);
      await Promise.all([
        readModel.collection(redirects).insertMany(numbers.map(redirectAt), { ordered: false }),
        readModel.collection(claims).insertMany(numbers.map(claimAt), { ordered: false }),
      ]);
    }
  }, 1_800_000);

  const cookie = (index: number) => `cookie:${String(index)}`;
  const redirectAt = (index: number) => ({
    _id: uuidToBinary(leadOf(cookie(index))),
    ou: uuidToBinary(ouId),
    lead_id: leadOf(`person-${String(index)}`),
    ...aliasOf(cookie(index)),
    linked_at: receivedAt,
    partition: 0,
    offset: index,
  });
  const claimAt = (index: number) => ({
    _id: claimId(leadOf(`person-${String(index)}`), leadOf(cookie(index))),
    ou: uuidToBinary(ouId),
    partition: 0,
  });

  test(`a partition with ${(each * 2).toLocaleString('en')} of them opens within 10 s, in bounded memory, and decides rightly`, async () => {
    const before = heapInUse();
    const began = performance.now();
    const state = openServicePartition(ingestService(serviceOptions), readModel, 0);
    await state.caughtUp?.();
    expect(performance.now() - began).toBeLessThan(bounds.ms);
    const events = Array.from({ length: 1_000 }, (_, index) =>
      index % 2 === 0
        ? { aliases: [cookie((index * 977) % each)] }
        : { aliases: [`person-${String(index)}`, cookie(index)] },
    );
    const { events: kept, commands = [] } = await state.decide([
      foldedRecord(records.ingestEvents, ingest(events).payload, 1),
    ]);
    // All aliases are claimed already, so none is claimed again, and each event of a cookie is forwarded.
    expect(kept.map(({ declaration }) => declaration.type)).toEqual(
      Array.from({ length: 500 }, () => 'EventsIngested'),
    );
    expect(commands).toHaveLength(500);
    expect(heapInUse() - before).toBeLessThan(bounds.bytes);
  }, 60_000);

  test('a batch reads each uncached document once', async () => {
    const asked: string[] = [];
    const known = new KnownAliases(counting(readModel, asked), 0);
    await known.load();
    asked.length = 0;
    const batch = [
      ingest(
        Array.from({ length: 900 }, (_, index) => ({ aliases: [`new-${String(index)}`, cookie(index)] })),
      ),
    ];
    await known.lookUp(batch);
    expect(asked.sort()).toEqual([claims.name, redirects.name]);
    asked.length = 0;
    await known.lookUp(batch);
    expect(asked).toEqual([]);
  }, 60_000);

  test('with few documents, no batch reads any', async () => {
    const asked: string[] = [];
    const few = await throwawayReadModel();
    await few.collection(redirects).insertOne(redirectAt(1));
    await few.collection(claims).insertOne(claimAt(1));
    const known = new KnownAliases(counting(few, asked), 0);
    await known.load();
    asked.length = 0;
    const { redirects: found, claims: claimed } = await known.lookUp([
      ingest([{ aliases: [cookie(1)] }, { aliases: ['person-1', cookie(1)] }, { aliases: ['x', 'y'] }]),
    ]);
    expect(asked).toEqual([]);
    expect(found.get(leadOf(cookie(1)))?.lead_id).toBe(leadOf('person-1'));
    expect(found.get(leadOf('x'))).toBeUndefined();
    expect([...claimed.keys()]).toEqual([leadOf('person-1')]);
  }, 60_000);
});

/** @param asked receives the name of the collection of each read */
function counting(readModel: ReadModel, asked: string[]): ReadModel {
  const counted = <Stored extends Document>(collection: Collection<Stored>): Collection<Stored> =>
    new Proxy(collection, {
      get: (target, name) => {
        if (name === 'find') asked.push(target.collectionName);
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== 'function') return value;
        return (...given: unknown[]): unknown => Reflect.apply(value, target, given);
      },
    });
  return { ...readModel, collection: (declaration) => counted(readModel.collection(declaration)) };
}

function heapInUse(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}
