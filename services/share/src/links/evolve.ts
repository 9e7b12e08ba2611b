// Folds the events of a share link: pure.
import type { ShareEvent } from './messages.js';
import type { Share } from './state.js';

export function evolveShare(share: Share | null, event: ShareEvent): Share | null {
  switch (event.type) {
    case 'ShareCreated': {
      const { share_id: id, ou_id, lead_id, token_hash, last_four, created_by } = event.payload;
      const { created_at, expires_at, scoring_offset = null, score_type = 'engagement' } = event.payload;
      return {
        id,
        ou_id,
        lead_id,
        score_type,
        token_hash,
        last_four,
        created_by,
        created_at,
        expires_at,
        scoring_offset,
        revoked_at: null,
      };
    }
    case 'ShareRevoked':
      return share && { ...share, revoked_at: event.payload.at };
  }
}
