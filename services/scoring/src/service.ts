// The scoring service's table of contents: its capabilities, in the order in which they fold, and the limits of a batch.
import { capabilitiesOf } from '@lead-scoring/capability';
import { configurationHistory } from './configuration-changes/capability.js';
import { scoringConfiguration } from './configuration/capability.js';
import { leadProjection, type LeadsOptions } from './leads/capability.js';
import { scorePolicy, type ScoresDependencies } from './scores/capability.js';

export type ScoringOptions = LeadsOptions & Omit<ScoresDependencies, 'leads'>;

export function scoringService({ cachedLeads, ...dependencies }: ScoringOptions) {
  const leads = leadProjection({ cachedLeads });
  const scores = scorePolicy({ leads, ...dependencies });
  return capabilitiesOf('scoring', [configurationHistory, scoringConfiguration, scores, leads], {
    // A record has few events, all of one lead, so that only large batches make folding cheap.
    maxRecordsPerBatch: 16_000,
    maxBytesPerBatch: 8 * 1024 * 1024,
    version: 2,
  });
}
