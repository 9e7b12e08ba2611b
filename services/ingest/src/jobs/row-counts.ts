// How many rows of an import of leads have had which outcome so far.
import type { Job } from '@lead-scoring/capability';
import type { records } from '@lead-scoring/contracts';

type RowCounts = Partial<records.LeadImportFound>;

/** Nothing for jobs of other kinds. */
export function rowCountsOf({ work, found }: Pick<Job<{ kind: string }>, 'work' | 'found'>): RowCounts {
  return work.kind === 'lead-import' ? ((found as RowCounts | undefined) ?? noRows) : {};
}

export const noRows: records.LeadImportFound = { created: 0, updated: 0, skipped: 0 };
