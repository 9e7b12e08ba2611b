// The content of a notification: the body that the receiver of a webhook channel gets, and from which the other senders
// write their messages.
import { z } from 'zod';
import { id, score, time } from '../common.js';
import { accountIdentity } from './accounts.js';
import { alias } from './identity.js';
import { quotaNames } from './quotas.js';
import { leadScoreTypes } from './score-types.js';

/**
 * Header of every request to a webhook, with the notification's id. The gateway refuses a request that carries it,
 * because a notification that comes back as an event would loop.
 */
export const deliveryHeader = 'lead-scoring-delivery';

/** Maximum size of a body, in bytes of UTF-8. */
export const maximumNotificationBytes = 20_000;

export const channelType = z.enum(['slack', 'teams', 'webhook', 'email']);
export type ChannelType = z.infer<typeof channelType>;

export const triggerKind = z.enum(['milestone', 'sequence', 'surge']);
export type TriggerKind = z.infer<typeof triggerKind>;

const eventType = z.string().max(100);

/** A rule's share in a score after its limits. */
export const limitedDriverFields = {
  counted: z
    .int()
    .min(0)
    .optional()
    .describe('Events that counted, in full or in part; absent where limits of the rule held nothing back.'),
  counted_total: z.int().optional().describe('The points of total that counted; absent where all did.'),
  limits: z
    .string()
    .max(500)
    .optional()
    .describe("The rule's limits in words where they held points back, such as: at most 3 a lead."),
};

/** A rule's share in a score, as notifications name it. */
export const notificationDriver = z
  .strictObject({
    rule_id: id,
    event_type: eventType,
    count: z.int().min(1).describe('Events attributed to the rule; of a deal score, deals that meet it.'),
    weight: z.int().describe('Points per event, or per deal.'),
    total: z.int().describe('count multiplied by weight.'),
    filter_label: z.string().max(200).optional().describe('The attribute filter in words, shortened.'),
    label: z.string().max(200).optional(),
    ...limitedDriverFields,
  })
  .meta({ id: 'NotificationDriver' });
export type NotificationDriver = z.infer<typeof notificationDriver>;

const given = z.string().max(200).optional();

/** The lead as notifications and firings name it. */
export const notifiedLead = z
  .strictObject({
    id,
    name: z.string().max(512),
    company: given.describe('Absent where no event gave it, as title and owner are.'),
    title: given,
    owner: given,
    aliases: z.array(alias).max(10).describe('The first ten.'),
  })
  .meta({ id: 'NotifiedLead' });
export type NotifiedLead = z.infer<typeof notifiedLead>;

/** The account as notifications and firings name it. */
export const notifiedAccount = z
  .strictObject({
    id,
    name: z.string().max(512).describe('The latest name or company that events gave, else the key.'),
    ...accountIdentity,
    leads: z.int().min(1).describe('Leads that count in it.'),
  })
  .meta({ id: 'NotifiedAccount' });
export type NotifiedAccount = z.infer<typeof notifiedAccount>;

/** Fields of every firing, whatever the kind of its trigger. */
export const firingFields = {
  lead: notifiedLead,
  score: score.describe('After the change that made the trigger fire.'),
  previous_score: score.describe('Before it.'),
  level: z.string().max(100).nullable().describe('null: no level of the OU holds the score.'),
  top_drivers: z.array(notificationDriver).max(10).describe('Rules that contributed most to the score.'),
};

const cause = {
  event_id: id.describe('The event that made the trigger fire.'),
  event_type: eventType,
  rule_ids: z.array(id).max(20).describe('Rules that gave points for it.'),
};
export const firingCause = z.strictObject({ ...cause, timestamp: time }).meta({ id: 'FiringCause' });
export type FiringCause = z.infer<typeof firingCause>;

