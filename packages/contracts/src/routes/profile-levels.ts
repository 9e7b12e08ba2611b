// Profile levels, and the grid of profile by engagement.
import { z } from 'zod';
import { grid, gridForm } from '../vocabulary/grid.js';
import { defineRoute, editor, viewer } from './route.js';
import { levelList, levelsForm } from './scoring-configuration.js';

const shared = { owner: 'scoring', tag: 'Scoring configuration' } as const;

export const listProfileLevels = defineRoute({
  ...shared,
  name: 'listProfileLevels',
  method: 'GET',
  path: '/profile-scoring/levels',
  kind: 'query',
  access: viewer,
  summary: 'Profile levels',
  description: 'In the order in which they were set, in the form that PUT takes.',
  responses: { 200: { description: 'Levels', schema: levelList } },
  problems: [],
});

export const setProfileLevels = defineRoute({
  ...shared,
  name: 'setProfileLevels',
  method: 'PUT',
  path: '/profile-scoring/levels',
  kind: 'command',
  access: editor,
  summary: 'Replace the profile levels',
  description:
    'Names for ranges of profile scores, with the rules of PUT /engagement-scoring/levels. No score changes, and the new levels are in the next answer.',
  body: levelsForm,
  responses: { 200: { description: 'The levels, with their ids', schema: levelList } },
  problems: ['levels_overlap', 'duplicate_name'],
});

const gridAnswer = z
  .strictObject({ grid: grid.nullable() })
  .meta({ id: 'ScoringGridAnswer' })
  .describe('null: the OU has no grid.');

export const getScoringGrid = defineRoute({
  ...shared,
  name: 'getScoringGrid',
  method: 'GET',
  path: '/scoring/grid',
  kind: 'query',
  access: viewer,
  summary: 'The grid of profile by engagement',
  responses: { 200: { description: 'The grid, in the form that PUT takes', schema: gridAnswer } },
  problems: [],
});

export const setScoringGrid = defineRoute({
  ...shared,
  name: 'setScoringGrid',
  method: 'PUT',
  path: '/scoring/grid',
  kind: 'command',
  access: editor,
  summary: 'Replace the grid of profile by engagement',
  description:
    'Sixteen cells, A1 to D4: A to D grade the profile score, 1 to 4 the engagement score, each from its lowest score up. A lead without a profile score counts as 0. The cell is computed when a lead is read: no score changes. `{"grid": null}` takes the grid away.',
  body: z.strictObject({ grid: gridForm.nullable() }).meta({
    id: 'ScoringGridChange',
    example: { grid: { profile: { A: 60, B: 30, C: 10 }, engagement: { 1: 80, 2: 40, 3: 10 } } },
  }),
  responses: { 200: { description: 'The grid', schema: gridAnswer } },
  problems: [],
});
