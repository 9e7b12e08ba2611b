// The notification of a quota that is nearly used, to the channel of the credential or of the organisation. Pure.
import { nameBasedId, type QuotaPayload, type records } from '@lead-scoring/contracts';
import type { WarningChannel } from '../identity/messages.js';
import type { OrganisationState } from '../identity/state.js';
import { quotaPeriodsOf } from './quota-model.js';

/**
 * The command to the notification service; null where nobody has named a channel. It has the same id for the same quota, period,
 * limit and channel, so the service delivers it once however often it is sent.
 */
export function quotaNotificationOf(
  warning: records.QuotaNearlyUsed,
  state: OrganisationState,
): records.RequestNotification | null {
  const { organisation_id, credential_id, quota, period, limit, at } = warning;
  const channel = channelFor(credential_id, state);
  if (!channel) return null;
  const { ou_id, channel_id } = channel;
  const owner = credential_id ?? organisation_id;
  return {
    ou_id,
    channel_id,
    notification_id: nameBasedId(channel_id, `quota:${owner}:${quota}:${period}:${String(limit)}`),
    payload: payloadOf(warning, ou_id, state),
    requested_at: at,
  };
}

/** The channel of the credential, else that of the organisation. */
function channelFor(credentialId: string | null, state: OrganisationState): WarningChannel | null {
  const own = credentialId === null ? null : state.credentials.get(credentialId)?.warning_channel;
  return own ?? state.organisation?.warning_channel ?? null;
}

function payloadOf(
  { credential_id, quota, period, limit, used, at }: records.QuotaNearlyUsed,
  unit_id: string,
  { credentials }: OrganisationState,
): QuotaPayload {
  const credential = credential_id === null ? undefined : credentials.get(credential_id);
  const bounds = quotaPeriodsOf(Date.parse(period))[quota.endsWith('_day') ? 'day' : 'month'];
  return {
    type: 'quota.nearly_used',
    timestamp: at,
    data: {
      credential: credential ? { kind: credential.kind, id: credential.id, name: credential.name } : null,
      quota,
      period,
      resets_at: new Date(bounds.to).toISOString(),
      limit,
      used,
      unit_id,
    },
  };
}
