// Records as services see them: outgoing, incoming and folded, with their headers.
import type { PayloadOf, RecordDeclaration, TopicName } from '@lead-scoring/contracts';

/**
 * A record to write. Its payload is validated against the declared schema before it is written, unless `isChecked` is
 * set.
 */
export interface OutgoingRecord<Declaration extends RecordDeclaration = RecordDeclaration> {
  declaration: Declaration;
  /** The value that `declaration.key` names; determines the partition unless `partition` is given. */
  key: string;
  /** Default: partitionOf(key). Events of a processor always go to its own partition. */
  partition?: number;
  payload: PayloadOf<Declaration>;
  /**
   * True only when the payload comes from a function that a test holds against the schema: it is not validated again.
   */
  isChecked?: boolean;
  /** Headers besides `type`, which is always set. Keep them few: a header costs bytes and time on every record. */
  headers?: Readonly<Record<string, string>>;
}

/**
 * The headers of an incoming record. `type` is always present; a missing `id` is `<topic>:<partition>:<offset>`, and a
 * missing `time` is the record's timestamp, so both are the same on every read.
 */
export interface RecordHeaders {
  type: string;
  id: string;
  /** ISO 8601 UTC with milliseconds. */
  time: string;
  ou?: string;
  actor?: string;
  'correlation-id'?: string;
  'causation-id'?: string;
  'reply-to'?: string;
  traceparent?: string;
  tracestate?: string;
  [name: string]: string | undefined;
}

/** An incoming record: decoded, and valid against its writer's schema. */
export interface IncomingRecord<Payload = unknown> {
  type: string;
  topic: TopicName;
  partition: number;
  offset: bigint;
  key: string | null;
  payload: Payload;
  /** Built on first access: most records are handled without. */
  readonly headers: RecordHeaders;
}

/** A record to fold: an event of a processor's own output, or a record that a projector reads. */
export interface FoldedRecord<Payload = unknown> extends IncomingRecord<Payload> {
  declaration: RecordDeclaration;
  /** The recorded payload as UTF-8 JSON, for read models that store it whole: the same live and on every replay. */
  readonly json: Buffer;
}

/** Makes an outgoing record whose payload is typed by its declaration. */
export function outgoing<Declaration extends RecordDeclaration>(
  declaration: Declaration,
  record: Omit<OutgoingRecord<Declaration>, 'declaration'>,
): OutgoingRecord<Declaration> {
  return { declaration, ...record };
}

/** Whether a record has this declaration's type and topic; narrows the payload's type. */
export function isRecord<Declaration extends RecordDeclaration>(
  record: IncomingRecord,
  declaration: Declaration,
): record is IncomingRecord<PayloadOf<Declaration>> {
  return record.type === declaration.type && record.topic === declaration.topic;
}
