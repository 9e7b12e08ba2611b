// Saved filters of leads.
import { z } from 'zod';
import { id, name, page, pageParameters, time } from '../common.js';
import { actor } from '../vocabulary/actor.js';
import { leadFilterForm } from '../vocabulary/lead-filter-forms.js';
import { leadFilterGroup } from '../vocabulary/lead-filters.js';
import { lead } from './leads.js';
import { defineRoute, editor, viewer } from './route.js';

const own = { owner: 'scoring', tag: 'Filters' } as const;
const read = { ...own, kind: 'query', access: viewer } as const;
const write = { ...own, kind: 'command', access: editor } as const;
const parameters = z.strictObject({ id });

const filterLabel = z.string().max(50_000).describe('The conditions as a sentence.');

export const leadFilter = z
  .strictObject({
    id,
    name: z.string().max(100),
    conditions: leadFilterGroup,
    filter_label: filterLabel,
    version: z.int().min(1),
    created_at: time,
    updated_at: time,
    changed_by: actor.optional().describe('Who made the latest change, where it is known.'),
  })
  .meta({ id: 'LeadFilter' });
export type LeadFilter = z.infer<typeof leadFilter>;

export const listFilters = defineRoute({
  ...read,
  name: 'listFilters',
  method: 'GET',
  path: '/filters',
  summary: 'Saved filters of leads, oldest first',
  query: z.strictObject(pageParameters),
  responses: { 200: { description: 'Filters', schema: page(leadFilter) } },
  problems: [],
});

export const createFilter = defineRoute({
  ...write,
  name: 'createFilter',
  method: 'POST',
  path: '/filters',
  summary: 'Save a filter of leads',
  description:
    'Groups of conditions, nested at most 5 deep, at most 50 conditions in all. GET /leads?filter_id=… lists the leads that match at that moment: times such as {"days_ago": 7} move with the clock, and a level is the range of scores that it has then. `name`, `company`, `title`, `owner` and `phone` are what events said; a lead that is shown by its alias has no name.',
  body: z.strictObject({ name: name(100), conditions: leadFilterForm }).meta({ id: 'LeadFilterCreation' }),
  responses: { 201: { description: 'Saved', schema: leadFilter } },
  problems: ['duplicate_name', 'limit_reached', 'level_not_found', 'grid_not_found', 'ruleset_not_found'],
});

export const getFilter = defineRoute({
  ...read,
  name: 'getFilter',
  method: 'GET',
  path: '/filters/{id}',
  summary: 'A saved filter of leads',
  parameters,
  responses: { 200: { description: 'Filter', schema: leadFilter } },
  problems: ['filter_not_found'],
});

export const updateFilter = defineRoute({
  ...write,
  name: 'updateFilter',
  method: 'PATCH',
  path: '/filters/{id}',
  summary: 'Rename a filter of leads, or give it other conditions',
  description: '`conditions` replaces the whole group.',
  parameters,
  body: z
    .strictObject({ name: name(100).optional(), conditions: leadFilterForm.optional() })
    .refine(
      (body) => body.name !== undefined || body.conditions !== undefined,
      'must hold name or conditions',
    )
    .meta({ id: 'LeadFilterChange', minProperties: 1 }),
  responses: { 200: { description: 'Updated', schema: leadFilter } },
  problems: [
    'filter_not_found',
    'duplicate_name',
    'limit_reached',
    'level_not_found',
    'grid_not_found',
    'ruleset_not_found',
  ],
});

export const deleteFilter = defineRoute({
  ...write,
  name: 'deleteFilter',
  method: 'DELETE',
  path: '/filters/{id}',
  summary: 'Delete a saved filter of leads',
  parameters,
  responses: { 204: { description: 'Deleted' } },
  problems: ['filter_not_found'],
});

export const previewFilter = defineRoute({
  ...read,
  name: 'previewFilter',
  method: 'POST',
  path: '/filters/preview',
  summary: 'Leads that a filter would match, before it is saved',
  body: z.strictObject({ conditions: leadFilterForm }).meta({ id: 'LeadFilterPreview' }),
  responses: {
    200: {
      description: 'How many leads match now, and the first few of them',
      schema: z.strictObject({
        total: z.int().min(0),
        filter_label: filterLabel,
        examples: z.array(lead).max(5).describe('Highest score first.'),
      }),
    },
  },
  problems: ['level_not_found', 'grid_not_found', 'ruleset_not_found'],
});
