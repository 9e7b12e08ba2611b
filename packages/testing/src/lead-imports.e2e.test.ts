// Imports of leads, as a person makes them: a table is uploaded, looked at, mapped and imported; also while services are killed.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { leadIdOf, type routeDeclarations, type SuggestedLeadImportMapping } from '@lead-scoring/contracts';
import { eventually } from '@lead-scoring/platform/waiting';
import { ZipFile } from 'yazl';
import { startTestSystem, type TestSystem } from './test-system.js';

type Preview = routeDeclarations.LeadImportPreview;
type Job = routeDeclarations.Job;

let system: TestSystem;

beforeAll(async () => {
  system = await startTestSystem();
  const rule = await system.request('/engagement-scoring/rules', {
    body: { event_type: 'Lead Imported', weight: 5 },
  });
  expect(rule.status).toBe(201);
  const channel = await system.request<{ id: string }>('/notification-channels', {
    body: { name: 'Sales', type: 'slack', config: { channel_id: 'C0000000001', channel_name: '#sales' } },
  });
  const trigger = await system.request('/triggers', {
    body: { name: 'Any points', score_threshold: 1, channel_ids: [channel.body.id] },
  });
  expect(trigger.status).toBe(201);
}, 120_000);
afterAll(() => system.stop(), 60_000);

