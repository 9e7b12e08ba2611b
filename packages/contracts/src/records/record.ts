// How a record type (a command or an event on the log) and a topic are declared: once, here and nowhere else.
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

/** Projectors, beside the processor that has the service's name; names of consumer groups, so never renamed. */
export const projectorNames = {
  notification: ['notification-explanations'],
  share: ['share-explanations'],
} as const satisfies Partial<Record<ServiceName, readonly string[]>>;

/** All that reads topics for a service, its processor first. */
export function readersOf(service: ServiceName): readonly string[] {
  const projectors: Partial<Record<ServiceName, readonly string[]>> = projectorNames;
  return [service, ...(projectors[service] ?? [])];
}

export type TopicName =
  `${ServiceName}.commands` | `${ServiceName}.events` | `${ServiceName}.dead-letters` | 'replies';

export interface TopicDeclaration {
  name: TopicName;
  /** Who may read it: `public` topics are documented for downstream consumers and keep their schemas compatible. */
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
  /** What the record's key names; all records of one key are in one partition, in order. */
  key:
    | 'lead_id'
    | 'ou_id'
    | 'organisation_id'
    | 'share_id'
    | 'channel_id'
    | 'delivery_owner'
    | 'gateway_instance'
    /** The number of the partition that it is in. */
    | 'partition';
  description: string;
  /**
   * Whoever takes it may leave it for a moment, to take more of them at once; a command unless somebody waits for the reply.
   * Not of one that changes what comes of others, as linking an alias does. An event may wait to be folded by a projector;
   * processors decide on all events as they come.
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

/** What says which event a record is. */
export interface RecordedEvent {
  topic: string;
  type: string;
  payload: unknown;
}

/** The event that a record is, of those that are declared here by their types; null for any other record. */
export function eventOf<Event extends { type: string; payload: unknown }>(
  declarations: { readonly [Type in Event['type']]: RecordDeclaration },
  { topic, type, payload }: RecordedEvent,
): Event | null {
  if (!Object.hasOwn(declarations, type)) return null;
  const event = { type, payload } as Event;
  return declarations[event.type as Event['type']].topic === topic ? event : null;
}
