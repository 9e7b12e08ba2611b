// What is stored of uploaded tables: the bytes as they came, until they are read; their rows, until they are imported or have expired; and
// the rows that failed. None of it is derived from the log, so a rebuild leaves it as it is.
import type { routeDeclarations } from '@lead-scoring/contracts';
import { defineCollection, orderedKey, type Binary } from '@lead-scoring/read-model';

/** A part of the bytes of an upload. `_id` is placeIn. */
export interface LeadFilePartDocument {
  _id: Binary;
  bytes: Binary;
  expires_at: Date;
}

/** A table that was read. */
export interface LeadFileDocument {
  /** The id of the file. */
  _id: Binary;
  ou: Binary;
  /** The upload whose rows are stored. */
  upload: string;
  /** SHA-256 of the bytes. */
  digest: string;
  bytes: number;
  /** Documents of rows. */
  chunks: number;
  /** JSON text of the preview. */
  preview: string;
  expires_at: Date;
}

/** Some rows of a table: JSON of a list of `StoredRow`. `_id` is placeIn. */
export interface LeadFileRowsDocument {
  _id: Binary;
  json: Binary;
  expires_at: Date;
}

/** The rows of one step of an import that failed: JSON of a list of `FailedRow`. `_id` is placeIn, of the job. */
export interface FailedRowsDocument {
  _id: Binary;
  json: Binary;
  expires_at: Date;
}

/** A row of a table, and its number, from 1 for the header. */
export type StoredRow = readonly [row: number, cells: readonly string[]];

export interface FailedRow {
  row: number;
  code: string;
  message: string;
  cells: readonly string[];
}

export type LeadFilePreview = routeDeclarations.LeadImportPreview;

export function previewOf({ preview }: Pick<LeadFileDocument, 'preview'>): LeadFilePreview {
  return JSON.parse(preview) as LeadFilePreview;
}

const isLasting = true;

export const leadFileParts = defineCollection<LeadFilePartDocument>({
  name: 'lead_file_parts',
  indexes: [],
  isLasting,
});
export const leadFiles = defineCollection<LeadFileDocument>({
  name: 'lead_files',
  indexes: [{ key: { ou: 1 } }],
  isLasting,
});
export const leadFileRows = defineCollection<LeadFileRowsDocument>({
  name: 'lead_file_rows',
  indexes: [],
  isLasting,
});
export const failedLeadRows = defineCollection<FailedRowsDocument>({
  name: 'failed_lead_rows',
  indexes: [],
  isLasting,
});

export const leadFileCollections = [leadFileParts, leadFiles, leadFileRows, failedLeadRows];

/** The place of a document among those of an upload or a job. */
export function placeIn(uploadOrJobId: string, number: number): Binary {
  return orderedKey([uploadOrJobId], number);
}
