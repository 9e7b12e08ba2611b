// Imports of leads from tables: an upload is previewed, a mapping says what its columns mean, and a job takes the rows.
import { z } from 'zod';
import { id, page, pageParameters, text, time, wholeNumber } from '../common.js';
import { jobId } from '../records/job-id.js';
import {
  leadImportLimits,
  leadImportMapping,
  suggestedLeadImportMapping,
} from '../vocabulary/lead-imports.js';
import { jobStatus, listedJob } from './jobs.js';
import { defineRoute, editor, viewer } from './route.js';

const megabytes = (bytes: number) => `${String(bytes / 1_000_000)} MB`;

const own = { owner: 'ingest', tag: 'Leads' } as const;

/** Media types of an uploaded table. */
export const leadFileTypes = {
  form: 'multipart/form-data',
  csv: 'text/csv',
  workbook: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  json: 'application/json',
} as const;

const cell = z.union([z.string().max(leadImportLimits.rowCharacters), z.number(), z.boolean(), z.null()]);

const rows = z
  .strictObject({
    rows: z
      .array(z.record(z.string().max(leadImportLimits.columnName), cell))
      .min(1)
      .max(50_000)
      .meta({ example: [{ Email: 'ada@example.com', Name: 'Ada Lovelace', Company: 'Analytical Engines' }] }),
  })
  .meta({ id: 'LeadRows' })
  .describe(
    'A table as rows in JSON (up to 10 MB), as CSV, as an XLSX workbook, or either of the last two as the file of a form.',
  );

const binary = z.string().min(1).meta({ format: 'binary' });

const column = z.string().max(leadImportLimits.columnName);

export const leadImportPreview = z
  .strictObject({
    file_id: id,
    headers: z
      .array(column)
      .max(leadImportLimits.columns)
      .describe('The names of the columns. One without a name, or with that of another, gets a name here.'),
    sample_rows: z
      .array(z.array(z.string().max(leadImportLimits.sampleCell)).max(leadImportLimits.columns))
      .max(leadImportLimits.sampleRows)
      .describe('The first rows, in the order of `headers`; long cells are cut.'),
    row_count: z.int().min(0),
    delimiter: z.string().max(1).nullable().describe('null for a workbook and for rows in JSON.'),
    encoding: z.string().max(40).nullable().describe('null for a workbook and for rows in JSON.'),
    auto_detected_identifiers: z
      .array(
        z.strictObject({
          column,
          kind: z.string().max(32),
          filled: z.number().min(0).max(1).describe('The share of the first rows that have a value.'),
        }),
      )
      .max(leadImportLimits.columns)
      .describe('Columns whose values name leads, the likeliest first.'),
    suggested_mapping: suggestedLeadImportMapping.describe(
      'For POST /leads/import/start, as it is or corrected.',
    ),
    problems: z
      .array(
        z.strictObject({
          code: z.string().max(64),
          message: z.string().max(1_000),
          column: column.optional(),
          row: z.int().min(1).optional(),
        }),
      )
      .max(leadImportLimits.problems)
      .describe('What a person should look at before the import starts.'),
    expires_at: time.describe('Until then the import can be started.'),
  })
  .meta({ id: 'LeadImportPreview' });
export type LeadImportPreview = z.infer<typeof leadImportPreview>;

export const previewLeadImport = defineRoute({
  ...own,
  name: 'previewLeadImport',
  method: 'POST',
  path: '/leads/import/preview',
  kind: 'intake',
  access: editor,
  summary: 'Upload a table of leads',
  description: [
    'Takes a table and says what is in it, and what its columns seem to mean; no lead changes. The table is kept for 24 hours, for POST /leads/import/start.',
    `CSV may have up to ${megabytes(leadImportLimits.bytes)} and ${leadImportLimits.rows.toLocaleString('en')} rows, with commas, semicolons, tabs or bars, in UTF-8, UTF-16 or an older encoding such as Windows-1252: both are found out, whatever \`charset\` says. Of an XLSX workbook (up to ${megabytes(leadImportLimits.workbookBytes)}) the first sheet is read; of a formula, the value that the workbook has stored. A form has the table in its first file. All bodies may be gzip.`,
    'With an Idempotency-Key, the same upload again is the same file.',
  ].join('\n\n'),
  body: rows,
  bodyTypes: [leadFileTypes.json, leadFileTypes.csv, leadFileTypes.workbook, leadFileTypes.form],
  bodyForms: {
    [leadFileTypes.csv]: z.string().min(1).describe('A header line, then one lead a line.').meta({
      format: 'events-csv',
      example: 'Email,Name,Company\nada@example.com,Ada Lovelace,Analytical Engines\n',
    }),
    [leadFileTypes.workbook]: binary,
    [leadFileTypes.form]: z.looseObject({ file: binary }),
  },
  responses: { 200: { description: 'What is in the table', schema: leadImportPreview } },
  problems: ['unreadable_file', 'limit_reached', 'service_unavailable', 'service_timeout'],
});

