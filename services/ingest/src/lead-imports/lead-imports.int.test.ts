// Uploaded tables and their imports on real servers: whose they are, how long they are kept, and what counts as a lead that was there.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createHash, randomUUID } from 'node:crypto';
import { jobIdOf, leadImportMapping, records, type routeDeclarations } from '@lead-scoring/contracts';
import { outgoing } from '@lead-scoring/event-log';
import { eventually } from '@lead-scoring/platform/waiting';
import { deleteLead, ingest, leadOf, otherOuId, ouId } from '../testing/builders.js';
import { startRig, type Rig } from '../testing/rig.js';
import { eventRecords } from '../events/documents.js';
import { leadFileRows, leadFiles } from './documents.js';
import { LeadFileStore } from './file-store.js';
import { ImportMemory } from './import-memory.js';

let rig: Rig;
let stopProcessor: () => Promise<void>;
beforeAll(async () => {
  rig = await startRig({ partitions: 2, processors: 0 });
  stopProcessor = await rig.startProcessor();
}, 120_000);
afterAll(() => rig.stop(), 60_000);

const day = 24 * 3_600_000;
const store = (after = 0) => new LeadFileStore(rig.readModel, () => new Date(Date.now() + after));
const byEmail = leadImportMapping.parse({
  primary_identifier: { column: 'Email', kind: 'email' },
  field_mappings: [{ column: 'Name', field: 'name' }],
});

async function upload(text: string, ou = ouId): Promise<routeDeclarations.LeadImportPreview> {
  const [uploadId, file_id] = [randomUUID(), randomUUID()];
  const bytes = Buffer.from(text);
  await store().putPart(uploadId, 0, bytes);
  const digest = createHash('sha256').update(bytes).digest('hex');
  const { status, body } = await rig.post(
    `/internal/lead-files/${uploadId}/preview`,
    { file_id, parts: 1, is_json: false, digest },
    { ou },
  );
  expect({ status, body }).toMatchObject({ status: 200 });
  return body as unknown as routeDeclarations.LeadImportPreview;
}

async function start(file_id: string, more: Partial<records.StartLeadImport> = {}) {
  const job_id = randomUUID();
  const requested_at = new Date().toISOString();
  const payload = { job_id, ou_id: ouId, file_id, mapping: byEmail, requested_at, ...more };
  const reply = await rig.ask(outgoing(records.startLeadImport, { key: job_id, payload }));
  return { job_id, reply };
}

const endOf = (job_id: string) =>
  eventually('the import has ended', async () => {
    const { body } = await rig.get(`/jobs/${jobIdOf('ingest', job_id)}`);
    return body.status !== 'running' && body;
  });
const imported = async (text: string, more: Partial<records.StartLeadImport> = {}) =>
  endOf((await start((await upload(text)).file_id, more)).job_id);

test('a table is its unit’s alone, and is gone after a day', async () => {
  const { file_id } = await upload('Email,Name\na@unit.example,A\n');
  expect(await store().file(otherOuId, file_id)).toBeNull();
  expect((await start(file_id, { ou_id: otherOuId })).reply).toMatchObject({
    outcome: 'rejected',
    code: 'lead_file_not_found',
  });
  expect(await store(day - 60_000).file(ouId, file_id)).not.toBeNull();
  expect(await store(day + 60_000).file(ouId, file_id)).toBeNull();
  expect(await store().kept(otherOuId)).toEqual({ files: 0, bytes: 0 });
  expect(await store().kept(ouId)).toEqual({ files: 1, bytes: 28 });
});

test('a start brings in as many rows as the table has, and none where the job was begun or the table is not there', async () => {
  const { file_id } = await upload('Email,Name\nr1@unit.example,A\nr2@unit.example,B\n');
  const rowsOf = async (job_id: string, { file = file_id, ou = ouId } = {}) =>
    (await rig.get(`/internal/lead-files/${file}/rows?job_id=${job_id}`, { ou })).body;
  expect(await rowsOf(randomUUID())).toEqual({ rows: 2 });
  expect(await rowsOf(randomUUID(), { ou: otherOuId })).toEqual({ rows: 0 });
  expect(await rowsOf(randomUUID(), { file: randomUUID() })).toEqual({ rows: 0 });
  const { job_id } = await start(file_id);
  expect(await rowsOf(job_id)).toEqual({ rows: 0 });
  await endOf(job_id);
});

test('a table that is being imported when its day ends is kept for another', async () => {
  const { file_id } = await upload('Email,Name\nb@unit.example,B\n');
  const file = await store().file(ouId, file_id);
  if (!file) throw new Error('the file is not there');
  await store(day - 60_000).keep(file);
  expect(await store(day + 60_000).file(ouId, file_id)).not.toBeNull();
  const rows = await rig.readModel.collection(leadFileRows).find().toArray();
  const kept = rows.filter(({ expires_at }) => expires_at.getTime() > Date.now() + day + 60_000);
  expect(kept).toHaveLength(1);
});

