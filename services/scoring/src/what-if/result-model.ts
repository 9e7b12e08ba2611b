// The answer of a what-if, from what its steps have found. Pure.
import { largestScore, smallestScore, type records, type routeDeclarations } from '@lead-scoring/contracts';
import { joinHistograms } from '../leads/histogram-fold.js';
import { unpackCounts } from './packed-counts.js';
import type { Sides } from './replay-model.js';
import { bandsOf, countIn, type Band, type ScoreCounts } from './statistics/histogram.js';
import { atThreshold, liftOfTopDecile, rocOf, separationOf } from './statistics/separation.js';

/** The triggers are answered beside it: their names are not among the findings. */
type Result = Omit<routeDeclarations.WhatIfResult, 'triggers'>;
type Side = routeDeclarations.WhatIfSide;

export interface ResultContext {
  readonly work: Pick<records.WhatIfWork, 'configuration_version' | 'threshold'>;
  /** The version of the configuration now. */
  readonly version: number;
  /** The names of the leads that there are, by id. */
  readonly names: ReadonlyMap<string, string>;
}

export function whatIfResultOf(found: records.WhatIfFound, { work, version, names }: ResultContext): Result {
  const { leads, rising, falling, crossing, movers } = found;
  const { configuration_version, threshold } = work;
  const scores = sidesOf(found, ({ scores: packed }) => unpackCounts(packed));
  const bands = {
    distribution: bandsOver(scores),
    conversion: bandsOver(
      sidesOf(found, ({ outcome }) =>
        joinHistograms([unpackCounts(outcome?.won ?? []), unpackCounts(outcome?.others ?? [])]),
      ),
    ),
  };
  const sideOf = (side: records.FoundSide): Side => answeredSide(side, bands, threshold);
  return {
    configuration_version,
    overtaken: version !== configuration_version,
    leads,
    rising,
    falling,
    unchanged: leads - rising - falling,
    level_changes: crossing,
    ...sidesOf(found, sideOf),
    movers: movers.flatMap(({ lead_id, live, draft, why }) => {
      const name = names.get(lead_id);
      return name === undefined ? [] : [{ lead_id, name, live, draft, why }];
    }),
  };
}

function sidesOf<Of>(
  { live, draft }: Sides<records.FoundSide>,
  of: (side: records.FoundSide) => Of,
): Sides<Of> {
  return { live: of(live), draft: of(draft) };
}

/** The same bands for both sides, so that they can be compared. */
function bandsOver({ live, draft }: Sides<ScoreCounts>): Band[] {
  return bandsOf([...live.keys(), ...draft.keys()], { low: smallestScore, high: largestScore });
}

function answeredSide(
  { scores, levels, cells, outcome }: records.FoundSide,
  bands: { distribution: readonly Band[]; conversion: readonly Band[] },
  threshold: number | undefined,
): Side {
  const counts = countIn(bands.distribution, unpackCounts(scores));
  return {
    distribution: bands.distribution.map((band, index) => ({ ...band, leads: counts[index] ?? 0 })),
    levels,
    ...(cells.length > 0 && { grid: [...cells].sort((one, other) => (one.cell < other.cell ? -1 : 1)) }),
    ...(outcome && outcomeFigures(outcome, bands.conversion, threshold)),
  };
}

function outcomeFigures(
  outcome: NonNullable<records.FoundSide['outcome']>,
  bands: readonly Band[],
  threshold: number | undefined,
): Partial<Side> {
  const [won, others] = [unpackCounts(outcome.won), unpackCounts(outcome.others)];
  const [wonIn, othersIn] = [countIn(bands, won), countIn(bands, others)];
  return {
    ...separationOf(won, others),
    lift_top_decile: liftOfTopDecile(won, others),
    conversion_by_band: bands.map((band, index) => ({
      ...band,
      leads: (wonIn[index] ?? 0) + (othersIn[index] ?? 0),
      won: wonIn[index] ?? 0,
    })),
    roc: rocOf(won, others),
    ...(threshold !== undefined && { at_threshold: atThreshold(won, others, threshold) }),
  };
}
