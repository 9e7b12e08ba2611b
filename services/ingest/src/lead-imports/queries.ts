// Uploads of tables from the gateway, and the list of the imports of leads.
import {
  leadFilePartBytes,
  leadImportLimits,
  routeDeclarations,
  routes,
  type routeDeclarations as declarations,
} from '@lead-scoring/contracts';
import { findJob, findListedJobs } from '@lead-scoring/capability';
import { uuidToBinary, type ReadModel } from '@lead-scoring/read-model';
import {
  assertSignedBody,
  bindQuery,
  parseOrProblem,
  problem,
  readBody,
  type BoundQuery,
} from '@lead-scoring/service';
import pLimit from 'p-limit';
import { rowCountsOf } from '../jobs/row-counts.js';
import { LeadFileStore } from './file-store.js';
import { readTable } from './read-table.js';

/** Tables that a process reads at a time. */
const readings = 2;

export function leadImportQueries(readModel: ReadModel, now: () => Date): BoundQuery[] {
  const store = new LeadFileStore(readModel, now);
  const inTurn = pLimit(readings);
  const list = (
    ouId: string,
    request: { status?: declarations.Job['status'] | undefined; page: number; limit: number },
  ) =>
    findListedJobs(
      readModel,
      ouId,
      { ...request, kind: 'lead-import' },
      { service: 'ingest', now: now(), countsOf: rowCountsOf },
    );
  return [
    storePart(store),
    bindQuery(routeDeclarations.readLeadFile, ({ params, body, context: { ouId, signal } }) =>
      inTurn(() => read({ uploadId: params.uploadId, ouId, ...body }, store, signal)),
    ),
    bindQuery(
      routeDeclarations.countLeadImportRows,
      async ({ params: { fileId }, query: { job_id }, context: { ouId } }) => {
        if (await findJob(readModel, ouId, job_id.toLowerCase())) return { rows: 0 };
        return { rows: (await store.rowCount(ouId, fileId.toLowerCase())) ?? 0 };
      },
    ),
    bindQuery(routes.listLeadImports, ({ query, context: { ouId } }) => list(ouId, query)),
    bindQuery(routes.findLeadImports, ({ body, context: { ouId } }) => list(ouId, body)),
  ];
}

/** Takes the bytes of a part: unlike other bodies of the query port, they are no JSON. */
function storePart(store: LeadFileStore): BoundQuery {
  const route = routeDeclarations.storeLeadFilePart;
  return {
    route,
    handle: async (req, call) => {
      const { uploadId, part } = parseOrProblem(route.parameters, req.params, 'parameters');
      const { bytes } = await readBody(req, {
        maximumBytes: leadFilePartBytes,
        types: ['application/octet-stream'],
      });
      assertSignedBody(call, bytes);
      const ouId = call.claims.ou_id;
      if (ouId === undefined) throw new Error('a table belongs to an OU');
      if (Number(part) === 0) await refuseTooMany(ouId, store);
      await store.putPart(uploadId, Number(part), bytes);
      return { stored: true };
    },
  };
}

async function refuseTooMany(ouId: string, store: LeadFileStore): Promise<void> {
  const { files, bytes } = await store.kept(ouId);
  if (files < leadImportLimits.filesOfUnit && bytes < leadImportLimits.bytesOfUnit) return;
  throw problem(
    'limit_reached',
    `The organizational unit has ${String(files)} uploaded tables of ${String(bytes)} bytes, which is as much as is kept. Import them, or wait until they have expired a day after their upload.`,
  );
}

interface Upload {
  uploadId: string;
  ouId: string;
  file_id: string;
  parts: number;
  is_json: boolean;
  digest: string;
}

async function read(
  { uploadId, ouId, file_id, parts, is_json, digest }: Upload,
  store: LeadFileStore,
  signal: AbortSignal,
): Promise<declarations.LeadImportPreview> {
  try {
    const { preview, bytes, chunks } = await readTable({ uploadId, parts, isJson: is_json }, store, signal);
    const expires_at = store.expiry();
    const answer = { file_id, ...preview, expires_at: expires_at.toISOString() };
    const isNew = await store.putFile({
      _id: uuidToBinary(file_id),
      ou: uuidToBinary(ouId),
      upload: uploadId,
      digest,
      bytes,
      chunks,
      preview: JSON.stringify(answer),
      expires_at,
    });
    if (isNew) return answer;
    await store.dropRows(uploadId);
    return await repeated({ ouId, file_id, digest }, store);
  } catch (error) {
    await store.dropRows(uploadId);
    throw error;
  } finally {
    await store.dropParts(uploadId);
  }
}

/** The preview of an earlier upload under the same Idempotency-Key. */
async function repeated(
  { ouId, file_id, digest }: Pick<Upload, 'ouId' | 'file_id' | 'digest'>,
  store: LeadFileStore,
): Promise<declarations.LeadImportPreview> {
  const earlier = await store.file(ouId, file_id);
  if (earlier?.digest !== digest)
    throw problem(
      'idempotency_key_reused',
      'This Idempotency-Key was used for another file. Use a new key for a new file.',
    );
  return JSON.parse(earlier.preview) as declarations.LeadImportPreview;
}
