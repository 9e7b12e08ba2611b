// How record types (commands and events on the log) and topics are declared.
import type { z } from 'zod';

export const serviceNames = [
  'gateway',
  'ingest',
  'scoring',
  'notification',
  'share',
  'site-analysis',
] as const;
export type ServiceName = (typeof serviceNames)[number];

/**
 * Projectors of each service, besides its processor, which has the service's name. These are names of consumer groups:
 * never rename them.
 */
export const projectorNames = {
  ingest: ['ingest-event-type-uses'],
  scoring: ['scoring-trigger-definitions'],
  notification: ['notification-explanations'],
  share: ['share-explanations'],
} as const satisfies Partial<Record<ServiceName, readonly string[]>>;

/** The consumer groups of a service, its processor first. */
export function readersOf(service: ServiceName): readonly string[] {
  const projectors: Partial<Record<ServiceName, readonly string[]>> = projectorNames;
  return [service, ...(projectors[service] ?? [])];
}

export type TopicName =
  `${ServiceName}.commands` | `${ServiceName}.events` | `${ServiceName}.dead-letters` | 'replies';

export interface TopicDeclaration {
  name: TopicName;
  /**
   * The permitted readers. `public` topics are documented for downstream consumers, and their schemas stay compatible.
   */
  audience: 'public' | 'internal' | 'operators';
  description: string;
  /** Milliseconds that records are kept; -1 for ever. */
  retentionMs: number;
}

export interface RecordDeclaration<
  Type extends string = string,
  Schema extends z.ZodType = z.ZodType,
  Topic extends TopicName = TopicName,
> {
  /** The record's type: imperative for commands, past tense for events; the value of the header `type`. */
  type: Type;
  topic: Topic;
  /** The field that the record's key holds. All records of one key are in one partition, in order. */
  key:
    | 'lead_id'
    | 'ou_id'
    | 'organisation_id'
    | 'deal_key'
    | 'account_id'
    | 'share_id'
    | 'channel_id'
    | 'delivery_owner'
    | 'job_id'
    | 'gateway_instance'
    /** The record's partition number. */
    | 'partition';
  description: string;
  /**
   * A consumer may delay this record to take more of them in one batch. Set for commands whose sender does not wait for
   * the reply, unless the command affects the outcome of later records, as linking an alias does. For events it applies
   * to projectors only: processors decide on events without delay.
   */
  mayWait?: true;
  schema: Schema;
}

export function defineRecord<
  const Type extends string,
  Schema extends z.ZodType,
  const Topic extends TopicName,
>(declaration: RecordDeclaration<Type, Schema, Topic>): RecordDeclaration<Type, Schema, Topic> {
  return declaration;
}

export type PayloadOf<Declaration extends RecordDeclaration> = z.infer<Declaration['schema']>;

/** The fields that identify an event in a record. */
export interface RecordedEvent {
  topic: string;
  type: string;
  payload: unknown;
}

/** The event in a record, if its type is among the declarations and it is on the declared topic; null otherwise. */
export function eventOf<Event extends { type: string; payload: unknown }>(
  declarations: { readonly [Type in Event['type']]: RecordDeclaration },
  { topic, type, payload }: RecordedEvent,
): Event | null {
  if (!Object.hasOwn(declarations, type)) return null;
  const event = { type, payload } as Event;
  return declarations[event.type as Event['type']].topic === topic ? event : null;
}