export const startLeadImport = defineRoute({
  ...own,
  name: 'startLeadImport',
  method: 'POST',
  path: '/leads/import/start',
  kind: 'command',
  access: editor,
  summary: 'Import the leads of an uploaded table',
  description: [
    'Starts a job (GET /jobs/{id}) that makes or updates a lead for each row. `mapping` is what the preview proposed, corrected by a person.',
    'A row gives its lead an event of the type `Lead Imported`, whose metadata are the mapped fields, at the time of the start; further aliases are linked as those of any event; and each of `event_mappings` gives an event at its own time. None of them fires a trigger. Rules may give points for `Lead Imported` as for any other type.',
    'The same rows with the same mapping, imported again, change nothing: they are `skipped`. A row that fails changes nothing and is listed, with the reason, by GET /jobs/{id}/errors.',
    'Where the credential or the organisation has a quota of events, the start takes the events of all rows from it, or answers 429 `quota_used_up` and starts nothing. A row counts once, and once more for each of `event_mappings`; rows that are skipped, that fail or that a cancelled job does not reach count too.',
  ].join('\n\n'),
  body: leadImportMapping.extend({ file_id: id }).meta({ id: 'LeadImportStart' }),
  responses: {
    202: { description: 'The job', schema: z.strictObject({ job_id: jobId }).meta({ id: 'StartedJob' }) },
  },
  problems: ['lead_file_not_found'],
});

const listed = {
  200: { description: 'Jobs', schema: page(listedJob) },
} as const;

export const listLeadImports = defineRoute({
  ...own,
  name: 'listLeadImports',
  method: 'GET',
  path: '/leads/import/jobs',
  kind: 'query',
  access: viewer,
  summary: 'Imports of leads, newest first',
  query: z.strictObject({ status: jobStatus.optional(), ...pageParameters }),
  responses: listed,
  problems: [],
});

export const findLeadImports = defineRoute({
  ...own,
  name: 'findLeadImports',
  method: 'POST',
  path: '/leads/import/jobs',
  kind: 'query',
  access: viewer,
  summary: 'Imports of leads, newest first',
  description: 'The same as GET /leads/import/jobs, with its parameters in the body.',
  body: z
    .strictObject({
      status: jobStatus.optional(),
      page: wholeNumber(1, 1_000_000).default(1),
      limit: wholeNumber(1, 100).default(25),
    })
    .meta({ id: 'LeadImportQuestion' }),
  responses: listed,
  problems: [],
});

/** Takes the next part of an uploaded table from the gateway: bytes, not JSON. */
export const storeLeadFilePart = {
  name: 'storeLeadFilePart',
  method: 'POST',
  path: '/internal/lead-files/{uploadId}/parts/{part}',
  parameters: z.strictObject({ uploadId: id, part: z.string().regex(/^\d{1,6}$/) }),
  responses: { 200: { description: 'Stored', schema: z.strictObject({ stored: z.literal(true) }) } },
} as const;

/** Reads an uploaded table whose parts are all stored. */
export const readLeadFile = {
  name: 'readLeadFile',
  method: 'POST',
  path: '/internal/lead-files/{uploadId}/preview',
  parameters: z.strictObject({ uploadId: id }),
  body: z.strictObject({
    file_id: id,
    parts: wholeNumber(0, 1_000_000),
    is_json: z.boolean().describe('Rows in JSON; otherwise the content says what it is.'),
    digest: text(64).describe('SHA-256 of the bytes.'),
  }),
  responses: { 200: { description: 'What is in the table', schema: leadImportPreview } },
} as const;

/** What the start of an import will bring in: the gateway takes it from quotas of events before. */
export const countLeadImportRows = {
  name: 'countLeadImportRows',
  method: 'GET',
  path: '/internal/lead-files/{fileId}/rows',
  parameters: z.strictObject({ fileId: id }),
  query: z.strictObject({ job_id: id }),
  responses: {
    200: {
      description: 'Rows',
      schema: z.strictObject({
        rows: z.int().min(0).describe('0 where the job was begun before, or the table is not there.'),
      }),
    },
  },
} as const;
