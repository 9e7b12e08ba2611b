// Decides on share links: pure. Time and ids come with the command, the presence of the lead is an argument.
import { shareExpiryOf, type records } from '@lead-scoring/contracts';
import type { ShareCommand, ShareDecision, ShareEvent } from './messages.js';
import type { Share } from './state.js';

/**
 * Whether the OU has the lead; `unknown` while the fold lags. For an existing lead, an offset of scoring.events behind its first
 * decision, which distinguishes the lead from a later one with the same id.
 */
export type LeadPresence = { scoring_offset: number } | 'absent' | 'unknown';

/** The presence of the lead that follows from the command's own record; null if it has to be looked up. */
export function presenceFromCommand({ lead_seen_in }: records.CreateShare): LeadPresence | null {
  return lead_seen_in?.topic === 'scoring.events' ? { scoring_offset: lead_seen_in.offset + 1 } : null;
}

/** A repeated command that took effect before gives no event. */
export function decideShare(command: ShareCommand, share: Share | null, lead: LeadPresence): ShareDecision {
  switch (command.type) {
    case 'CreateShare':
      return createShare(command.payload, share, lead);
    case 'RevokeShare':
      return revokeShare(command.payload, share);
  }
}

function createShare(command: records.CreateShare, share: Share | null, lead: LeadPresence): ShareDecision {
  const { requested_at, lead_seen_in, ...fields } = command;
  if (share)
    return isSameLink(share, fields)
      ? done()
      : {
          outcome: 'rejected',
          code: 'idempotency_key_reused',
          message:
            'This Idempotency-Key was used to share another lead or another score. Use a new key for a new link.',
        };
  switch (lead) {
    case 'absent':
      return {
        outcome: 'rejected',
        code: 'lead_not_found',
        message: 'No lead of this organizational unit has this id.',
      };
    case 'unknown':
      // Notification's commands have no caller that could repeat them, so they are postponed.
      if (lead_seen_in) return { outcome: 'postponed', command };
      return {
        outcome: 'rejected',
        code: 'position_not_reached',
        message: 'The newest leads are not visible here yet. Send the request again in a moment.',
      };
    default: {
      const expires_at = shareExpiryOf(requested_at);
      const { scoring_offset } = lead;
      return done({
        type: 'ShareCreated',
        payload: { ...fields, created_at: requested_at, expires_at, scoring_offset },
      });
    }
  }
}

function isSameLink(
  share: Share,
  {
    ou_id,
    lead_id,
    score_type = 'engagement',
  }: Pick<records.CreateShare, 'ou_id' | 'lead_id' | 'score_type'>,
): boolean {
  return share.lead_id === lead_id && share.ou_id === ou_id && share.score_type === score_type;
}

function revokeShare(command: records.RevokeShare, share: Share | null): ShareDecision {
  if (share?.ou_id !== command.ou_id)
    return {
      outcome: 'rejected',
      code: 'share_not_found',
      message:
        'No share link of this organizational unit has this token or id. GET /leads/{id}/shares lists them.',
    };
  if (share.revoked_at !== null) return done();
  const { share_id, ou_id, requested_by, requested_at, actor } = command;
  return done({
    type: 'ShareRevoked',
    payload: { share_id, ou_id, lead_id: share.lead_id, revoked_by: requested_by, at: requested_at, actor },
  });
}

function done(...events: ShareEvent[]): ShareDecision {
  return { outcome: 'done', events };
}
