// The files of a backup: records are read as they were written, with their offsets, and a folder with anything else is refused.
import { appendFile, mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { RawRecord } from '../kafka/record-batch.js';
import type { RegistryClient } from '../registry-client.js';
import {
  checkFiles,
  fileOf,
  readManifest,
  savedTopics,
  writeManifest,
  type BackupManifest,
} from './manifest.js';
import { readPartitionFile, summaryOf, writePartitionFile } from './partition-file.js';
import { registerSaved, SchemaIds, withNewId } from './saved-schemas.js';

let folder: string;
let files = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'backup-files-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const newFile = () => join(folder, `${files++}.gz`);

/** One list after the other, as fetches give them. */
async function* given(...lists: RawRecord[][]): AsyncGenerator<RawRecord[], void> {
  for (const list of lists) yield await Promise.resolve(list);
}

async function allOf(file: string): Promise<RawRecord[]> {
  const found: RawRecord[] = [];
  for await (const records of readPartitionFile(file)) found.push(...records);
  return found;
}

function recordAt(offset: bigint, value = `{"n":${offset}}`): RawRecord {
  return {
    offset,
    timestamp: 1_700_000_000_000 + Number(offset),
    key: Buffer.from('key'),
    value: Buffer.from(value),
    headers: { type: Buffer.from('EventsIngested') },
  };
}

const bytes = fc.uint8Array({ maxLength: 40 }).map((array) => Buffer.from(array));
const rawRecords = fc
  .array(
    fc.record({
      gap: fc.nat(3),
      timestamp: fc.integer({ min: 0, max: 2_000_000_000_000 }),
      key: fc.option(bytes),
      value: fc.option(bytes),
      header: fc.option(bytes),
    }),
    { maxLength: 30 },
  )
  .map((made) => {
    let offset = -1n;
    return made.map(({ gap, timestamp, key, value, header }): RawRecord => {
      offset += BigInt(gap + 1);
      return { offset, timestamp, key, value, headers: { h: header } };
    });
  });

test('law: every record is read as it was written, at its offset, gaps included', async () => {
  await fc.assert(
    fc.asyncProperty(rawRecords, fc.nat(30), async (records, cut) => {
      const file = newFile();
      const written = await writePartitionFile(file, given(records.slice(0, cut), records.slice(cut)));
      expect(written.records).toBe(records.length);
      expect(await summaryOf(file)).toEqual({ bytes: written.bytes, sha256: written.sha256 });
      expect(await allOf(file)).toEqual(records);
    }),
  );
});

test('a file that exists is not overwritten, and one that ends early is not taken for whole', async () => {
  const file = newFile();
  const records = Array.from({ length: 500 }, (_, n) => recordAt(BigInt(n)));
  const { bytes: size } = await writePartitionFile(file, given(records));
  await expect(writePartitionFile(file, given(records))).rejects.toMatchObject({ code: 'EEXIST' });
  await truncate(file, size - 20);
  await expect(allOf(file)).rejects.toThrow();
});

async function wholeBackup(): Promise<{ path: string; manifest: BackupManifest }> {
  const path = await mkdtemp(join(folder, 'whole-'));
  const topics: BackupManifest['topics'] = [];
  for (const topic of savedTopics) {
    const place = { topic, partition: 0 };
    const written = await writePartitionFile(fileOf(path, place), given([recordAt(3n)]));
    topics.push({ ...place, first: 0, end: 5, ...written });
  }
  const manifest: BackupManifest = {
    format: 1,
    taken_at: '2026-01-31T09:30:00.000Z',
    namespace: 'test',
    partitions: 1,
    topics,
    schemas: [],
    groups: [],
  };
  await writeManifest(path, manifest);
  return { path, manifest };
}

test('a whole folder is read, and its files are as they were written', async () => {
  const { path, manifest } = await wholeBackup();
  expect(await readManifest(path)).toEqual(manifest);
  let checked = 0;
  await checkFiles(path, manifest, () => (checked += 1));
  expect(checked).toBe(savedTopics.length);
});

test('a folder that was not finished, a damaged one, and one of a later version are refused by name', async () => {
  await expect(readManifest(folder)).rejects.toThrow('was interrupted');
  const { path, manifest } = await wholeBackup();
  const file = fileOf(path, { topic: 'scoring.events', partition: 0 });
  await appendFile(file, 'x');
  await expect(checkFiles(path, manifest, () => undefined)).rejects.toThrow(
    `${file} is missing or not as it was written`,
  );
  await rm(file);
  await expect(checkFiles(path, manifest, () => undefined)).rejects.toThrow(file);

  const text = await readFile(join(path, 'manifest.json'), 'utf8');
  const changed = async (change: (found: Record<string, unknown>) => void) => {
    const found = JSON.parse(text) as Record<string, unknown>;
    change(found);
    await writeFile(join(path, 'manifest.json'), JSON.stringify(found));
    return readManifest(path);
  };
  await expect(changed((found) => (found['format'] = 2))).rejects.toThrow('made by a later version');
  await expect(changed((found) => (found['partitions'] = 2))).rejects.toThrow('not as it was written');
  await expect(
    changed((found) => ((found['topics'] as { first: number }[])[0] = { first: -1 })),
  ).rejects.toThrow('not as it was written');
  await writeFile(join(path, 'manifest.json'), text.slice(0, 50));
  await expect(readManifest(path)).rejects.toThrow('not as it was written');
});

/** A registry whose ids begin at a number. */
function registryFrom(first: number): { client: RegistryClient; schemas: Map<number, string> } {
  const schemas = new Map<number, string>();
  const ask = (method: string, path: string, body?: unknown) => {
    const id = /\/schemas\/ids\/(\d+)/.exec(path)?.[1];
    if (id !== undefined) {
      const schema = schemas.get(Number(id));
      return { status: schema === undefined ? 404 : 200, body: { schema } };
    }
    if (method === 'PUT') return { status: 200, body: {} };
    const { schema } = body as { schema: string };
    const known = [...schemas].find(([, one]) => one === schema)?.[0];
    if (!path.endsWith('/versions')) return { status: known === undefined ? 404 : 200, body: { id: known } };
    const made = first + schemas.size;
    schemas.set(made, schema);
    return { status: 200, body: { id: made } };
  };
  const client = { ask: (...request: Parameters<typeof ask>) => Promise.resolve(ask(...request)) };
  return { client: client as unknown as RegistryClient, schemas };
}

function registered(offset: bigint, id: number): RawRecord {
  const value = Buffer.from('\0____{}');
  value.writeInt32BE(id, 1);
  return { ...recordAt(offset), value };
}

test('records get the ids that another registry gives their schemas; others stay as they are', async () => {
  const old = registryFrom(7);
  old.schemas.set(7, '{"title":"one"}').set(9, '{"title":"two"}');
  const ids = new SchemaIds();
  const records = [registered(0n, 9), registered(1n, 7), registered(2n, 8), recordAt(3n, 'plain')];
  for (const record of records) ids.take('ingest.events', record);
  const saved = await ids.fetch(old.client);
  expect(saved).toEqual([
    { id: 7, schema: '{"title":"one"}', subjects: ['ingest.events-EventsIngested'] },
    { id: 9, schema: '{"title":"two"}', subjects: ['ingest.events-EventsIngested'] },
  ]);
  const other = registryFrom(1);
  const newIds = await registerSaved(other.client, 'test', saved);
  expect(records.map((record) => withNewId(record, newIds).value?.readInt32BE(1))).toEqual([
    2,
    1,
    8,
    Buffer.from('plain').readInt32BE(1),
  ]);
  // The records that were read are not changed.
  expect(records[0]?.value?.readInt32BE(1)).toBe(9);
});
