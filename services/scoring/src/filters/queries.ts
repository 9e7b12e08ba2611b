// Saved filters, and the leads that one would match.
import { routes, type LeadFilterGroup } from '@lead-scoring/contracts';
import type { ReadModel } from '@lead-scoring/read-model';
import {
  filterAnswer,
  leadFilterLabel,
  resolveFilter,
  unknownReferences,
  type SavedFilter,
  type ScoringConfiguration,
} from '@lead-scoring/scoring-domain';
import { bindQuery, problem, type BoundQuery } from '@lead-scoring/service';
import { loadAccountScores } from '../accounts/stored-accounts.js';
import { filterNotFoundMessage } from '../configuration/decision-model.js';
import type { PublishedConfigurations } from '../configuration/published.js';
import { loadOne, pageOf } from '../configuration/queries.js';
import { leadAnswer } from '../leads/answers.js';
import { listFiltered } from '../leads/list-filtered.js';
import { everyScores } from '../leads/score-range.js';
import { queryOf } from './query.js';
import { refusalOfReferences } from './reference-model.js';

export interface FilterQueryDependencies {
  readModel: ReadModel;
  configurations: PublishedConfigurations;
  now: () => Date;
}

const examples = 5;

export function filterQueries({ readModel, configurations, now }: FilterQueryDependencies): BoundQuery[] {
  return [
    bindQuery(routes.listFilters, async ({ query, context }) => {
      const configuration = await loadOne(configurations, context.ouId);
      const filters = [...configuration.filters.values()].map((one) => filterAnswer(one, configuration));
      return pageOf(filters, query);
    }),
    bindQuery(routes.getFilter, async ({ params, context }) => {
      const configuration = await loadOne(configurations, context.ouId);
      return filterAnswer(requireFilter(configuration, params.id), configuration);
    }),
    bindQuery(routes.previewFilter, async ({ body: { conditions }, context }) => {
      const configuration = await loadOne(configurations, context.ouId);
      refuseUnknown(conditions, configuration);
      const { documents, total } = await listFiltered(
        readModel,
        context.ouId,
        { score_type: 'engagement', sort: '-score', page: 1, limit: examples },
        { ranges: everyScores, filter: filterQuery(conditions, configuration, now()) },
      );
      const accountScores = await loadAccountScores(readModel, context.ouId, documents);
      return {
        total,
        filter_label: leadFilterLabel(conditions, configuration),
        examples: documents.map((document) => leadAnswer(document, configuration, accountScores)),
      };
    }),
  ];
}

/** The database's query for the leads that match now. */
export function filterQuery(conditions: LeadFilterGroup, configuration: ScoringConfiguration, now: Date) {
  return queryOf(resolveFilter(conditions, { ...configuration, now }));
}

/** @throws ProblemError 404 `filter_not_found` */
export function requireFilter({ filters }: ScoringConfiguration, id: string): SavedFilter {
  const filter = filters.get(id.toLowerCase());
  if (!filter) throw problem('filter_not_found', filterNotFoundMessage);
  return filter;
}

/** @throws ProblemError 404 for a level, a grid or a ruleset that the OU does not have */
function refuseUnknown(conditions: LeadFilterGroup, configuration: ScoringConfiguration): void {
  const refusal = refusalOfReferences(unknownReferences(conditions, configuration), configuration);
  if (!refusal) return;
  const { code, message, errors } = refusal;
  throw problem(code, message, { errors });
}
