// The rows of an import that failed, as CSV: each with the reason, and with its cells, so that it can be corrected and imported again.
import { errorHeader, errorLines, type Job } from '@lead-scoring/capability';
import { csvLine, type records } from '@lead-scoring/contracts';
import type { ReadModel } from '@lead-scoring/read-model';
import { LeadFileStore } from './file-store.js';

/** Once the rows have expired, the first errors are left, without cells. */
export async function* failedRowLines(
  readModel: ReadModel,
  job: Job<{ kind: string }>,
): AsyncGenerator<string> {
  const { headers } = job.work as records.LeadImportWork;
  const store = new LeadFileStore(readModel, () => new Date());
  let header = errorHeader(headers);
  for await (const rows of store.failedRows(job.job_id)) {
    yield (
      header + rows.map(({ row, code, message, cells }) => csvLine([row, code, message, ...cells])).join('')
    );
    header = '';
  }
  if (header === '') return;
  if (job.errors.length > 0) yield* errorLines(job);
  else yield header;
}