/** What changes a score without an event of the lead. */
export const causeReason = z
  .enum(['profile', 'deal', 'decay', 'reset', 'rescoring', 'event_deletion'])
  .describe(
    'Why the score changed where no event made it change; event_id and event_type are null then. profile: the profile of the lead, or a profile rule, changed. deal: a deal that the lead named changed. decay: time without events. reset: somebody restarted the score. rescoring: the score was computed anew from the recorded history, with triggers. event_deletion: events that had given points were deleted.',
  );
export type CauseReason = z.infer<typeof causeReason>;

/** A milestone fires on every change of its score, also on one that no event caused. */
const milestoneCauseFields = {
  event_id: cause.event_id
    .nullable()
    .describe('The event that made the trigger fire; null where no event changed the score, see reason.'),
  event_type: eventType.nullable().describe('null where event_id is.'),
  reason: causeReason.optional(),
  rule_ids: cause.rule_ids.describe('Rules that gave points, or took them back.'),
};
export const milestoneCause = z
  .strictObject({
    ...milestoneCauseFields,
    timestamp: time.describe('When the event happened; without an event, when the score changed.'),
  })
  .meta({ id: 'MilestoneCause' });
export type MilestoneCause = z.infer<typeof milestoneCause>;

/** The level of the threshold that was reached. */
export const thresholdLevel = z
  .string()
  .max(100)
  .optional()
  .describe(
    'Of a trigger by level: the level whose min_score is the threshold. `level` is that of the score.',
  );

/** Why the score of an account changed: by its leads or by an account rule. */
export const accountCauseReason = z
  .enum(['leads', 'account_rule'])
  .describe(
    'leads: the scores of its leads came to other points. account_rule: a rule over the account gave points or took them back.',
  );
export type AccountCauseReason = z.infer<typeof accountCauseReason>;

const accountCauseFields = {
  event_id: z.null().describe('Always null: an account has no events of its own.'),
  event_type: z.null(),
  reason: accountCauseReason,
  rule_ids: cause.rule_ids.describe('Rules over the account that gave points, or took them back.'),
};
export const accountCause = z
  .strictObject({ ...accountCauseFields, timestamp: time.describe('When the score changed.') })
  .meta({ id: 'AccountCause' });
export type AccountCause = z.infer<typeof accountCause>;

/** Fields of a firing for an account, as records, lists and notifications have them. */
export const accountFiringFields = {
  account: notifiedAccount,
  score: firingFields.score,
  previous_score: firingFields.previous_score,
  score_type: z.literal('account'),
  threshold: score,
  direction: z.enum(['up', 'down']),
};

export const previousLevel = z
  .string()
  .max(100)
  .nullable()
  .describe('The level of the previous score, as `level` is that of the score. null: none holds it.');

export const sequenceSteps = z
  .array(z.strictObject({ event_id: id, event_type: eventType, timestamp: time }))
  .min(2)
  .max(10)
  .describe('The events that completed the sequence, in the order of its steps.');

const shareUrl = z
  .string()
  .max(3_000)
  .optional()
  .describe(
    'The page that explains the score, without a login, for seven days. Added when the notification is sent: neither topics nor GET /deliveries/{id} hold it.',
  );
const position = z
  .string()
  .max(60)
  .describe('The record that caused it, as `<topic>:<partition>:<offset>`.')
  .meta({ example: 'scoring.events:3:1042' });
const unit_id = id.describe('The organizational unit.');

const firedNotification = <
  const Kind extends TriggerKind,
  const Type extends string,
  Values extends z.ZodRawShape,
>(
  kind: Kind,
  type: Type,
  title: string,
  values: Values & { readonly cause: z.ZodType },
) =>
  z
    .strictObject({
      type: z.literal(type),
      timestamp: time,
      data: z.strictObject({
        firing_id: id,
        trigger: z.strictObject({ id, name: z.string().max(100), kind: z.literal(kind) }),
        ...firingFields,
        ...values,
        unit_id,
        position,
        share_url: shareUrl,
      }),
    })
    .meta({ id: title });

