// Imports of leads from tables: what a mapping says, and the limits of a file. The mapping that a preview proposes has the form in which
// the start of an import takes it.
import { z } from 'zod';
import { name, text } from '../common.js';
import { aliasKind } from './identity.js';

export const leadImportLimits = {
  /** Of a table as text, after decompression. */
  bytes: 500_000_000,
  /** Of a workbook (XLSX), as it is sent. */
  workbookBytes: 50_000_000,
  /** Of rows in JSON. */
  jsonBytes: 10_000_000,
  rows: 1_000_000,
  columns: 500,
  /** Characters of a column's name. */
  columnName: 200,
  /** Characters of a row. */
  rowCharacters: 1_000_000,
  aliasMappings: 9,
  eventMappings: 10,
  /** Fields of an event. */
  eventFields: 50,
  ignoredValues: 50,
  sampleRows: 10,
  /** Characters of a cell in a sample. */
  sampleCell: 200,
  problems: 100,
  /** Milliseconds that a file is kept. */
  keptMs: 24 * 3_600_000,
  /** Files of an organizational unit that are kept at a time, and their bytes together. */
  filesOfUnit: 100,
  bytesOfUnit: 2_000_000_000,
} as const;

/** The bytes of a part of an upload on its way from the gateway to ingest; of the last one, at most. */
export const leadFilePartBytes = 1_000_000;

/** The type of the event that each imported row gives its lead. */
export const leadImportedType = 'Lead Imported';

const column = text(leadImportLimits.columnName, { minimum: 1 })
  .describe('The name of a column, as the preview lists it in `headers`.')
  .meta({ example: 'Email' });

const identifier = z.strictObject({ column, kind: aliasKind }).meta({ id: 'LeadImportIdentifier' });

const field = text(100, { minimum: 1 })
  .describe(
    'name (or first_name and last_name), company, title, phone, owner, or any other key of the metadata.',
  )
  .meta({ example: 'company' });

const fieldMappings = z.array(z.strictObject({ column, field })).max(leadImportLimits.columns);

export const timeFormats = ['iso', 'day_first', 'month_first', 'epoch'] as const;
export type TimeFormat = (typeof timeFormats)[number];

const eventMapping = z.strictObject({
  event_type: name(100),
  time: z.strictObject({
    column,
    format: z
      .enum(timeFormats)
      .default('iso')
      .describe(
        'iso: 2026-01-31, or 2026-01-31 09:30 with or without seconds and offset; day_first: 31/01/2026, 31.1.2026 09:30; month_first: 1/31/2026; epoch: seconds or milliseconds since 1970. A time without an offset is UTC.',
      ),
  }),
  field_mappings: fieldMappings
    .max(leadImportLimits.eventFields)
    .default([])
    .describe("The event's metadata."),
});

const parts = {
  alias_mappings: z
    .array(identifier)
    .max(leadImportLimits.aliasMappings)
    .default([])
    .describe('Further names of the same lead, which are linked to it.'),
  field_mappings: fieldMappings.default([]).describe("The lead's fields."),
  event_mappings: z
    .array(eventMapping)
    .max(leadImportLimits.eventMappings)
    .default([])
    .describe('Events that a row tells of, each with its time. A row in which the time is empty has none.'),
  ignore_values: z
    .array(text(100, { minimum: 1 }))
    .max(leadImportLimits.ignoredValues)
    .default([])
    .describe('Cells that mean "nothing", such as N/A: they count as empty.'),
};

/** What each row of a table says about its lead. */
export const leadImportMapping = z.strictObject({
  primary_identifier: identifier.describe('Names the lead. A row in which it is empty fails.'),
  ...parts,
});
export type LeadImportMapping = z.output<typeof leadImportMapping>;

/** The same as a preview proposes it. */
export const suggestedLeadImportMapping = z
  .strictObject({
    primary_identifier: identifier.nullable().describe('null: no column seems to name the leads.'),
    ...parts,
  })
  .meta({ id: 'LeadImportSuggestion' });
export type SuggestedLeadImportMapping = z.output<typeof suggestedLeadImportMapping>;
