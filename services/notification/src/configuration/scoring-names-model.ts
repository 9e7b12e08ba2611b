// Whether a trigger may name a level or a filter of its OU.
import type { LeadScoreType, records } from '@lead-scoring/contracts';
import {
  levelOfName,
  levelsOfScore,
  type ScoreLevels,
  type ScoringConfiguration,
} from '@lead-scoring/scoring-domain';
import { namesScoring, type Trigger } from '@lead-scoring/scoring-domain/triggers';
import { looksForTheSame } from './evolve.js';
import type { Refusal } from './messages.js';

/** The OU's levels and filters, for commands on triggers that name one; null: they could not be read in time. */
export type KnownScoring = Pick<ScoringConfiguration, 'levels' | 'profile_levels' | 'filters'> | null;

/**
 * Why a definition's level or filter is refused; null for neither. A trigger whose level or filter is gone may still get a new name
 * or channels.
 */
export function refusalOfNamed(
  definition: records.TriggerDefinition,
  known: Trigger | undefined,
  scoring: KnownScoring,
): Refusal | null {
  if (definition.kind !== 'milestone' || !namesScoring(definition)) return null;
  if (scoring === null)
    return {
      code: 'position_not_reached',
      message:
        'The newest levels and filters are not yet known to the notification service. Send the request again in a moment.',
    };
  if (known && looksForTheSame(known, definition)) return null;
  return refusalOfFilter(definition, scoring) ?? refusalOfLevel(definition, scoring);
}

function refusalOfFilter(
  { filter_id }: records.MilestoneDefinition,
  { filters }: NonNullable<KnownScoring>,
): Refusal | null {
  if (filter_id === undefined || filters.has(filter_id.toLowerCase())) return null;
  return {
    code: 'filter_not_found',
    message: `No saved filter of this organizational unit has the id ${filter_id}. ${filters.size === 0 ? 'It has none; POST /filters saves one.' : 'GET /filters lists them.'}`,
    errors: [{ path: 'body.filter_id', message: 'is not a saved filter of this organizational unit' }],
  };
}

function refusalOfLevel(definition: records.MilestoneDefinition, levels: ScoreLevels): Refusal | null {
  // The route refuses a level of an account score.
  if (definition.level === undefined || definition.score_type === 'account') return null;
  const level = levelOfName(levelsOfScore(levels, definition.score_type), definition.level);
  if (!level) return levelNotFound(definition.level, definition.score_type, levels);
  const { name, min_score } = level;
  if (min_score === null)
    return {
      code: 'invalid_request',
      message: `The level "${name}" has no min_score, so no score can cross its lower bound. To be notified of leads that fall into it, use the level above it with direction "down".`,
      errors: [{ path: 'body.level', message: 'must be a level with a min_score' }],
    };
  const { below, above } = definition.rearm;
  const lies = `the min_score of "${name}", which is ${String(min_score)}`;
  if (below !== undefined && below > min_score) return rearmRefused('below', `must not be above ${lies}`);
  if (above !== undefined && above < min_score) return rearmRefused('above', `must not be below ${lies}`);
  return null;
}

function levelNotFound(wanted: string, scoreType: LeadScoreType, levels: ScoreLevels): Refusal {
  const names = levelsOfScore(levels, scoreType)
    .map(({ name }) => `"${name}"`)
    .join(', ');
  const kind = `${scoreType} level`;
  return {
    code: 'level_not_found',
    message: `No ${kind} of this organizational unit is named "${wanted}". ${names === '' ? `It has none; PUT /${scoreType}-scoring/levels sets them.` : `Its ${kind}s are ${names}.`}`,
    errors: [{ path: 'body.level', message: `is not one of the ${kind}s of this organizational unit` }],
  };
}

function rearmRefused(field: 'below' | 'above', message: string): Refusal {
  const path = `rearm.${field}`;
  return {
    code: 'invalid_request',
    message: `${path} ${message}.`,
    errors: [{ path: `body.${path}`, message }],
  };
}
