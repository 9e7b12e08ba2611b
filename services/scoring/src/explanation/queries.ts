// The explanation of a lead's score, now or at a past moment.
import { routes } from '@lead-scoring/contracts';
import { uuidToBinary, withClassifiedErrors, type ReadModel } from '@lead-scoring/read-model';
import { explainScore, momentOfNow } from '@lead-scoring/scoring-domain';
import { bindQuery, type BoundQuery } from '@lead-scoring/service';
import { loadOne } from '../configuration/queries.js';
import type { PublishedConfigurations } from '../configuration/published.js';
import { configurationAt } from '../configuration-changes/documents.js';
import { leadOfKey, recordKeysUpTo } from '../keys.js';
import { decisionOf, timeline } from '../leads/documents.js';
import { findLead } from '../leads/stored-leads.js';
import type { AwaitPositions } from '../visibility.js';

export interface ExplanationDependencies {
  readModel: ReadModel;
  configurations: PublishedConfigurations;
  awaitPositions: AwaitPositions;
  /** The time, for explanations of now. */
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
      // The lead first: entries are stored before the lead that counts them, so up to its offset none is missing.
      const lead = await findLead(readModel, ouId, params.leadID);
      const [recorded, current] = await Promise.all([
        withClassifiedErrors(() =>
          readModel
            .collection(timeline)
            .find({
              // From its first on: those of a lead of the same id that was deleted are not its own.
              _id: recordKeysUpTo(params.leadID, lead.offset, lead.first_offset),
              ou: uuidToBinary(ouId),
            })
            .sort({ _id: 1 })
            .toArray(),
        ),
        loadOne(configurations, ouId),
      ]);
      const then = query.at === undefined ? current : await configurationAt(readModel, ouId, query.at);
      const decisions = recorded.map(decisionOf);
      return explainScore(
        { id: leadOfKey(lead._id), name: lead.name, score: lead.score },
        decisions,
        current,
        then,
        { at: query.at ?? momentOfNow(decisions, now()), range_hours: query.range_hours },
      );
    }),
  ];
}
