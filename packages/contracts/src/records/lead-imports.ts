// An import of leads: a job that reads the rows of an uploaded table, and sends the events that they give to the leads.
import { z } from 'zod';
import { id } from '../common.js';
import { requested } from '../vocabulary/actor.js';
import { leadImportMapping } from '../vocabulary/lead-imports.js';
import { defineRecord, type PayloadOf } from './record.js';

const digest = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .describe('SHA-256 of the rows and of the mapping: the same import again gives its events the same ids.');

export const leadImportWork = z.strictObject({
  kind: z.literal('lead-import'),
  file_id: id,
  digest,
  mapping: leadImportMapping,
  headers: z.array(z.string().max(200)).max(500).describe('The names of the columns.'),
});
export type LeadImportWork = z.infer<typeof leadImportWork>;

const count = z.int().min(0);

/** What has become of the rows that did not fail. */
export const leadImportFound = z.strictObject({
  created: count.describe('Rows that have made a lead.'),
  updated: count.describe('Rows of leads that were there.'),
  skipped: count.describe('Rows that an earlier import of the same rows by the same mapping has brought in.'),
});
export type LeadImportFound = z.infer<typeof leadImportFound>;

export const startLeadImport = defineRecord({
  type: 'StartLeadImport',
  topic: 'ingest.commands',
  key: 'job_id',
  description: 'Import the leads of an uploaded table.',
  schema: z.strictObject({
    job_id: id,
    ou_id: id,
    file_id: id,
    mapping: leadImportMapping,
    ...requested,
  }),
});
export type StartLeadImport = PayloadOf<typeof startLeadImport>;

export const leadImportRecords = [startLeadImport] as const;