async function upload(
  body: string | Uint8Array<ArrayBuffer> | FormData,
  type?: string,
  headers: Record<string, string> = {},
) {
  const response = await fetch(`${system.url}/leads/import/preview`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${system.token}`,
      ...(type !== undefined && { 'content-type': type }),
      ...headers,
    },
    body,
    duplex: 'half',
    signal: AbortSignal.timeout(120_000),
  });
  return {
    status: response.status,
    body: (await response.json()) as Preview & { detail: string; code: string },
  };
}

async function start(file: Pick<Preview, 'file_id'>, mapping: SuggestedLeadImportMapping): Promise<string> {
  const { status, body } = await system.request<{ job_id: string }>('/leads/import/start', {
    body: { file_id: file.file_id, ...mapping },
  });
  expect({ status, body }).toMatchObject({ status: 202 });
  return body.job_id;
}

const jobOf = async (id: string) => (await system.request<Job>(`/jobs/${id}`)).body;
const endOf = (id: string) =>
  eventually(
    'the import has ended',
    async () => {
      const job = await jobOf(id);
      return job.status !== 'running' && job;
    },
    120_000,
  );

async function eventsOf(type: string): Promise<number> {
  const { body } = await system.request<{ total: number }>(
    `/events?limit=1&event_type=${encodeURIComponent(type)}`,
  );
  return body.total;
}

async function leadNamed(email: string) {
  const id = leadIdOf(system.ouId, 'email', email);
  return eventually(`${email} is a lead`, async () => {
    const { body } = await system.request<{ data: Record<string, unknown>[] }>(`/leads/search?q=${email}`);
    return body.data.find((lead) => lead['id'] === id);
  });
}

describe('a table of a spreadsheet', () => {
  const table = [
    'Kontakt E-Mail;Full Name;Company;Customer ID;Last Visit;Notes',
    'juergen@example.com;Jürgen Müßig;Würth;K-1;31.01.2026;"eins; zwei"',
    'zoe@example.com;Zoë Ångström;N/A;K-2;01.02.2026;',
    ';Nobody;;K-3;;',
  ].join('\r\n');
  let preview: Preview;
  let job: Job;

  beforeAll(async () => {
    const answer = await upload(new Uint8Array(Buffer.from(table, 'latin1')), 'text/csv; charset=utf-8');
    expect(answer).toMatchObject({ status: 200 });
    preview = answer.body;
    job = await endOf(await start(preview, preview.suggested_mapping));
  }, 120_000);

  test('is understood without a word: its encoding, its delimiter, and what its columns mean', () => {
    expect(preview).toMatchObject({
      headers: ['Kontakt E-Mail', 'Full Name', 'Company', 'Customer ID', 'Last Visit', 'Notes'],
      row_count: 3,
      delimiter: ';',
      encoding: 'windows-1252',
      suggested_mapping: {
        primary_identifier: { column: 'Customer ID', kind: 'external_id' },
        alias_mappings: [{ column: 'Kontakt E-Mail', kind: 'email' }],
        event_mappings: [{ event_type: 'Visit', time: { column: 'Last Visit', format: 'day_first' } }],
        ignore_values: ['N/A'],
      },
    });
    expect(preview.sample_rows[0]?.slice(0, 3)).toEqual(['juergen@example.com', 'Jürgen Müßig', 'Würth']);
    expect(preview.problems.map(({ code }) => code)).toEqual(['encoding_guessed']);
    expect(Date.parse(preview.expires_at) - Date.now()).toBeGreaterThan(23 * 3_600_000);
  });

  test('makes leads with their fields, aliases and events', async () => {
    expect(job).toMatchObject({
      kind: 'lead-import',
      status: 'completed',
      total: 3,
      done: 3,
      created: 3,
      updated: 0,
      skipped: 0,
      failed: 0,
      errors: [],
    });
    const found = await eventually('the alias is linked', async () => {
      const { status, body } = await system.request<{ lead_id: string }>(
        '/lead-by-alias?alias_kind=email&alias=juergen%40example.com',
      );
      return status === 200 && body.lead_id;
    });
    expect(found).toBe(leadIdOf(system.ouId, 'external_id', 'K-1'));
    const lead = await eventually('the lead is scored', async () => {
      const { body } = await system.request<{ data: { id: string; score: number }[] }>(
        '/leads/search?q=Jürgen',
      );
      return body.data.find(({ id }) => id === found);
    });
    expect(lead).toMatchObject({ name: 'Jürgen Müßig', company: 'Würth', score: 5 });
    const { body: events } = await system.request<{ data: { event_type: string; timestamp: string }[] }>(
      `/events/${found}`,
    );
    expect(events.data.map(({ event_type }) => event_type)).toEqual(['Lead Imported', 'Visit']);
    expect(events.data[1]?.timestamp).toBe('2026-01-31T00:00:00.000Z');
  });

  test('is gone when it is imported', async () => {
    const again = await system.request<{ code: string }>('/leads/import/start', {
      body: { file_id: preview.file_id, ...preview.suggested_mapping },
    });
    expect(again).toMatchObject({ status: 404, body: { code: 'lead_file_not_found' } });
  });
});

describe('a large table', () => {
  const rows = 12_000;
  const lines = Array.from(
    { length: rows },
    (_, row) => `person${String(row)}@large.example,Person ${String(row)},${String(row % 50)}\n`,
  );
  const body = () => new Uint8Array(gzipSync(`Email,Name,Size\n${lines.join('')}`));
  const send = () => upload(body(), 'text/csv', { 'content-encoding': 'gzip' });

  test('is imported once when ingest is killed in the middle, and not again when it is sent again', async () => {
    const before = await eventsOf('Lead Imported');
    const { body: preview } = await send();
    expect(preview).toMatchObject({ row_count: rows, encoding: 'utf-8', delimiter: ',', problems: [] });
    const id = await start(preview, preview.suggested_mapping);
    for (const share of [0.2, 0.6]) {
      await eventually('the import is on its way', async () => (await jobOf(id)).done > share * rows, 60_000);
      system.service('ingest').process.kill('SIGKILL');
      await eventually(
        'ingest answers again',
        async () => (await system.request(`/jobs/${id}`)).status === 200,
        60_000,
      );
    }
    expect(await endOf(id)).toMatchObject({
      status: 'completed',
      done: rows,
      failed: 0,
      created: rows,
      updated: 0,
      skipped: 0,
    });
    expect((await eventsOf('Lead Imported')) - before).toBe(rows);

    const { body: again } = await send();
    expect(await endOf(await start(again, again.suggested_mapping))).toMatchObject({
      status: 'completed',
      created: 0,
      updated: 0,
      skipped: rows,
    });
    expect((await eventsOf('Lead Imported')) - before).toBe(rows);

    const { body: other } = await send();
    const corrected = { ...other.suggested_mapping, field_mappings: [{ column: 'Name', field: 'company' }] };
    expect(await endOf(await start(other, corrected))).toMatchObject({ updated: rows, created: 0 });
  }, 300_000);

  test('ends when it is cancelled, and what is in stays', async () => {
    // Five times as many rows: the import must not end before it is cancelled, on a busy machine either.
    const more = ['c', 'd', 'e', 'f', 'g'].map((letter) => lines.map((line) => letter + line).join(''));
    const { body: preview } = await upload(`Email\n${more.join('')}`, 'text/csv');
    const id = await start(preview, { ...preview.suggested_mapping, field_mappings: [] });
    await eventually('the import is on its way', async () => (await jobOf(id)).done > 0);
    const { body: cancelled } = await system.request<Job>(`/jobs/${id}/cancel`, { method: 'POST' });
    expect(cancelled.status).toBe('cancelled');
    expect(cancelled.done).toBeLessThan(5 * rows);
  });
});

describe('rows that cannot be imported', () => {
  let job: Job;

  beforeAll(async () => {
    const rows = [
      'fine@rows.example,a',
      'no address,=1+1',
      ',b',
      'fine@rows.example,c',
      'late@rows.example,d,e',
    ];
    const { body: preview } = await upload(`Email,Name\n${rows.join('\n')}\n`, 'text/csv');
    expect(preview.problems).toContainEqual(expect.objectContaining({ code: 'row_too_wide', row: 6 }));
    job = await endOf(
      await start(preview, {
        primary_identifier: { column: 'Email', kind: 'email' },
        alias_mappings: [],
        field_mappings: [{ column: 'Name', field: 'name' }],
        event_mappings: [],
        ignore_values: [],
      }),
    );
  }, 60_000);

  test('are counted and named, and the others are in', async () => {
    expect(job).toMatchObject({ total: 5, done: 5, failed: 3, created: 1, updated: 1 });
    expect(job.errors.map(({ row, message }) => [row, message])).toEqual([
      [3, 'Email must be an e-mail address'],
      [4, 'Email is empty, so that the lead has no name'],
      [6, 'has 3 cells where the header has 2'],
    ]);
    expect(await leadNamed('fine@rows.example')).toMatchObject({ name: 'c' });
  });

  test('are a file that can be corrected, in which nothing runs', async () => {
    const response = await fetch(`${system.url}/jobs/${job.id}/errors`, {
      headers: { authorization: `Bearer ${system.token}` },
    });
    expect(response.headers.get('content-type')).toContain('text/csv');
    expect((await response.text()).split('\r\n').slice(0, 2)).toEqual([
      'row,code,message,Email,Name',
      "3,invalid_row,Email must be an e-mail address,no address,'=1+1",
    ]);
  });
});

describe('an upload', () => {
  async function workbook(): Promise<Buffer> {
    const zip = new ZipFile();
    const cell = (text: string) => `<c t="inlineStr"><is><t>${text}</t></is></c>`;
    const files = {
      'xl/workbook.xml':
        '<workbook xmlns:r="r"><sheets><sheet name="Leads" sheetId="1" r:id="rId1"/></sheets></workbook>',
      'xl/worksheets/sheet1.xml': `<worksheet><sheetData><row>${cell('Email')}${cell('Name')}</row><row>${cell('ada@book.example')}${cell('Ada')}</row></sheetData></worksheet>`,
    };
    for (const [name, content] of Object.entries(files)) zip.addBuffer(Buffer.from(content), name);
    zip.end();
    return buffer(zip.outputStream);
  }
  const table = {
    headers: ['Email', 'Name'],
    row_count: 1,
    sample_rows: [['ada@book.example', 'Ada']],
    suggested_mapping: { primary_identifier: { column: 'Email', kind: 'email' } },
  };

  test('may be a workbook, the file of a form, or rows in JSON', async () => {
    const sheet = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
    const bytes = await workbook();
    expect(await upload(new Uint8Array(bytes), sheet)).toMatchObject({
      status: 200,
      body: { ...table, delimiter: null, encoding: null },
    });
    const form = new FormData();
    form.set('comment', 'from the fair');
    form.set('file', new Blob([new Uint8Array(bytes)]), 'leads.xlsx');
    expect(await upload(form)).toMatchObject({ status: 200, body: table });
    const rows = JSON.stringify({ rows: [{ Email: 'ada@book.example', Name: 'Ada' }] });
    expect(await upload(rows, 'application/json')).toMatchObject({ status: 200, body: table });
  });

  test.each<[string, string | Uint8Array<ArrayBuffer>, string]>([
    ['without a byte', '', 'empty'],
    ['without a row', '\n\n', 'no rows'],
    ['with a quote that never closes', 'Email\n"ada@example.com\n'.padEnd(50_000, 'x\n'), 'never closed'],
    ['with an endless line', `Email\n${'x'.repeat(3_000_000)}`, 'Row 2'],
    ['that is a picture', Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0, 0, 0, 13, 0, 0, 0]), 'neither a text'],
    [
      'that is an archive of nothing',
      Uint8Array.from(Buffer.from('PK\u0003\u0004nothing', 'latin1')),
      'cannot be read',
    ],
  ])('%s is refused, with what to do', async (_, body, detail) => {
    expect(await upload(body, 'text/csv')).toMatchObject({
      status: 400,
      body: { code: 'unreadable_file', detail: expect.stringContaining(detail) as unknown },
    });
  });

  test('of a form without a file is refused', async () => {
    const form = new FormData();
    form.set('file', 'a text');
    expect(await upload(form)).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
  });

  test('with an Idempotency-Key is one file however often it comes, and no other file', async () => {
    const key = { 'idempotency-key': 'list-of-the-fair' };
    const [first, second] = await Promise.all([
      upload('Email\na@fair.example\n', 'text/csv', key),
      upload('Email\na@fair.example\n', 'text/csv', key),
    ]);
    expect(first.status).toBe(200);
    expect(second).toEqual(first);
    expect(await upload('Email\nb@fair.example\n', 'text/csv', key)).toMatchObject({ status: 422 });
  });

  test('and another one at the same time are two files', async () => {
    const sent = ['x', 'y'].map((name) => upload(`Email\n${name}@two.example\n`.repeat(1_000), 'text/csv'));
    const previews = (await Promise.all(sent)).map(({ body }) => body);
    expect(previews[0]?.file_id).not.toBe(previews[1]?.file_id);
    const jobs = await Promise.all(
      previews.map(async (preview) =>
        endOf(
          await start(preview, {
            ...preview.suggested_mapping,
            primary_identifier: { column: 'Email', kind: 'email' },
            field_mappings: [],
          }),
        ),
      ),
    );
    expect(jobs.map(({ created }) => created)).toEqual([1, 1]);
  });
});

test('a mapping of columns that the table does not have is refused, and the columns are named', async () => {
  const { body: preview } = await upload('Email\na@b.example\n', 'text/csv');
  const answer = await system.request<{ detail: string }>('/leads/import/start', {
    body: { file_id: preview.file_id, primary_identifier: { column: 'E-Mail', kind: 'email' } },
  });
  expect(answer).toMatchObject({
    status: 400,
    body: { code: 'invalid_request', detail: expect.stringContaining('Its columns are: Email') as unknown },
  });
});

test('the imports of the unit are listed, newest first, and no other jobs', async () => {
  const { body: all } = await system.request<{ data: Job[]; total: number }>('/leads/import/jobs?limit=3');
  expect(all.total).toBeGreaterThan(3);
  expect(all.data.map(({ kind }) => kind)).toEqual(Array(3).fill('lead-import'));
  expect(all.data[0]).toHaveProperty('created');
  const times = all.data.map(({ started_at }) => started_at);
  expect(times).toEqual([...times].sort().reverse());
  const { body: asked } = await system.request<{ data: Job[] }>('/leads/import/jobs', {
    method: 'POST',
    body: { status: 'cancelled' },
  });
  expect(asked.data.map(({ status }) => status)).toEqual(['cancelled']);
});

test('no imported row has fired a trigger', async () => {
  expect((await system.request('/milestone-events')).body).toMatchObject({ total: 0 });
});
