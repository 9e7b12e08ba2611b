// The commands of an import of historical events: a job that is told of its events by the parts of an upload.
import { z } from 'zod';
import { id } from '../common.js';
import { requested } from '../vocabulary/actor.js';
import { jobError, maximumJobErrors } from './jobs.js';
import { defineRecord, type PayloadOf } from './record.js';

const upload = {
  job_id: id,
  ou_id: id,
  upload_id: id.describe('One sending of the events. A job goes by one upload at a time.'),
};
const digest = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .describe('SHA-256 of the whole upload: its unit, query, media type and decompressed bytes.');

export const importWork = z.strictObject({
  kind: z.literal('import'),
  upload_id: upload.upload_id,
  fire_triggers: z.boolean(),
});
export type ImportWork = z.infer<typeof importWork>;

/** What the end of an upload says of it. */
export const importFound = z.strictObject({ digest });
export type ImportFound = z.infer<typeof importFound>;

export const startImport = defineRecord({
  type: 'StartImport',
  topic: 'ingest.commands',
  key: 'job_id',
  description:
    'An upload of historical events begins. It begins its job anew, unless an upload of that job has come to its end.',
  schema: z.strictObject({ ...upload, fire_triggers: z.boolean(), ...requested }),
});
export type StartImport = PayloadOf<typeof startImport>;

export const takeImportPart = defineRecord({
  type: 'TakeImportPart',
  topic: 'ingest.commands',
  key: 'job_id',
  description:
    'The events of the next part of an upload are in the log. Its job counts them; a part that it has counted changes nothing.',
  schema: z.strictObject({
    ...upload,
    part: z.int().min(0).describe('Parts of the upload before this one.'),
    done: z.int().min(0).describe('Events of the part, invalid ones included.'),
    failed: z.int().min(0).describe('Invalid events of the part, which were not taken.'),
    errors: z.array(jobError).max(maximumJobErrors).describe('Of the first invalid events of the part.'),
    ends: z
      .discriminatedUnion('as', [
        z.strictObject({ as: z.literal('completed'), digest }),
        z.strictObject({ as: z.literal('failed'), error: jobError }),
      ])
      .optional()
      .describe('Of the last part of the upload.'),
    ...requested,
  }),
});
export type TakeImportPart = PayloadOf<typeof takeImportPart>;

export const importRecords = [startImport, takeImportPart] as const;
