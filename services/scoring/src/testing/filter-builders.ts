// Commands about saved filters for tests.
import type { records } from '@lead-scoring/contracts';
import type { ConfigurationCommand } from '../configuration/messages.js';
import { at, idOf, ouId } from './builders.js';

export const createFilter = (
  name: string,
  more: Partial<records.CreateFilter> = {},
): Extract<ConfigurationCommand, { type: 'CreateFilter' }> => ({
  type: 'CreateFilter',
  payload: {
    ou_id: ouId,
    filter_id: idOf(name),
    name,
    conditions: { all: [{ field: 'score', operator: 'gte', value: 50 }] },
    requested_at: at,
    ...more,
  },
});

export const updateFilter = (
  name: string,
  more: Partial<records.UpdateFilter>,
): Extract<ConfigurationCommand, { type: 'UpdateFilter' }> => ({
  type: 'UpdateFilter',
  payload: { ou_id: ouId, filter_id: idOf(name), requested_at: at, ...more },
});

export const deleteFilter = (name: string): Extract<ConfigurationCommand, { type: 'DeleteFilter' }> => ({
  type: 'DeleteFilter',
  payload: { ou_id: ouId, filter_id: idOf(name), requested_at: at },
});
