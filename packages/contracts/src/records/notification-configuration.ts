// Commands and events of an OU's notification channels and triggers.
import { z } from 'zod';
import { id, name, score, text, time } from '../common.js';
import { happened, requested } from '../vocabulary/actor.js';
import { attributeFilter } from '../vocabulary/filters.js';
import { triggerKind } from '../vocabulary/webhook.js';
import { defineRecord, type PayloadOf } from './record.js';
import { milestoneScoreType, surgeScoreType } from './scoring.js';

/** The end of a secret, by which its owner recognises it; empty where the secret is short. */
const lastFour = z.string().max(4);

/** A secret as the log and the database hold it: encrypted with the setting SEALING_SECRET. */
export const sealedSecret = z.strictObject({
  sealed: text(8_000).regex(/^[A-Za-z0-9_-]+$/),
  last_four: lastFour,
});
export type SealedSecret = z.infer<typeof sealedSecret>;

/** Stands in a command for a secret that does not change. The caller sent its last four characters. */
const keptSecret = z.strictObject({ kept: z.literal(true), last_four: lastFour });

const writtenSecret = z.union([sealedSecret, keptSecret]);
export type WrittenSecret = z.infer<typeof writtenSecret>;

/** The readable part of a sealed address. An address is sealed because for many receivers it is the only secret. */
const shownOfUrl = { origin: z.string().max(300).describe('Scheme, host and port.'), last_four: lastFour };
export const sealedUrl = z.strictObject({ sealed: sealedSecret.shape.sealed, ...shownOfUrl });
export type SealedUrl = z.infer<typeof sealedUrl>;
/** Stands in a command for an address that does not change. */
const keptUrl = z.strictObject({ kept: z.literal(true), ...shownOfUrl });
const writtenUrl = z.union([sealedUrl, keptUrl]);
export type WrittenUrl = z.infer<typeof writtenUrl>;
/** Channels created before addresses were sealed have theirs in plain text. */
const plainUrl = z.string().max(2_048);

const channelName = z.string().max(100);
const slackConfig = z.strictObject({ channel_id: z.string().max(80), channel_name: channelName });
const emailConfig = z.strictObject({
  recipients: z.string().max(4_000).describe('Separated by a comma and a space.'),
  subject_prefix: z.string().max(100).optional(),
});

const destinationOf = <Secret extends z.ZodType, Url extends z.ZodType>(secret: Secret, url: Url) =>
  z.discriminatedUnion('type', [
    z.strictObject({ type: z.literal('slack'), config: slackConfig }),
    z.strictObject({
      type: z.literal('teams'),
      config: z.strictObject({ webhook_url: secret, channel_name: channelName }),
    }),
    z.strictObject({
      type: z.literal('webhook'),
      config: z.strictObject({ url: z.union([plainUrl, url]), auth_header: secret.optional() }),
    }),
    z.strictObject({ type: z.literal('email'), config: emailConfig }),
  ]);

/** The destination of a channel's notifications. */
const destination = destinationOf(sealedSecret, sealedUrl);
export type ChannelDestination = z.infer<typeof destination>;

/** The destination in a command, where a secret or an address may stay unchanged. */
const writtenDestination = destinationOf(writtenSecret, writtenUrl);
export type WrittenDestination = z.infer<typeof writtenDestination>;

const channel = { ou_id: id, channel_id: id };

/**
 * The sealed signing secret. Channels created before signing secrets were stored have none: theirs is derived from the
 * key's id and the SEALING_SECRET of that time.
 */
const signingSecret = sealedSecret.shape.sealed.optional();

export const createChannel = defineRecord({
  type: 'CreateChannel',
  topic: 'notification.commands',
  key: 'ou_id',
  description: 'Create a notification channel.',
  schema: z.strictObject({
    ...channel,
    name: name(100),
    destination: writtenDestination,
    signing_key_id: id,
    signing_secret: signingSecret,
    ...requested,
  }),
});
export type CreateChannel = PayloadOf<typeof createChannel>;

export const replaceChannel = defineRecord({
  type: 'ReplaceChannel',
  topic: 'notification.commands',
  key: 'ou_id',
  description: 'Give a notification channel another name and destination.',
  schema: z.strictObject({
    ...channel,
    name: name(100),
    destination: writtenDestination,
    ...requested,
  }),
});
export type ReplaceChannel = PayloadOf<typeof replaceChannel>;

