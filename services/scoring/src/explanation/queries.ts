// The explanation of a lead's score, now or at a past moment of either clock: that of the events, or that of the system.
import { routes } from '@lead-scoring/contracts';
import type { ReadModel } from '@lead-scoring/read-model';
import { explainScore, momentOfNow } from '@lead-scoring/scoring-domain';
import { bindQuery, type BoundQuery } from '@lead-scoring/service';
import { loadOne } from '../configuration/queries.js';
import type { PublishedConfigurations } from '../configuration/published.js';
import { configurationAt } from '../configuration-changes/documents.js';
import { leadOfKey } from '../keys.js';
import type { AwaitPositions } from '../visibility.js';
import { findExplainedLead } from './explained-lead.js';

export interface ExplanationDependencies {
  readModel: ReadModel;
  configurations: PublishedConfigurations;
  awaitPositions: AwaitPositions;
  /** The clock, for explanations of the current score. */
  now: () => Date;
}

export function explanationQueries({
  readModel,
  configurations,
  awaitPositions,
  now,
}: ExplanationDependencies): BoundQuery[] {
  return [
    bindQuery(routes.explainScore, async ({ params, query, context: { ouId, ...context } }) => {
      await awaitPositions(context);
      const [{ lead, decisions }, current] = await Promise.all([
        findExplainedLead(readModel, ouId, params.leadID),
        loadOne(configurations, ouId),
      ]);
      const { at, known_at, range_hours } = query;
      const then = known_at === undefined ? current : await configurationAt(readModel, ouId, known_at);
      return explainScore(
        { id: leadOfKey(lead._id), name: lead.name, score: lead.score },
        decisions,
        current,
        then,
        { at: at ?? known_at ?? momentOfNow(decisions, now()), known_at, range_hours },
      );
    }),
  ];
}
