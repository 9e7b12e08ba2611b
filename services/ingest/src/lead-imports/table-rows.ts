// The rows of a table, whatever it was written as. Each reader holds a bounded part of the table.
import { problem, type ProblemError } from '@lead-scoring/service';
import type { StoredRow } from './documents.js';

/** Reads the rows, some at a time; the first is the header. Rows without a value are left out. */
export type TableRows = AsyncGenerator<StoredRow[]>;

/** A table that cannot be read: the reason, and what to do. */
export function unreadable(detail: string, cause?: unknown): ProblemError {
  return problem('unreadable_file', detail, { cause });
}