export const resealSecrets = defineRecord({
  type: 'ResealSecrets',
  topic: 'notification.commands',
  key: 'partition',
  description:
    "Seal the secrets of this partition's channels with the current SEALING_SECRET, and answer how many there are under which. Sent to each partition.",
  schema: z.strictObject({
    maximum_channels: z.int().min(0).max(1_000).describe('Channels to seal anew now. 0: only count.'),
    requested_at: time,
  }),
});
export type ResealSecrets = PayloadOf<typeof resealSecrets>;

const secretCount = z.int().min(0);
/** The result of ResealSecrets: the secrets in the partition after the command. */
export const resealResult = z.strictObject({
  key_id: z.string().max(64).describe('Of the current SEALING_SECRET.'),
  channels: z.int().min(0).describe('Sealed anew by this command.'),
  secrets: z.strictObject({
    current: secretCount,
    superseded: secretCount.describe('Opened with another key that is in force.'),
    unreadable: secretCount.describe('Sealed with a key that is not in force.'),
  }),
});
export type ResealResult = z.infer<typeof resealResult>;

export const deleteChannel = defineRecord({
  type: 'DeleteChannel',
  topic: 'notification.commands',
  key: 'ou_id',
  description: 'Delete a notification channel and detach it from the triggers that have it.',
  schema: z.strictObject({ ...channel, ...requested }),
});
export type DeleteChannel = PayloadOf<typeof deleteChannel>;

export const rotateChannelSecret = defineRecord({
  type: 'RotateChannelSecret',
  topic: 'notification.commands',
  key: 'ou_id',
  description: 'Give a channel another signing secret; for 24 hours it signs with both.',
  schema: z.strictObject({
    ...channel,
    signing_key_id: id,
    signing_secret: signingSecret,
    ...requested,
  }),
});
export type RotateChannelSecret = PayloadOf<typeof rotateChannelSecret>;

const triggerFields = {
  name: name(100),
  channel_ids: z.array(id).max(20),
  active: z.boolean(),
};
const window = z
  .int()
  .min(1)
  .max(90 * 86_400);
const cooldown = z
  .int()
  .min(0)
  .max(366 * 86_400);

const milestone = z.strictObject({
  kind: z.literal('milestone'),
  ...triggerFields,
  event_type: name(100).optional().describe('Only crossings that an event of this type brings about.'),
  score_type: milestoneScoreType,
  score_threshold: score.optional().describe('This or level.'),
  level: name(100)
    .optional()
    .describe(
      'This or score_threshold: the name of a level of the score; the threshold is its min_score, whatever that is when a score changes.',
    ),
  filter_id: id.optional().describe('Only leads that match this saved filter when they cross.'),
  direction: z.enum(['up', 'down']),
  rearm: z.strictObject({
    below: score.optional().describe('Direction up: fires again once the score has been below this.'),
    above: score.optional().describe('Direction down: fires again once the score has been above this.'),
    cooldown_seconds: cooldown,
  }),
});
export type MilestoneDefinition = z.infer<typeof milestone>;

const sequence = z.strictObject({
  kind: z.literal('sequence'),
  ...triggerFields,
  steps: z
    .array(z.strictObject({ event_type: name(100), attribute_filters: z.array(attributeFilter).max(20) }))
    .min(2)
    .max(10),
  ordered: z.boolean(),
  window_seconds: window,
  cooldown_seconds: cooldown,
});
export type SequenceDefinition = z.infer<typeof sequence>;

const surge = z.strictObject({
  kind: z.literal('surge'),
  ...triggerFields,
  event_type: name(100).nullable().describe('null: all.'),
  score_type: surgeScoreType,
  threshold: score.min(1),
  window_seconds: window,
  cooldown_seconds: cooldown,
});
export type SurgeDefinition = z.infer<typeof surge>;

const triggerDefinition = z.discriminatedUnion('kind', [milestone, sequence, surge]);
export type TriggerDefinition = z.infer<typeof triggerDefinition>;

const trigger = { ou_id: id, trigger_id: id };

export const createTrigger = defineRecord({
  type: 'CreateTrigger',
  topic: 'notification.commands',
  key: 'ou_id',
  description: 'Create a trigger.',
  schema: z.strictObject({ ...trigger, definition: triggerDefinition, ...requested }),
});
export type CreateTrigger = PayloadOf<typeof createTrigger>;

