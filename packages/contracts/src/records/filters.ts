// Commands and events of an OU's saved filters of leads. They are part of its scoring configuration.
import { z } from 'zod';
import { id, name } from '../common.js';
import { happened, requested } from '../vocabulary/actor.js';
import { leadFilterGroup } from '../vocabulary/lead-filters.js';
import { defineRecord, type PayloadOf } from './record.js';

/** Filters of an OU. */
export const maximumFilters = 200;

const filter = { ou_id: id, filter_id: id };
const definition = { name: name(100), conditions: leadFilterGroup };

export const createFilter = defineRecord({
  type: 'CreateFilter',
  topic: 'scoring.commands',
  key: 'ou_id',
  description: 'Save a filter of leads.',
  schema: z.strictObject({ ...filter, ...definition, ...requested }),
});
export type CreateFilter = PayloadOf<typeof createFilter>;

export const updateFilter = defineRecord({
  type: 'UpdateFilter',
  topic: 'scoring.commands',
  key: 'ou_id',
  description: 'Give a filter of leads another name or other conditions.',
  schema: z.strictObject({
    ...filter,
    name: name(100).optional(),
    conditions: leadFilterGroup.optional(),
    ...requested,
  }),
});
export type UpdateFilter = PayloadOf<typeof updateFilter>;

export const deleteFilter = defineRecord({
  type: 'DeleteFilter',
  topic: 'scoring.commands',
  key: 'ou_id',
  description: 'Delete a filter of leads.',
  schema: z.strictObject({ ...filter, ...requested }),
});
export type DeleteFilter = PayloadOf<typeof deleteFilter>;

export const filterCreated = defineRecord({
  type: 'FilterCreated',
  topic: 'scoring.events',
  key: 'ou_id',
  description: 'A filter of leads is saved.',
  schema: z.strictObject({ ...filter, ...definition, version: z.int().min(1), ...happened }),
});
export type FilterCreated = PayloadOf<typeof filterCreated>;

export const filterUpdated = defineRecord({
  type: 'FilterUpdated',
  topic: 'scoring.events',
  key: 'ou_id',
  description: 'A filter of leads has this name and these conditions from now on.',
  schema: filterCreated.schema,
});
export type FilterUpdated = PayloadOf<typeof filterUpdated>;

export const filterDeleted = defineRecord({
  type: 'FilterDeleted',
  topic: 'scoring.events',
  key: 'ou_id',
  description: 'A filter of leads is gone.',
  schema: z.strictObject({ ...filter, ...happened }),
});
export type FilterDeleted = PayloadOf<typeof filterDeleted>;

export const filterRecords = [
  createFilter,
  updateFilter,
  deleteFilter,
  filterCreated,
  filterUpdated,
  filterDeleted,
] as const;