const eventCause = z.strictObject(cause);
const milestoneValues = {
  cause: z.strictObject(milestoneCauseFields),
  score_type: z
    .enum(leadScoreTypes)
    .optional()
    .describe(
      'The score that score, level, threshold and top_drivers are of. Absent in notifications from before there were two: engagement.',
    ),
};

/** The notification of a milestone by account score. It has no lead, no level, no drivers and no share link. */
const accountNotification = z
  .strictObject({
    type: z.literal('account.milestone.fired'),
    timestamp: time,
    data: z.strictObject({
      firing_id: id,
      trigger: z.strictObject({ id, name: z.string().max(100), kind: z.literal('milestone') }),
      ...accountFiringFields,
      cause: z.strictObject(accountCauseFields),
      unit_id,
      position,
    }),
  })
  .meta({ id: 'AccountNotification' });

/** The warning that 80 % of a quota are used. */
const quotaNotification = z
  .strictObject({
    type: z.literal('quota.nearly_used'),
    timestamp: time,
    data: z.strictObject({
      credential: z
        .strictObject({ kind: z.enum(['token', 'service_account']), id, name: z.string().max(100) })
        .nullable()
        .describe('Whose the quota is; null: of all credentials of the organisation together.'),
      quota: z.enum(quotaNames),
      period: time.describe('The beginning of the day or month, in UTC.'),
      resets_at: time.describe('The end of the day or month: then the quota is whole again.'),
      limit: z.int().min(1),
      used: z.int().min(0).describe('At the moment of the warning, 80 % of the limit or more.'),
      unit_id: id.describe('The organizational unit that the channel belongs to.'),
    }),
  })
  .meta({ id: 'QuotaNotification' });

export const notificationPayload = z
  .discriminatedUnion('type', [
    firedNotification('milestone', 'trigger.milestone.fired', 'MilestoneNotification', {
      ...milestoneValues,
      threshold: score,
      threshold_level: thresholdLevel,
      direction: z.enum(['up', 'down']),
    }),
    firedNotification('milestone', 'lead.level_changed', 'LevelNotification', {
      ...milestoneValues,
      previous_level: previousLevel,
      threshold: score.describe('The min_score of the level that was reached, or fallen below.'),
      threshold_level: z
        .string()
        .max(100)
        .describe('That level. A score that jumps over several levels reaches each of them.'),
      direction: z.enum(['up', 'down']).describe('up: the level was reached; down: it was fallen below.'),
    }),
    firedNotification('sequence', 'trigger.sequence.fired', 'SequenceNotification', {
      cause: eventCause,
      steps: sequenceSteps,
    }),
    firedNotification('surge', 'trigger.surge.fired', 'SurgeNotification', {
      cause: eventCause,
      threshold: score,
      window_seconds: z.int().min(1),
      gained: score.describe('Points within the window.'),
    }),
    accountNotification,
    quotaNotification,
    z
      .strictObject({
        type: z.literal('channel.test'),
        timestamp: time,
        data: z.strictObject({
          channel: z.strictObject({ id, name: z.string().max(100), type: channelType }),
          unit_id: id,
          message: z.string().max(500),
        }),
      })
      .meta({ id: 'TestNotification' }),
  ])
  .meta({ id: 'Notification' });
/** The body of a request to a webhook. */
export type NotificationPayload = z.infer<typeof notificationPayload>;
/** The body for a firing of an account. */
export type AccountFiredPayload = z.infer<typeof accountNotification>;
/** The body of the warning that a quota is nearly used. */
export type QuotaPayload = z.infer<typeof quotaNotification>;
/** The body for a firing of a lead. */
export type FiredPayload = Exclude<
  NotificationPayload,
  { type: 'channel.test' } | AccountFiredPayload | QuotaPayload
>;

/** The data of a firing, which is about a lead or an account; null for a test and for a warning of a quota. */
export function firedDataOf(
  payload: NotificationPayload,
): (FiredPayload | AccountFiredPayload)['data'] | null {
  return payload.type === 'channel.test' || payload.type === 'quota.nearly_used' ? null : payload.data;
}
