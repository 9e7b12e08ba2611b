// Commands for tests, with fixed values that a test can override.
import { shareFieldsOf, type records } from '@lead-scoring/contracts';
import { at, idOf, ouId } from '@lead-scoring/scoring-domain/testing';
import type { ShareCommand } from '../links/messages.js';

export * from '@lead-scoring/scoring-domain/testing';

export const tokenOf = (name: string): string => `lsh_${name.padEnd(40, '0')}`;
export const shareOf = (name: string): string => shareFieldsOf(tokenOf(name)).share_id;

/** The command that shares a lead, with the token of this name. */
export const createShare = (
  name: string,
  lead: string,
  more: Partial<records.CreateShare> = {},
): Extract<ShareCommand, { type: 'CreateShare' }> => ({
  type: 'CreateShare',
  payload: {
    ...shareFieldsOf(tokenOf(name)),
    ou_id: ouId,
    lead_id: idOf(lead),
    created_by: idOf('credential'),
    requested_at: at,
    ...more,
  },
});

export const revokeShare = (
  name: string,
  more: Partial<records.RevokeShare> = {},
): Extract<ShareCommand, { type: 'RevokeShare' }> => ({
  type: 'RevokeShare',
  payload: {
    share_id: shareOf(name),
    ou_id: ouId,
    requested_by: idOf('credential'),
    requested_at: '2026-01-02T12:00:00.000Z',
    ...more,
  },
});
