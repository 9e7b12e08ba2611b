// Decides on an OU's profile levels and on its grid of profile by engagement: pure.
import type { JsonValue, records } from '@lead-scoring/contracts';
import type { ScoringConfiguration } from '@lead-scoring/scoring-domain';
import type { ConfigurationDecision } from '../configuration/messages.js';
import { decideLevels } from './decide.js';
import type { GridCommand } from './messages.js';

export function decideGridCommand(
  { type, payload }: GridCommand,
  configuration: ScoringConfiguration,
): ConfigurationDecision {
  switch (type) {
    case 'SetProfileLevels':
      return decideLevels(payload, configuration, {
        known: configuration.profile_levels ?? [],
        kind: 'profile-level',
        event: (set) => ({ type: 'ProfileLevelsSet', payload: set }),
      });
    case 'SetScoringGrid': {
      const { ou_id, grid, requested_at: at } = payload;
      if (isSameGrid(grid, configuration.grid ?? null)) return { outcome: 'done', events: [] };
      return { outcome: 'done', events: [{ type: 'ScoringGridSet', payload: { ou_id, grid, at } }] };
    }
  }
}

/** The answer of the command's route, once its events are folded. */
export function gridResultOf({ type }: GridCommand, configuration: ScoringConfiguration): JsonValue {
  switch (type) {
    case 'SetProfileLevels':
      return { levels: (configuration.profile_levels ?? []).map((level) => ({ ...level })) };
    case 'SetScoringGrid': {
      const { grid } = configuration;
      return { grid: grid ? { profile: { ...grid.profile }, engagement: { ...grid.engagement } } : null };
    }
  }
}

type Grid = records.SetScoringGrid['grid'];

function isSameGrid(one: Grid, other: Grid): boolean {
  const bounds = (grid: Grid) =>
    grid && [
      ...(['A', 'B', 'C'] as const).map((grade) => grid.profile[grade]),
      ...([1, 2, 3] as const).map((grade) => grid.engagement[grade]),
    ];
  return JSON.stringify(bounds(one)) === JSON.stringify(bounds(other));
}