export const replaceTrigger = defineRecord({
  type: 'ReplaceTrigger',
  topic: 'notification.commands',
  key: 'ou_id',
  description: 'Define a trigger anew. Its kind stays.',
  schema: z.strictObject({ ...trigger, definition: triggerDefinition, ...requested }),
});
export type ReplaceTrigger = PayloadOf<typeof replaceTrigger>;

export const deleteTrigger = defineRecord({
  type: 'DeleteTrigger',
  topic: 'notification.commands',
  key: 'ou_id',
  description: 'Delete a trigger.',
  schema: z.strictObject({ ...trigger, kind: triggerKind, ...requested }),
});
export type DeleteTrigger = PayloadOf<typeof deleteTrigger>;

const version = z.int().min(1);

export const channelCreated = defineRecord({
  type: 'ChannelCreated',
  topic: 'notification.events',
  key: 'ou_id',
  description: 'A notification channel exists. Its secrets are sealed.',
  schema: z.strictObject({
    ...channel,
    name: name(100),
    destination,
    signing_key_id: id,
    signing_secret: signingSecret,
    version,
    ...happened,
  }),
});
export type ChannelCreated = PayloadOf<typeof channelCreated>;

export const channelReplaced = defineRecord({
  type: 'ChannelReplaced',
  topic: 'notification.events',
  key: 'ou_id',
  description: 'A notification channel has another name or destination.',
  schema: z.strictObject({ ...channel, name: name(100), destination, version, ...happened }),
});
export type ChannelReplaced = PayloadOf<typeof channelReplaced>;

export const channelSecretRotated = defineRecord({
  type: 'ChannelSecretRotated',
  topic: 'notification.events',
  key: 'ou_id',
  description: 'A channel has another signing secret; until previous_valid_until it signs with both.',
  schema: z.strictObject({
    ...channel,
    signing_key_id: id,
    signing_secret: signingSecret,
    previous_key_id: id,
    previous_valid_until: time,
    version,
    ...happened,
  }),
});
export type ChannelSecretRotated = PayloadOf<typeof channelSecretRotated>;

export const channelResealed = defineRecord({
  type: 'ChannelResealed',
  topic: 'notification.events',
  key: 'ou_id',
  description: "A channel's secrets are sealed with another key. They are the same, and so is the channel.",
  schema: z.strictObject({
    ...channel,
    destination,
    signing_secret: sealedSecret.shape.sealed,
    previous_signing_secret: signingSecret,
    ...happened,
  }),
});
export type ChannelResealed = PayloadOf<typeof channelResealed>;

export const channelDeleted = defineRecord({
  type: 'ChannelDeleted',
  topic: 'notification.events',
  key: 'ou_id',
  description: 'A notification channel is gone, and no trigger has it any more.',
  schema: z.strictObject({
    ...channel,
    detached_triggers: z.array(z.strictObject({ trigger_id: id, version })).max(1_000),
    ...happened,
  }),
});
export type ChannelDeleted = PayloadOf<typeof channelDeleted>;

export const triggerCreated = defineRecord({
  type: 'TriggerCreated',
  topic: 'notification.events',
  key: 'ou_id',
  description: 'A trigger exists; it watches events that are processed from now on.',
  schema: z.strictObject({ ...trigger, definition: triggerDefinition, version, ...happened }),
});
export type TriggerCreated = PayloadOf<typeof triggerCreated>;

export const triggerReplaced = defineRecord({
  type: 'TriggerReplaced',
  topic: 'notification.events',
  key: 'ou_id',
  description: 'A trigger is defined anew.',
  schema: z.strictObject({ ...trigger, definition: triggerDefinition, version, ...happened }),
});
export type TriggerReplaced = PayloadOf<typeof triggerReplaced>;

export const triggerDeleted = defineRecord({
  type: 'TriggerDeleted',
  topic: 'notification.events',
  key: 'ou_id',
  description: 'A trigger is gone; what it fired stays.',
  schema: z.strictObject({ ...trigger, kind: triggerKind, ...happened }),
});
export type TriggerDeleted = PayloadOf<typeof triggerDeleted>;

export const notificationConfigurationRecords = [
  createChannel,
  replaceChannel,
  deleteChannel,
  rotateChannelSecret,
  resealSecrets,
  createTrigger,
  replaceTrigger,
  deleteTrigger,
  channelCreated,
  channelReplaced,
  channelSecretRotated,
  channelResealed,
  channelDeleted,
  triggerCreated,
  triggerReplaced,
  triggerDeleted,
] as const;
