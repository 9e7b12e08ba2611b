// Commands about decay rules for tests.
import type { records } from '@lead-scoring/contracts';
import type { ConfigurationCommand } from '../configuration/messages.js';
import { at, idOf, ouId } from './builders.js';

export const createDecay = (
  name: string,
  more: Partial<records.CreateDecay> = {},
): Extract<ConfigurationCommand, { type: 'CreateDecay' }> => {
  const isOther = more.mode !== undefined && more.mode !== 'inactivity_points';
  return {
    type: 'CreateDecay',
    payload: {
      ou_id: ouId,
      decay_id: idOf(name),
      name,
      mode: 'inactivity_points',
      ...(!isOther && { points: -5 }),
      interval_days: 7,
      requested_at: at,
      ...more,
    },
  };
};

export const updateDecay = (
  name: string,
  more: Partial<records.UpdateDecay>,
): Extract<ConfigurationCommand, { type: 'UpdateDecay' }> => ({
  type: 'UpdateDecay',
  payload: { ou_id: ouId, decay_id: idOf(name), requested_at: at, ...more },
});

export const deleteDecay = (
  name: string,
  more: Partial<records.DeleteDecay> = {},
): Extract<ConfigurationCommand, { type: 'DeleteDecay' }> => ({
  type: 'DeleteDecay',
  payload: { ou_id: ouId, decay_id: idOf(name), requested_at: at, ...more },
});
