// The answer of a rescoring, from what its steps have found. Pure.
import type { records, routeDeclarations } from '@lead-scoring/contracts';
import { whatIfResultOf, type ResultContext } from '../what-if/result-model.js';

export function rescoringResultOf(
  found: records.WhatIfFound,
  { work, ...context }: Omit<ResultContext, 'work'> & { readonly work: records.RescoringWork },
): routeDeclarations.RescoringResult {
  const { live, draft, movers, ...counts } = whatIfResultOf(found, {
    ...context,
    work: { configuration_version: work.configuration_version, threshold: undefined },
  });
  return {
    dry_run: work.dry_run,
    ...counts,
    now: live,
    rescored: draft,
    movers: movers.map(({ lead_id, name, live: now, draft: rescored, why }) => ({
      lead_id,
      name,
      now,
      rescored,
      why: why.map(({ live: points, draft: others, ...reason }) => ({
        ...reason,
        now: points,
        rescored: others,
      })),
    })),
  };
}
