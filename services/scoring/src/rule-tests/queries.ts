// POST /engagement-scoring/test: a query, because nothing is stored.
import { nameBasedId, routes } from '@lead-scoring/contracts';
import type { ReadModel } from '@lead-scoring/read-model';
import type { ScoringConfiguration } from '@lead-scoring/scoring-domain';
import { bindQuery, problem, type BoundQuery } from '@lead-scoring/service';
import type { PublishedConfigurations } from '../configuration/published.js';
import { loadOne } from '../configuration/queries.js';
import { toLead } from '../leads/documents.js';
import { findLead } from '../leads/stored-leads.js';
import { draftProblems, type DraftRule } from './drafts.js';
import { testRules } from './test-rules.js';

export interface RuleTestDependencies {
  readModel: ReadModel;
  configurations: PublishedConfigurations;
  /** The clock: the time of events that name none. */
  now: () => Date;
}

export function ruleTestQueries({ readModel, configurations, now }: RuleTestDependencies): BoundQuery[] {
  return [
    bindQuery(routes.testEngagementRules, async ({ body, context: { ouId } }) => {
      const { lead_id, events, rules: drafts = [] } = body;
      const [configuration, lead] = await Promise.all([
        loadOne(configurations, ouId),
        lead_id === undefined ? null : findLead(readModel, ouId, lead_id),
      ]);
      assertValid(configuration, drafts);
      const moment = now().toISOString();
      return testRules(configuration, {
        lead: {
          ...(lead && toLead(lead, ouId)),
          id: lead_id ?? nameBasedId(ouId, 'lead of a rule test'),
          score: lead?.score ?? null,
        },
        events: events.map(({ timestamp = moment, ...event }) => ({ timestamp, ...event })),
        drafts,
        now: moment,
      });
    }),
  ];
}

/** @throws ProblemError where a draft could not be created */
function assertValid(configuration: ScoringConfiguration, drafts: readonly DraftRule[]): void {
  const problems = draftProblems(configuration, drafts);
  const [first] = problems;
  if (!first) return;
  const errors = problems.map(({ path, message }) => ({ path, message }));
  throw problem(first.code, `A draft cannot be tested: ${first.path} ${first.message}.`, { errors });
}
