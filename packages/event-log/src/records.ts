// Records as services see them: what goes out, what comes in, and their headers.
import type { PayloadOf, RecordDeclaration, TopicName } from '@lead-scoring/contracts';

/** A record to be written. Its payload is checked against the declared schema before it leaves the process, unless it was. */
export interface OutgoingRecord<Declaration extends RecordDeclaration = RecordDeclaration> {
  declaration: Declaration;
  /** What `declaration.key` names; decides the partition unless `partition` is given. */
  key: string;
  /** Default: partitionOf(key). Events of a processor always go to its own partition. */
  partition?: number;
  payload: PayloadOf<Declaration>;
  /** True only where the payload comes from a function that a test holds against the schema: it is not checked again. */
  isChecked?: boolean;
  /** Beyond `type`, which is always set. Keep them few: every header costs on every record. */
  headers?: Readonly<Record<string, string>>;
}

/**
 * The headers of a record that came in. `type` is always there; `id` and `time` are filled in from the record's place
 * (`<topic>:<partition>:<offset>`) and its timestamp when the sender left them out, so they are the same on every read.
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

/** A record that came in: decoded and valid against its writer's schema. */
export interface IncomingRecord<Payload = unknown> {
  type: string;
  topic: TopicName;
  partition: number;
  offset: bigint;
  key: string | null;
  payload: Payload;
  /** Made when asked for: most records are handled without. */
  readonly headers: RecordHeaders;
}

/** A record that is folded: one of a processor's own events, as the output topic has it, or what a projector reads. */
export interface FoldedRecord<Payload = unknown> extends IncomingRecord<Payload> {
  declaration: RecordDeclaration;
  /** The payload as it is recorded, UTF-8, for read models that keep it whole: the same live and on every replay. */
  readonly json: Buffer;
}

/** Makes an outgoing record whose payload is typed by its declaration. */
export function outgoing<Declaration extends RecordDeclaration>(
  declaration: Declaration,
  record: Omit<OutgoingRecord<Declaration>, 'declaration'>,
): OutgoingRecord<Declaration> {
  return { declaration, ...record };
}

/** Whether a record is of this declaration; narrows the payload's type. */
export function isRecord<Declaration extends RecordDeclaration>(
  record: IncomingRecord,
  declaration: Declaration,
): record is IncomingRecord<PayloadOf<Declaration>> {
  return record.type === declaration.type && record.topic === declaration.topic;
}
