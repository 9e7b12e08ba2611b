// Commands and events of profile levels, and of the grid of profile by engagement.
import { z } from 'zod';
import { id } from '../common.js';
import { happened, requested } from '../vocabulary/actor.js';
import { grid } from '../vocabulary/grid.js';
import { defineRecord, type PayloadOf } from './record.js';
import { engagementLevelsSet, setEngagementLevels } from './scoring.js';

export const setProfileLevels = defineRecord({
  type: 'SetProfileLevels',
  topic: 'scoring.commands',
  key: 'ou_id',
  description:
    "Replace the OU's profile levels. A level without an id keeps that of the level of its name, or gets one.",
  schema: setEngagementLevels.schema,
});
export type SetProfileLevels = PayloadOf<typeof setProfileLevels>;

export const setScoringGrid = defineRecord({
  type: 'SetScoringGrid',
  topic: 'scoring.commands',
  key: 'ou_id',
  description: 'Replace the grid of profile by engagement, or take it away.',
  schema: z.strictObject({ ou_id: id, grid: grid.nullable(), ...requested }),
});
export type SetScoringGrid = PayloadOf<typeof setScoringGrid>;

export const profileLevelsSet = defineRecord({
  type: 'ProfileLevelsSet',
  topic: 'scoring.events',
  key: 'ou_id',
  description:
    'The OU has these profile levels and no others. What a profile score is called follows from them; scores stay.',
  schema: engagementLevelsSet.schema,
});
export type ProfileLevelsSet = PayloadOf<typeof profileLevelsSet>;

export const scoringGridSet = defineRecord({
  type: 'ScoringGridSet',
  topic: 'scoring.events',
  key: 'ou_id',
  description:
    'The OU has this grid; null: none. The cell of a lead follows from it and its two scores; scores stay.',
  schema: z.strictObject({ ou_id: id, grid: grid.nullable(), ...happened }),
});
export type ScoringGridSet = PayloadOf<typeof scoringGridSet>;

export const profileLevelRecords = [
  setProfileLevels,
  setScoringGrid,
  profileLevelsSet,
  scoringGridSet,
] as const;
