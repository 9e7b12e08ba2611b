// The notifications of a firing for an account. They have no share link: such a link explains the score of a lead.
import type { AccountFiredPayload, records } from '@lead-scoring/contracts';
import { notificationIdOf, positionText } from '@lead-scoring/scoring-domain/triggers';

/** The commands that request the notifications of a firing, one per channel of the trigger. */
export function accountRequestsOf(fired: records.AccountMilestoneFired): records.RequestNotification[] {
  const { ou_id, firing_id, fired_at, channel_ids } = fired;
  const payload = payloadOf(fired);
  return channel_ids.map((channel_id) => ({
    ou_id,
    channel_id,
    notification_id: notificationIdOf(firing_id, channel_id),
    payload,
    requested_at: fired_at,
  }));
}

function payloadOf(fired: records.AccountMilestoneFired): AccountFiredPayload {
  const { firing_id, trigger, account, score, previous_score, score_type, threshold, direction } = fired;
  const { event_id, event_type, reason, rule_ids } = fired.cause;
  return {
    type: 'account.milestone.fired',
    timestamp: fired.fired_at,
    data: {
      firing_id,
      trigger,
      account,
      score,
      previous_score,
      score_type,
      threshold,
      direction,
      cause: { event_id, event_type, reason, rule_ids },
      unit_id: fired.ou_id,
      position: positionText(fired.source),
    },
  };
}
