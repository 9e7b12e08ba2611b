// What the site-analysis service reads.
import type { InputTable } from '@lead-scoring/event-log';

export const siteAnalysisInputs = {
  'site-analysis.commands': { AnalyzeSite: 'taken', RecordSiteAnalysis: 'taken' },
} as const satisfies InputTable;
