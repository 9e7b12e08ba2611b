// Challengers as answers show them. Pure.
import { shownActor, type routeDeclarations } from '@lead-scoring/contracts';
import type { DefinedTrigger } from '../trigger-definitions/documents.js';
import { whatIfResultOf } from '../what-if/result-model.js';
import { triggersAnswered } from '../what-if/trigger-model.js';
import type { Challenger } from './decide.js';
import type { Figures } from './documents.js';

/** What is known of a challenger besides what it was started with. Absent: it has just begun. */
export interface ChallengerState {
  /** Whether its figures are about earlier rules. */
  readonly isOvertaken: boolean;
  readonly as_of: string | null;
}

export function challengerAnswer(
  { challenger_id: id, name, at: started_at, actor, score_type, configuration_version }: Challenger,
  { isOvertaken, as_of }: ChallengerState = { isOvertaken: false, as_of: null },
): routeDeclarations.Challenger {
  return {
    ...{ id, name, started_at },
    ...(actor && { started_by: shownActor(actor) }),
    ...{ score_type, configuration_version, overtaken: isOvertaken, as_of },
  };
}

export interface FiguresContext {
  /** The version of the configuration now. */
  readonly version: number;
  /** The names of the leads that there are, by id. */
  readonly names: ReadonlyMap<string, string>;
  /** The triggers as they are defined now. */
  readonly defined: readonly DefinedTrigger[];
}

/** @param figures undefined: they were not computed yet */
export function challengerWithFigures(
  challenger: Challenger,
  figures: Figures | undefined,
  { version, names, defined }: FiguresContext,
): routeDeclarations.ChallengerFigures {
  const { changes, levels, decays, outcome, threshold } = challenger;
  return {
    ...challengerAnswer(challenger, {
      isOvertaken: version !== challenger.configuration_version,
      as_of: figures?.as_of ?? null,
    }),
    changes,
    ...(levels && { levels }),
    ...(decays && { decays }),
    ...(outcome && { outcome }),
    ...(threshold !== undefined && { threshold }),
    figures: figures
      ? {
          ...whatIfResultOf(figures.found, { work: challenger, version, names }),
          triggers: triggersAnswered(evaluatedBy(figures, defined), figures.found),
        }
      : null,
  };
}

/** The triggers that are as they were when the figures were computed. */
function evaluatedBy({ triggers }: Figures, defined: readonly DefinedTrigger[]): DefinedTrigger[] {
  const since = new Map(triggers.map(({ id, at }) => [id, at]));
  return defined.filter(({ id, at }) => since.get(id) === at);
}
