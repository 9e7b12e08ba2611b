// The challengers of an organizational unit: the list, and one with its draft and its figures.
import { routes } from '@lead-scoring/contracts';
import { bindQuery, problem, type BoundQuery } from '@lead-scoring/service';
import { loadOne } from '../configuration/queries.js';
import type { JobQueryDependencies } from '../jobs/queries.js';
import { readTriggers } from '../trigger-definitions/documents.js';
import { namesOf } from '../what-if/mover-names.js';
import { challengerAnswer, challengerWithFigures } from './answers.js';
import { challengerNotFound, runningOf } from './decide.js';
import { readChallengers, readFigures } from './documents.js';

export function challengerQueries({
  readModel,
  configurations,
}: Pick<JobQueryDependencies, 'readModel' | 'configurations'>): BoundQuery[] {
  return [
    bindQuery(routes.listChallengers, async ({ context: { ouId } }) => {
      const [{ running }, { version }] = await Promise.all([
        readChallengers(readModel, ouId),
        loadOne(configurations, ouId),
      ]);
      const figures = await readFigures(
        readModel,
        running.map(({ challenger_id }) => challenger_id),
      );
      return {
        data: running.map((challenger) =>
          challengerAnswer(challenger, {
            isOvertaken: version !== challenger.configuration_version,
            as_of: figures.get(challenger.challenger_id)?.as_of ?? null,
          }),
        ),
      };
    }),
    bindQuery(routes.getChallenger, async ({ params, context: { ouId } }) => {
      const challenger = runningOf(await readChallengers(readModel, ouId), params.id.toLowerCase());
      if (!challenger) throw problem(challengerNotFound.code, challengerNotFound.message);
      const { challenger_id } = challenger;
      const figures = (await readFigures(readModel, [challenger_id])).get(challenger_id);
      const [{ version }, names, defined] = await Promise.all([
        loadOne(configurations, ouId),
        namesOf(readModel, ouId, figures?.found.movers ?? []),
        readTriggers(readModel, ouId),
      ]);
      return challengerWithFigures(challenger, figures, { version, names, defined });
    }),
  ];
}
