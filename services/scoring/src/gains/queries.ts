// The leads that gained most lately.
import { routes } from '@lead-scoring/contracts';
import { bindQuery, type BoundQuery } from '@lead-scoring/service';
import { loadAccountScores } from '../accounts/stored-accounts.js';
import { loadOne } from '../configuration/queries.js';
import { leadKey } from '../keys.js';
import { leadAnswer } from '../leads/answers.js';
import type { LeadQueryDependencies } from '../leads/queries.js';
import { loadLeads } from '../leads/stored-leads.js';
import { hourMs } from './gain-model.js';
import { largestGains } from './largest-gains.js';

export function gainQueries({
  readModel,
  configurations,
  awaitPositions,
  now,
}: LeadQueryDependencies): BoundQuery[] {
  return [
    bindQuery(routes.listScoreGains, async ({ query, context }) => {
      await awaitPositions(context);
      const { ouId } = context;
      const at = now();
      const hour = Math.floor(at.getTime() / hourMs);
      const from = hour - query.hours;
      const [{ gains, leads }, configuration] = await Promise.all([
        largestGains(readModel, ouId, { from, now: hour }, query.limit),
        loadOne(configurations, ouId),
      ]);
      const found = await loadLeads(
        readModel,
        gains.map(({ lead_id }) => leadKey(ouId, lead_id)),
      );
      const accountScores = await loadAccountScores(readModel, ouId, [...found.values()]);
      return {
        from: new Date(from * hourMs).toISOString(),
        to: at.toISOString(),
        // A lead that was deleted meanwhile is left out.
        data: gains.flatMap(({ lead_id, gain }) => {
          const lead = found.get(lead_id);
          if (!lead) return [];
          return [
            {
              ...leadAnswer(lead, configuration, accountScores),
              gain,
              previous_score: lead.score - gain,
            },
          ];
        }),
        total: leads,
        page: 1,
        limit: query.limit,
      };
    }),
  ];
}
