// Folds what happens to share links: pure.
import type { ShareEvent } from './events.js';
import type { Share } from './state.js';

export function evolveShare(share: Share | null, event: ShareEvent): Share | null {
  switch (event.type) {
    case 'ShareCreated': {
      const { share_id, scoring_offset, ...fields } = event.payload;
      return { id: share_id, ...fields, scoring_offset: scoring_offset ?? null, revoked_at: null };
    }
    case 'ShareRevoked':
      return share && { ...share, revoked_at: event.payload.at };
  }
}
