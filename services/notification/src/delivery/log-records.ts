// The records of delivery on the log: reads commands and events, and makes outgoing ones.
import { callerHeaders, callerOf } from '@lead-scoring/capability';
import { eventOf, records, type PayloadOf } from '@lead-scoring/contracts';
import { outgoing, type IncomingRecord, type OutgoingRecord } from '@lead-scoring/event-log';
import { deliveryCommands, deliveryRecords, type DeliveryEvent } from './messages.js';
import type { Caller } from './state.js';

type CommandType = keyof typeof deliveryCommands;

/** The record of a command; `type` discriminates. */
export type CommandRecord<Type extends CommandType = CommandType> = {
  [One in Type]: IncomingRecord<PayloadOf<(typeof deliveryCommands)[One]>> & { readonly type: One };
}[Type];

/** The record as a command of delivery; null for any other record. */
export function commandIn(record: IncomingRecord): CommandRecord | null {
  return record.topic === 'notification.commands' && Object.hasOwn(deliveryCommands, record.type)
    ? (record as CommandRecord)
    : null;
}

/** The record as an event of delivery; null for any other record. */
export function deliveryEventOf(record: IncomingRecord): DeliveryEvent | null {
  const event = eventOf<DeliveryEvent>(deliveryRecords, record);
  return event?.type === 'NotificationRequested' ? { ...event, caller: callerOf(record) } : event;
}

export function eventRecord(event: DeliveryEvent): OutgoingRecord {
  const { type, payload } = event;
  const caller = type === 'NotificationRequested' ? event.caller : null;
  return outgoing(deliveryRecords[type], {
    key: payload.channel_id,
    payload,
    ...(caller && { headers: callerHeaders(caller) }),
  });
}

export function attemptRecord(attempt: records.RecordAttempt, caller: Caller | null): OutgoingRecord {
  return outgoing(records.recordAttempt, {
    key: attempt.channel_id,
    payload: attempt,
    ...(caller && { headers: callerHeaders(caller) }),
  });
}

export function redeliveryRecord(
  payload: records.RedeliverNotifications,
  caller: Caller | null = null,
): OutgoingRecord {
  return outgoing(records.redeliverNotifications, {
    key: payload.channel_id,
    payload,
    ...(caller && { headers: callerHeaders(caller) }),
  });
}

/** The `StartRedelivery` for a record from before that command existed. */
export function startRecord(
  {
    ou_id,
    channel_id,
    redelivery_id,
    since,
    undelivered_only = false,
    requested_at,
    actor,
  }: records.RedeliverNotifications & { since: string },
  caller: Caller | null,
): OutgoingRecord {
  return outgoing(records.startRedelivery, {
    key: channel_id,
    payload: { ou_id, channel_id, job_id: redelivery_id, since, undelivered_only, requested_at, actor },
    ...(caller && { headers: callerHeaders(caller) }),
  });
}