test('a rebuild leaves uploaded tables as they are', async () => {
  const { file_id } = await upload('Email,Name\nc@unit.example,C\n');
  await rig.rebuild();
  expect(await endOf((await start(file_id)).job_id)).toMatchObject({ status: 'completed', created: 1 });
}, 60_000);

test('an import whose table is gone fails, and says what to do', async () => {
  const { file_id } = await upload('Email,Name\nd@unit.example,D\n');
  const { upload: uploadId } = (await store().file(ouId, file_id)) ?? { upload: '' };
  await store().dropRows(uploadId);
  const job = await endOf((await start(file_id)).job_id);
  expect(job).toMatchObject({ status: 'failed', errors: [{ code: 'lead_file_not_found' }] });
  expect(String((job.errors as { message: string }[])[0]?.message)).toContain('Upload it again');
});

test('a row of a lead that was there updates it, also under an alias that was linked to it', async () => {
  await rig.take([ingest([{ aliases: ['here', 'external_id:7'] }])]);
  await eventually('the alias is linked', async () => {
    const { status } = await rig.get('/lead-by-alias?alias_kind=external_id&alias=7');
    return status === 200;
  });
  expect(
    await imported('Email,Name\nhere@example.com,A\nnew@example.com,B\nNEW@example.com,C\n'),
  ).toMatchObject({
    created: 1,
    updated: 2,
  });
  const mapping = leadImportMapping.parse({ primary_identifier: { column: 'Id', kind: 'external_id' } });
  expect(await imported('Id\n7\n8\n', { mapping })).toMatchObject({ created: 1, updated: 1 });
  expect(await imported('Id\n7\n8\n', { mapping })).toMatchObject({ skipped: 2, created: 0, updated: 0 });
});

test('a lead that was deleted does not come back by the import that brought it in', async () => {
  const table = 'Email,Name\nforgotten@example.com,F\n';
  expect(await imported(table)).toMatchObject({ created: 1 });
  const { payload } = deleteLead('forgotten');
  expect(await rig.request({ type: 'DeleteLead', payload })).toMatchObject({ outcome: 'done' });
  expect(await imported(table)).toMatchObject({ created: 0, skipped: 1 });
  expect((await rig.get(`/events/${leadOf('forgotten')}`)).status).toBe(404);
});

test('rows of one lead in different chunks are counted as one lead, and a new owner goes on where the last one was', async () => {
  const rows = Array.from(
    { length: 14_000 },
    (_, row) => `many${String(row % 4_400)}@example.com,${String(row)}`,
  );
  const { file_id } = await upload(`Email,Name\n${rows.join('\n')}\n`);
  const { job_id } = await start(file_id);
  await eventually('the import is on its way', async () => {
    const { body } = await rig.get(`/jobs/${jobIdOf('ingest', job_id)}`);
    return Number(body.done) > 0;
  });
  await stopProcessor();
  stopProcessor = await rig.startProcessor();
  expect(await endOf(job_id)).toMatchObject({
    status: 'completed',
    done: 14_000,
    created: 4_400,
    updated: 9_600,
  });
  expect(await rig.readModel.collection(leadFiles).countDocuments({ upload: file_id })).toBe(0);
}, 60_000);

test('leads are read at once where that costs less than looking each up, and rows are counted alike', async () => {
  await rig.take([ingest([{ aliases: ['known'] }])]);
  await imported('Email,Name\nother@example.com,A\n');
  const records = await rig.readModel.collection(eventRecords).countDocuments();
  expect(records).toBeGreaterThan(1_000);
  const readBeside = (rows: number) =>
    new ImportMemory().leads(rig.readModel, { chunk: 0, rows, signal: new AbortController().signal });
  expect(await readBeside(Math.floor((records - 1) / 60))).toBeNull();
  const there = await readBeside(Math.ceil(records / 60));
  expect(['known', 'other', 'unknown'].map((name) => there?.isStored(leadOf(name)))).toEqual([
    true,
    true,
    false,
  ]);
  // Each lead of this table is looked up.
  const few = 'Email,Name\nknown@example.com,A\nthird@example.com,B\nthird@example.com,C\n';
  expect(await imported(few)).toMatchObject({ created: 1, updated: 2 });
});

test('the leads are read again where another process has imported chunks in between', async () => {
  const memory = new ImportMemory();
  const signal = new AbortController().signal;
  const knows = async (chunk: number) =>
    (await memory.leads(rig.readModel, { chunk, rows: 100_000, signal }))?.isStored(leadOf('elsewhere'));
  expect(await knows(3)).toBe(false);
  await imported('Email,Name\nelsewhere@example.com,A\n');
  expect([await knows(3), await knows(4)]).toEqual([false, false]);
  expect(await knows(6)).toBe(true);
});
