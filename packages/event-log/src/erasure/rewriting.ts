// What becomes of each record of a partition in a second reading of it: most stay as they are, and a record about something that was
// deleted is replaced by one without content at the same offset.
import {
  firedDataOf,
  isNameBasedId,
  records as declarations,
  type PayloadOf,
  type RecordDeclaration,
} from '@lead-scoring/contracts';
import { headerText } from '../codec.js';
import { positionsHeader } from '../input-positions.js';
import type { RawRecord, RecordToWrite } from '../kafka/record-batch.js';
import { ownerHeader, releasedHeader, takenHeader, withdrawnHeader } from '../owners.js';
import { registeredPrefixBytes } from '../registered-json.js';
import { payloadOf, type ErasureMarks } from './marks.js';
import { erasedTypes, type ErasedTopic } from './record-groups.js';

export interface RewritingOptions {
  topic: ErasedTopic;
  partition: number;
  marks: ErasureMarks;
  /** Organizational units that have ended. */
  endedUnits: ReadonlySet<string>;
  encode: <Declaration extends RecordDeclaration>(
    declaration: Declaration,
    payload: PayloadOf<Declaration>,
  ) => Buffer;
}

/** Headers by which a service finds its positions and the owner of the partition. They name no lead. */
const keptHeaders = [positionsHeader, ownerHeader, takenHeader, releasedHeader, withdrawnHeader, 'time'];

export class PartitionRewriting {
  /** Records that were replaced. */
  erased = 0;
  readonly #erasedTypes;
  readonly #endedUnits;
  readonly #emptyRecord: Pick<RecordToWrite, 'key' | 'value'>;
  readonly #emptyType: string;
  /** Notifications that are erased: what came of them is without the receiver's answer. */
  readonly #untold = new Set<string>();

  constructor(private readonly options: RewritingOptions) {
    const { topic, partition, endedUnits, encode } = options;
    this.#erasedTypes = erasedTypes(topic);
    this.#endedUnits = [...endedUnits].map((unit) => Buffer.from(`"ou_id":"${unit}"`));
    const declaration = declarations.recordErased.find((one) => one.topic === topic);
    if (!declaration) throw new Error(`${topic} has no RecordErased`);
    this.#emptyType = declaration.type;
    this.#emptyRecord = { key: String(partition), value: encode(declaration, {}) };
  }

  /** The record to write in place of this one: itself, or another one. Call it with the records of the partition, in their order. */
  of(record: RawRecord): RecordToWrite {
    const replacement = this.#replacementOf(record);
    if (!replacement) return record;
    this.erased += 1;
    return replacement;
  }

  /** The record for an offset that no reader has ever seen a record at. */
  filler(timestamp: number): RecordToWrite {
    return { ...this.#emptyRecord, headers: { type: this.#emptyType }, timestamp };
  }

  #replacementOf(record: RawRecord): RecordToWrite | null {
    const type = headerText(record.headers, 'type');
    if (type === undefined || record.key === null || record.value === null) return null;
    if (this.#isOfEndedUnit(record)) return this.#erasedRecord(record);
    const key = record.key.toString();
    if (this.#erasedTypes.has(type))
      return this.#isGone(key, type, record) ? this.#withoutContent(type, record) : null;
    if (type === declarations.notificationRequested.type) return this.#requestOf(record);
    if (type === declarations.notificationAttempted.type) return this.#attemptOf(record);
    return null;
  }

  #isOfEndedUnit(record: RawRecord): boolean {
    const { value } = record;
    if (value === null || !this.#endedUnits.some((unit) => value.includes(unit, registeredPrefixBytes)))
      return false;
    const payload: { ou_id?: string } | null = payloadOf(record);
    return payload?.ou_id !== undefined && this.options.endedUnits.has(payload.ou_id);
  }

  #isGone(key: string, type: string, record: RawRecord): boolean {
    const { topic, marks } = this.options;
    if (type === declarations.eventsIngested.type && marks.isJoined(key, record.offset)) return true;
    if (topic !== 'notification.events') return marks.isDeleted(key, record.offset);
    const { source } = (payloadOf(record) ?? {}) as { source?: { topic: string; offset: number } };
    return source !== undefined && marks.isForgotten(key, source);
  }

  /** Of events, the ids stay by which later ones are known to be repeats. */
  #withoutContent(type: string, record: RawRecord): RecordToWrite {
    if (type !== declarations.eventsIngested.type) return this.#erasedRecord(record);
    const payload = payloadOf(record) as declarations.EventsIngested | null;
    const event_ids = payload?.events.map(({ id }) => id).filter(isNameBasedId) ?? [];
    if (!payload || event_ids.length === 0) return this.#erasedRecord(record);
    const { ou_id, lead_id } = payload;
    const value = this.options.encode(declarations.eventsRemembered, { ou_id, lead_id, event_ids });
    return {
      key: record.key,
      value,
      headers: { ...record.headers, type: declarations.eventsRemembered.type },
      timestamp: record.timestamp,
    };
  }

  #erasedRecord({ headers, timestamp }: RawRecord): RecordToWrite {
    const kept = Object.fromEntries(keptHeaders.map((name) => [name, headerText(headers, name)]));
    return { ...this.#emptyRecord, headers: { type: this.#emptyType, ...kept }, timestamp };
  }

  #requestOf(record: RawRecord): RecordToWrite | null {
    const request = payloadOf(record) as declarations.NotificationRequested | null;
    const data = request && firedDataOf(request.payload);
    if (!data) return null;
    const { channel_id, notification_id } = request;
    const [topic = '', , offset] = data.position.split(':');
    const subject = 'account' in data ? { account_id: data.account.id } : { lead_id: data.lead.id };
    if (!this.options.marks.isUntold({ channel_id, ...subject }, { topic, offset: Number(offset) }))
      return null;
    this.#untold.add(notification_id);
    return this.#erasedRecord(record);
  }

  /** An attempt stays, because the health of its channel follows from it; what the receiver answered does not. */
  #attemptOf(record: RawRecord): RecordToWrite | null {
    const attempt = payloadOf(record) as declarations.NotificationAttempted | null;
    if (attempt?.response === undefined || !this.#untold.has(attempt.notification_id)) return null;
    const payload = { ...attempt };
    delete payload.response;
    return { ...record, value: this.options.encode(declarations.notificationAttempted, payload) };
  }
}
