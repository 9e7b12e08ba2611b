// The explanation of a lead's score, now or at a past moment of either clock: that of the events, or that of the system.
import { routes } from '@lead-scoring/contracts';
import type { ReadModel } from '@lead-scoring/read-model';
import {
  explainAccount,
  explainDeals,
  explainProfile,
  explainScore,
  momentOfNow,
} from '@lead-scoring/scoring-domain';
import { bindQuery, type BoundQuery } from '@lead-scoring/service';
import { accountNameOf } from '../accounts/state.js';
import { findAccountOf } from '../accounts/stored-accounts.js';
import { loadOne } from '../configuration/queries.js';
import type { PublishedConfigurations } from '../configuration/published.js';
import { configurationAt } from '../configuration-changes/documents.js';
import { leadOfKey } from '../keys.js';
import type { AwaitPositions } from '../visibility.js';
import { findLead } from '../leads/stored-leads.js';
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
      if (query.score_type === 'account') {
        const [lead, current] = await Promise.all([
          findLead(readModel, ouId, params.leadID),
          loadOne(configurations, ouId),
        ]);
        const explained = { lead_id: leadOfKey(lead._id), lead_name: lead.name };
        const { range_hours } = query;
        const account = await findAccountOf(readModel, ouId, lead);
        return explainAccount(explained, account && { ...account, name: accountNameOf(account) }, current, {
          at: now().toISOString(),
          range_hours,
        });
      }
      const [{ lead, decisions, profileDecisions, dealDecisions }, current] = await Promise.all([
        findExplainedLead(readModel, ouId, params.leadID),
        loadOne(configurations, ouId),
      ]);
      const { at, known_at, range_hours, score_type } = query;
      const then = known_at === undefined ? current : await configurationAt(readModel, ouId, known_at);
      const explained = { id: leadOfKey(lead._id), name: lead.name, score: lead.score };
      // Profile and deal scores have one clock, that of their decisions.
      const moment = [at, known_at].filter((one) => one !== undefined).sort()[0];
      if (score_type === 'profile')
        return explainProfile(
          { ...explained, score: lead.profile?.score ?? 0 },
          profileDecisions,
          current,
          then,
          { at: moment ?? momentOfNow(profileDecisions, now()), range_hours },
        );
      if (score_type === 'deal')
        return explainDeals({ ...explained, score: lead.deal_score ?? 0 }, dealDecisions, current, then, {
          at: moment ?? momentOfNow(dealDecisions, now()),
          range_hours,
        });
      return explainScore(explained, decisions, current, then, {
        at: at ?? known_at ?? momentOfNow(decisions, now()),
        known_at,
        range_hours,
      });
    }),
  ];
}
