// One batch of commands: each is decided on the states that the commands before it have left.
import { callerOf, type WaitingCommands } from '@lead-scoring/capability';
import type { JsonValue, records } from '@lead-scoring/contracts';
import type { IncomingRecord, OutgoingRecord, Reply } from '@lead-scoring/event-log';
import type { Channel, NotificationConfiguration } from '../configuration/state.js';
import {
  decideAttempt,
  decideForgetting,
  decideRedelivery,
  decideRequest,
  decideResume,
  decideTest,
  testResultOf,
} from './decide.js';
import { evolveHealth, evolveNotification } from './evolve.js';
import { eventRecord, redeliveryRecord, startRecord, type CommandRecord } from './log-records.js';
import { notificationsIn, type DeliveryEvent } from './messages.js';
import type { DeliveryPolicy } from './schedule-model.js';
import { healthyChannel, isTest, type ChannelHealth, type Notification } from './state.js';

/** The states that the commands of a batch are decided on. */
export interface BatchContext {
  /** By notification id; the batch updates them. */
  readonly notifications: Map<string, Notification | null>;
  /** By channel id; the batch updates them. */
  readonly healths: Map<string, ChannelHealth | null>;
  /** By OU. */
  readonly configurations: ReadonlyMap<string, NotificationConfiguration>;
  /** Notifications, of any partition, that commands want delivered once more; by id. */
  readonly redelivered: ReadonlyMap<string, Notification>;
}

export interface BatchDependencies {
  readonly policy: DeliveryPolicy;
  readonly tests: WaitingCommands;
}

/** A message to the deliverer, besides the events of the batch. */
export type DeliverySignal =
  /** The command of an attempt changed nothing: the attempt was recorded already. */
  | { readonly type: 'attempt-known'; readonly channel: ChannelIdentity; readonly notification_id: string }
  | { readonly type: 'channel-resumed'; readonly channel: ChannelIdentity }
  /** All commands that an earlier owner of the partition has written are decided. */
  | { readonly type: 'owner-announced'; readonly owner: string };

const channelNotFound = {
  outcome: 'rejected',
  code: 'notification_channel_not_found',
  message: 'There is no notification channel with this id in the organizational unit.',
} as const;
const deliveryNotFound = {
  outcome: 'rejected',
  code: 'delivery_not_found',
  message: 'There is no delivery with this id in the organizational unit.',
} as const;

type ChannelIdentity = Pick<ChannelHealth, 'ou_id' | 'channel_id'>;

export class DeliveryBatch {
  readonly events: OutgoingRecord[] = [];
  readonly commands: OutgoingRecord[] = [];
  readonly replies: Reply[] = [];
  readonly signals: DeliverySignal[] = [];

  constructor(
    private readonly context: BatchContext,
    private readonly dependencies: BatchDependencies,
  ) {}

  decide(command: CommandRecord): void {
    switch (command.type) {
      case 'RequestNotification':
        this.#requestNotification(command.payload);
        return;
      case 'RecordAttempt':
        this.#recordAttempt(command);
        return;
      case 'TestChannel':
        this.#testChannel(command);
        return;
      case 'ResumeChannel':
        this.#resumeChannel(command);
        return;
      case 'RedeliverNotification':
        this.#redeliverNotification(command);
        return;
      case 'RedeliverNotifications':
        this.#redeliverNotifications(command);
        return;
      case 'ForgetLead':
      case 'ForgetAccount':
        this.#happen([decideForgetting(command.payload)]);
        return;
      case 'BeginDelivery':
        this.signals.push({ type: 'owner-announced', owner: command.payload.owner });
        return;
    }
  }

