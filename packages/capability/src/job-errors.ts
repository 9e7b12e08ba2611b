// The errors of a job as lines of CSV.
import { csvLine } from '@lead-scoring/contracts';
import type { Job } from './job-model.js';

/** Without a byte order mark, spreadsheets do not recognise UTF-8. */
const byteOrderMark = '\uFEFF';

/** The header of a file of errors. @param columns of what follows the errors */
export function errorHeader(columns: readonly string[] = []): string {
  return byteOrderMark + csvLine(['row', 'code', 'message', ...columns]);
}

/** The errors that the job has kept: the first hundred. */
export async function* errorLines({ errors }: Pick<Job<unknown>, 'errors'>): AsyncGenerator<string> {
  yield await Promise.resolve(errorHeader());
  for (const { row, code, message } of errors) yield csvLine([row, code, message]);
}
