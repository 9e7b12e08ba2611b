// Builds notifications, channels and attempts for tests of delivery.
import {
  nameBasedId,
  type AccountFiredPayload,
  type FiredPayload,
  type QuotaPayload,
  type NotifiedAccount,
  type records,
} from '@lead-scoring/contracts';
import type { Channel } from '../configuration/state.js';

const namespace = '6f3c1c1e-6a0e-4b0e-9a57-6b1a4d1f0a11';

/** The same id for the same name. */
export function idOf(name: string): string {
  return nameBasedId(namespace, name);
}

export const ouId = idOf('ou');
export const startTime = '2026-01-01T00:00:00.000Z';

export function firedPayload(
  change: Partial<Extract<FiredPayload, { type: 'trigger.milestone.fired' }>['data']> = {},
): FiredPayload {
  return {
    type: 'trigger.milestone.fired',
    timestamp: startTime,
    data: {
      firing_id: idOf('firing'),
      trigger: { id: idOf('trigger'), name: 'Hot leads', kind: 'milestone' },
      lead: {
        id: idOf('lead'),
        name: 'Ada Lovelace',
        aliases: [{ alias_kind: 'email', alias: 'ada@example.com' }],
      },
      score: 87,
      previous_score: 62,
      level: null,
      top_drivers: [
        { rule_id: idOf('rule'), event_type: 'Demo Requested', count: 1, weight: 25, total: 25 },
        {
          rule_id: idOf('other rule'),
          event_type: 'Page View',
          count: 3,
          weight: 10,
          total: 30,
          filter_label: 'path contains /pricing',
        },
      ],
      cause: { event_id: idOf('event'), event_type: 'Demo Requested', rule_ids: [idOf('rule')] },
      threshold: 80,
      direction: 'up',
      unit_id: ouId,
      position: 'scoring.events:3:1042',
      ...change,
    },
  };
}

/** A lead that reached the level Hot. */
export function levelPayload(
  change: Partial<Extract<FiredPayload, { type: 'lead.level_changed' }>['data']> = {},
): FiredPayload {
  const { timestamp, data } = firedPayload();
  const { trigger, ...rest } = data as Extract<FiredPayload, { type: 'trigger.milestone.fired' }>['data'];
  return {
    type: 'lead.level_changed',
    timestamp,
    data: { ...rest, trigger, level: 'Hot', previous_level: 'Warm', threshold_level: 'Hot', ...change },
  };
}

export const notifiedAccount = (name: string, change: Partial<NotifiedAccount> = {}): NotifiedAccount => ({
  id: idOf(name),
  name: 'Acme Corporation',
  account_kind: 'domain',
  account_key: 'acme.com',
  leads: 3,
  ...change,
});

/** The warning that a quota of a token is nearly used. */
export function quotaPayload(change: Partial<QuotaPayload['data']> = {}): QuotaPayload {
  return {
    type: 'quota.nearly_used',
    timestamp: startTime,
    data: {
      credential: { kind: 'token', id: idOf('credential'), name: 'Website' },
      quota: 'events_per_month',
      period: '2026-02-01T00:00:00.000Z',
      resets_at: '2026-03-01T00:00:00.000Z',
      limit: 1_000_000,
      used: 812_345,
      unit_id: ouId,
      ...change,
    },
  };
}

export function accountPayload(change: Partial<AccountFiredPayload['data']> = {}): AccountFiredPayload {
  return {
    type: 'account.milestone.fired',
    timestamp: startTime,
    data: {
      firing_id: idOf('firing'),
      trigger: { id: idOf('trigger'), name: 'Hot accounts', kind: 'milestone' },
      account: notifiedAccount('acme'),
      score: 1_287,
      previous_score: 962,
      score_type: 'account',
      threshold: 1_000,
      direction: 'up',
      cause: { event_id: null, event_type: null, reason: 'leads', rule_ids: [] },
      unit_id: ouId,
      position: 'scoring.events:3:1042',
      ...change,
    },
  };
}

export function requestOf(
  name: string,
  {
    channel = 'channel',
    lead = 'lead',
    at = startTime,
    position = 'scoring.events:3:1042',
  }: { channel?: string; lead?: string; at?: string; position?: string } = {},
): records.RequestNotification {
  return {
    ou_id: ouId,
    channel_id: idOf(channel),
    notification_id: idOf(`notification ${name}`),
    payload: firedPayload({
      firing_id: idOf(`firing ${name}`),
      lead: { id: idOf(lead), name: lead, aliases: [] },
      position,
    }),
    requested_at: at,
  };
}

export function channelOf(name = 'channel', change: Partial<Channel> = {}): Channel {
  return {
    id: idOf(name),
    ou_id: ouId,
    name,
    destination: { type: 'webhook', config: { url: `https://${name}.example.com/hook` } },
    signing: { key_id: idOf(`${name} key`), previous: null },
    version: 1,
    created_at: startTime,
    updated_at: startTime,
    ...change,
  };
}

export function attemptOf(
  request: Pick<records.RequestNotification, 'ou_id' | 'channel_id' | 'notification_id'>,
  change: Partial<records.RecordAttempt> = {},
): records.RecordAttempt {
  const { ou_id, channel_id, notification_id } = request;
  return {
    ou_id,
    channel_id,
    notification_id,
    attempt: 1,
    attempted_at: startTime,
    duration_ms: 20,
    detail: 'channel.example.com answered 500.',
    status: 500,
    outcome: 'failed',
    reason: 'status',
    ...change,
  };
}

/** An attempt that its destination accepted. */
export function deliveredAttempt(
  request: Pick<records.RequestNotification, 'ou_id' | 'channel_id' | 'notification_id'>,
  attempt = 1,
): records.RecordAttempt {
  const { ou_id, channel_id, notification_id } = request;
  return {
    ou_id,
    channel_id,
    notification_id,
    attempt,
    attempted_at: startTime,
    duration_ms: 20,
    detail: 'channel.example.com answered 204.',
    status: 204,
    outcome: 'delivered',
  };
}
