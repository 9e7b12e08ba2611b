// Builds commands on configurations for tests, with defaults for all fields.
import type { records } from '@lead-scoring/contracts';

export const ouId = '6d1f3f0a-9f64-4a70-8f8e-6b1a6c2f0a01';
export const anotherOu = '6d1f3f0a-9f64-4a70-8f8e-6b1a6c2f0a02';
export const requestedAt = '2026-01-31T09:30:00.000Z';

/** The nth id of a kind. */
export function idOf(kind: number, nth: number): string {
  return `${kind.toString(16).padStart(8, '0')}-0000-4000-8000-${nth.toString(16).padStart(12, '0')}`;
}
export const channelId = (nth: number) => idOf(0xc, nth);
export const triggerId = (nth: number) => idOf(0xf, nth);

export const sealed = (text: string): records.SealedSecret => ({
  sealed: Buffer.from(text).toString('base64url'),
  last_four: text.slice(-4),
});

export const webhookTo = (url: string, auth?: string): records.WrittenDestination => ({
  type: 'webhook',
  config: { url, ...(auth !== undefined && { auth_header: sealed(auth) }) },
});

export function createChannel(
  nth: number,
  fields: Partial<records.CreateChannel> = {},
): { type: 'CreateChannel'; payload: records.CreateChannel } {
  return {
    type: 'CreateChannel',
    payload: {
      ou_id: ouId,
      channel_id: channelId(nth),
      name: `Channel ${String(nth)}`,
      destination: webhookTo(`https://example.com/${String(nth)}`),
      signing_key_id: channelId(nth),
      requested_at: requestedAt,
      ...fields,
    },
  };
}

const milestoneFields = {
  kind: 'milestone',
  name: 'Hot lead',
  active: true,
  score_type: 'engagement',
  direction: 'up',
  rearm: { cooldown_seconds: 0 },
} as const;

export function milestone(fields: Partial<records.MilestoneDefinition> = {}): records.MilestoneDefinition {
  return { ...milestoneFields, channel_ids: [], score_threshold: 50, ...fields };
}

/** A milestone by level. */
export function milestoneAt(
  level: string,
  fields: Partial<records.MilestoneDefinition> = {},
): records.MilestoneDefinition {
  return { ...milestoneFields, channel_ids: [], level, ...fields };
}

export function sequence(fields: Partial<records.SequenceDefinition> = {}): records.SequenceDefinition {
  return {
    kind: 'sequence',
    name: 'From interest to trial',
    channel_ids: [],
    active: true,
    steps: [
      { event_type: 'Page View', attribute_filters: [] },
      { event_type: 'Form Submit', attribute_filters: [] },
    ],
    ordered: true,
    window_seconds: 3_600,
    cooldown_seconds: 0,
    ...fields,
  };
}

export function surge(fields: Partial<records.SurgeDefinition> = {}): records.SurgeDefinition {
  return {
    kind: 'surge',
    name: 'Warming up',
    channel_ids: [],
    active: true,
    event_type: null,
    score_type: 'engagement',
    threshold: 30,
    window_seconds: 3_600,
    cooldown_seconds: 3_600,
    ...fields,
  };
}

export function createTrigger(
  nth: number,
  definition: records.TriggerDefinition = milestone(),
): { type: 'CreateTrigger'; payload: records.CreateTrigger } {
  return {
    type: 'CreateTrigger',
    payload: { ou_id: ouId, trigger_id: triggerId(nth), definition, requested_at: requestedAt },
  };
}
