// Whether a trigger may name a level of its OU.
import type { records } from '@lead-scoring/contracts';
import { levelOfName } from '@lead-scoring/scoring-domain';
import type { Levels } from '../levels/line-model.js';
import { looksForTheSame } from './evolve.js';
import type { Refusal } from './messages.js';
import type { Trigger } from './state.js';

/** The OU's levels, for commands on triggers by level; null: they could not be read in time. */
export type KnownLevels = Levels | null;

/** Why a definition's level is refused; null for none. A trigger whose level is gone may still get a new name or channels. */
export function refusalOfLevel(
  definition: records.TriggerDefinition,
  known: Trigger | undefined,
  levels: KnownLevels,
): Refusal | null {
  if (definition.kind !== 'milestone' || definition.level === undefined) return null;
  if (levels === null)
    return {
      code: 'position_not_reached',
      message:
        'The newest engagement levels are not yet known to the notification service. Send the request again in a moment.',
    };
  if (known && looksForTheSame(known, definition)) return null;
  const level = levelOfName(levels, definition.level);
  if (!level) return levelNotFound(definition.level, levels);
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

function levelNotFound(wanted: string, levels: Levels): Refusal {
  const names = levels.map(({ name }) => `"${name}"`).join(', ');
  return {
    code: 'level_not_found',
    message: `No engagement level of this organizational unit is named "${wanted}". ${names === '' ? 'It has none; PUT /engagement-scoring/levels sets them.' : `Its levels are ${names}.`}`,
    errors: [{ path: 'body.level', message: 'is not an engagement level of this organizational unit' }],
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
