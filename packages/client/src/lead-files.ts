// Uploads a table of leads to POST /leads/import/preview.
import { randomUUID } from 'node:crypto';
import { routes, type routeDeclarations } from '@lead-scoring/contracts';
import type { Upload } from './upload.js';

export interface LeadFileOptions {
  /** Of the table; what is in it says more, so that a wrong one does no harm. Default: text/csv. */
  type?: string;
  /** Default: random. The same table under the same key is the same file. */
  idempotencyKey?: string;
  signal?: AbortSignal;
}

export async function previewLeads(
  upload: Upload,
  parts: AsyncIterable<Uint8Array>,
  { type = 'text/csv', idempotencyKey = randomUUID(), signal }: LeadFileOptions,
): Promise<routeDeclarations.LeadImportPreview> {
  const { body } = await upload({
    path: routes.previewLeadImport.path,
    headers: { 'content-type': type, 'idempotency-key': idempotencyKey },
    parts,
    signal,
  });
  return body as routeDeclarations.LeadImportPreview;
}
