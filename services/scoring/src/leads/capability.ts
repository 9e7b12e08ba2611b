// Leads as a projection: decisions are folded into the documents of lists, scores and explanations.
import { projection } from '@lead-scoring/capability';
import { records } from '@lead-scoring/contracts';
import { dueLeads } from '../decays/due-leads.js';
import { gainLists } from '../gains/documents.js';
import { leadRecords } from '../scores/messages.js';
import { openPages, textPages, textPostings } from '../text-index/documents.js';
import { histograms, leadAliases, leads, timeline } from './documents.js';
import { OpenLeads } from './open-leads.js';
import { scoreRanks } from './score-ranks.js';

export interface LeadsOptions {
  /** Leads that a partition keeps in memory. */
  cachedLeads: number;
}

export function leadProjection({ cachedLeads }: LeadsOptions) {
  return projection({
    name: 'leads',
    events: { ...leadRecords, DecaysScheduled: records.decaysScheduled },
    collections: [
      ...[leads, leadAliases, timeline, histograms, gainLists, dueLeads],
      ...[scoreRanks.profile, scoreRanks.deal],
      ...[openPages, textPages, textPostings],
    ],
    open: ({ readModel, partition }) => new OpenLeads(readModel, { partition, cachedLeads }),
  });
}

export type LeadProjection = ReturnType<typeof leadProjection>;
