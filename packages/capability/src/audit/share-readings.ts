// What the events of share say of links. The token of a link is on no topic; its last four characters are shown.
import { gone, type Readings } from './subject-change.js';

export const shareReadings: Readings<'share'> = {
  ShareCreated: ({ share_id: id, actor, lead_id, score_type = 'engagement', last_four, expires_at }) =>
    // The links in notifications are as many as these; GET /deliveries has them.
    actor?.kind === 'trigger' ? [] : [{ id, after: () => ({ lead_id, score_type, last_four, expires_at }) }],
  ShareRevoked: gone('share_id'),
};