  #requestNotification(payload: records.RequestNotification): void {
    this.#happen(decideRequest(payload, this.#notification(payload.notification_id)));
  }

  /** The outcome of a test is the reply to all callers of the test. */
  #recordAttempt(command: CommandRecord<'RecordAttempt'>): void {
    const { policy, tests } = this.dependencies;
    const { payload } = command;
    const { notification_id } = payload;
    const before = this.#notification(notification_id);
    const happened = decideAttempt(payload, before, this.#healthOf(payload), policy);
    this.#happen(happened);
    if (happened.length === 0)
      this.signals.push({ type: 'attempt-known', channel: payload, notification_id });
    const after = this.#notification(notification_id);
    const result = after && isTest(after) ? testResultOf(after) : null;
    if (!result) return;
    for (const to of [command, ...tests.take(notification_id)]) this.#reply(to, done(result));
  }

  /** The reply to a new test follows its attempt. */
  #testChannel(command: CommandRecord<'TestChannel'>): void {
    const { payload } = command;
    const { notification_id } = payload;
    const channel = this.#channelIn(payload);
    const before = this.#notification(notification_id);
    const result = before && testResultOf(before);
    if (result) this.#reply(command, done(result));
    else if (before) this.dependencies.tests.add(notification_id, command);
    else if (!channel) this.#reply(command, channelNotFound);
    else {
      const { name, destination } = channel;
      this.#happen(decideTest(payload, { name, type: destination.type }, callerOf(command), null));
    }
  }

  #resumeChannel(command: CommandRecord<'ResumeChannel'>): void {
    const { payload } = command;
    this.#happen(decideResume(payload, this.#healthOf(payload)));
    this.signals.push({ type: 'channel-resumed', channel: payload });
    this.#reply(command, this.#channelIn(payload) ? done({ status: 'active' }) : channelNotFound);
  }

  /** Forwards the command to the partition of the notification's channel, whose owner replies. */
  #redeliverNotification(command: CommandRecord<'RedeliverNotification'>): void {
    const { ou_id, notification_id, redelivery_id, requested_at, actor } = command.payload;
    const found = this.context.redelivered.get(notification_id);
    if (found?.ou_id !== ou_id) {
      this.#reply(command, deliveryNotFound);
      return;
    }
    const { channel_id } = found;
    this.commands.push(
      redeliveryRecord(
        {
          ou_id,
          channel_id,
          redelivery_id,
          notification_ids: [notification_id],
          requested_at,
          actor,
        },
        callerOf(command),
      ),
    );
  }

  #redeliverNotifications(command: CommandRecord<'RedeliverNotifications'>): void {
    const { payload } = command;
    const { notification_ids, since } = payload;
    if (!this.#channelIn(payload)) {
      this.#reply(command, channelNotFound);
      return;
    }
    if (notification_ids === undefined) {
      // A record from before `StartRedelivery` existed starts the job. Notifications that were delivered once more under the
      // redelivery's id are not delivered again.
      if (since !== undefined) this.commands.push(startRecord({ ...payload, since }, callerOf(command)));
      return;
    }
    const wanted = notification_ids.flatMap((id) => this.#notification(id) ?? []);
    if (wanted.length === 0) {
      // The notifications were forgotten after the command was sent.
      this.#reply(command, deliveryNotFound);
      return;
    }
    const happened = decideRedelivery(payload, wanted);
    this.#happen(happened);
    const redelivered = happened.reduce((sum, event) => sum + event.payload.notification_ids.length, 0);
    this.#reply(command, done({ redelivered }));
  }

  #notification(id: string): Notification | null {
    return this.context.notifications.get(id) ?? null;
  }

  #healthOf({ ou_id, channel_id }: ChannelIdentity): ChannelHealth {
    return this.context.healths.get(channel_id) ?? healthyChannel(ou_id, channel_id);
  }

  #channelIn({ ou_id, channel_id }: ChannelIdentity): Channel | null {
    return this.context.configurations.get(ou_id)?.channels.get(channel_id) ?? null;
  }

  #happen(happened: readonly DeliveryEvent[]): void {
    const { notifications, healths } = this.context;
    for (const event of happened) {
      const { channel_id } = event.payload;
      const ids = event.type === 'NotificationsForgotten' ? notifications.keys() : notificationsIn(event);
      for (const id of ids) notifications.set(id, evolveNotification(this.#notification(id), event));
      healths.set(channel_id, evolveHealth(healths.get(channel_id) ?? null, event));
      this.events.push(eventRecord(event));
    }
  }

  #reply(to: IncomingRecord, reply: Reply['reply']): void {
    this.replies.push({ to, reply });
  }
}

function done(result: unknown): Reply['reply'] {
  return { outcome: 'done', result: result as JsonValue };
}
