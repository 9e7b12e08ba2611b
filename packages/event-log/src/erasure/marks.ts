// What the records of a partition say is deleted: collected in a first reading of it.
import { records as declarations } from '@lead-scoring/contracts';
import { headerText } from '../codec.js';
import type { RawRecord } from '../kafka/record-batch.js';
import { registeredPrefixBytes } from '../registered-json.js';
import { deletingTypes, forgettingTypes } from './record-groups.js';

/** The place of the record that caused another one. */
interface CausingRecord {
  readonly topic: string;
  readonly offset: number;
}

type Subject = Pick<declarations.NotificationsForgotten, 'channel_id' | 'lead_id' | 'account_id'>;

export class ErasureMarks {
  /** By key: the offset of the last deletion of it. */
  readonly #deleted = new Map<string, bigint>();
  /** By lead: the offset of the last time at which its events became those of another lead. Its links count on. */
  readonly #joined = new Map<string, bigint>();
  /** The ends of leads that are divided: until their events have been sent again, a rebuild needs those of before. */
  readonly #divided = new Map<string, bigint>();
  /** By key and topic: records that earlier records of that topic caused are forgotten. */
  readonly #forgotten = new Map<string, number>();
  /** The same, by channel, lead or account, and topic. */
  readonly #untold = new Map<string, number>();

  /** Takes the records of a partition, in their order. */
  take(record: RawRecord): void {
    const type = headerText(record.headers, 'type');
    if (type === undefined || record.key === null) return;
    const key = record.key.toString();
    if (type === declarations.leadDeleted.type) this.#takeEnd(key, record);
    else if (type === declarations.leadDivided.type) this.#endDivision(key);
    else if (deletingTypes.has(type)) this.#deleted.set(key, record.offset);
    else if (forgettingTypes.has(type)) {
      const payload: { source?: CausingRecord; joined_to?: string } | null = payloadOf(record);
      const source = payload?.source;
      // What was notified of a lead that has joined another stays, until that lead is deleted.
      if (source && payload.joined_to === undefined)
        noteLatest(this.#forgotten, `${key} ${source.topic}`, source.offset);
    } else if (type === declarations.notificationsForgotten.type) {
      const payload = payloadOf(record) as declarations.NotificationsForgotten | null;
      if (payload)
        noteLatest(this.#untold, subjectName(payload, payload.before.topic), payload.before.offset);
    }
  }

  #takeEnd(leadId: string, record: RawRecord): void {
    const { joined_to: joinedTo }: { joined_to?: string } = payloadOf(record) ?? {};
    const ends = joinedTo === undefined ? this.#deleted : joinedTo === leadId ? this.#divided : this.#joined;
    ends.set(leadId, record.offset);
  }

  /** All events of the lead are on the log once more: those of before its end are not needed any longer. */
  #endDivision(leadId: string): void {
    const end = this.#divided.get(leadId);
    if (end !== undefined) this.#joined.set(leadId, end);
  }

  /** Whether nothing is deleted. */
  areNone(): boolean {
    return this.#deleted.size + this.#joined.size + this.#forgotten.size + this.#untold.size === 0;
  }

  /** Whether what a record is keyed by was deleted after it. */
  isDeleted(key: string, offset: bigint): boolean {
    return offset < (this.#deleted.get(key) ?? -1n);
  }

  /** Whether the events of a lead at an offset are on the log once more, as those of the lead to which they belong. */
  isJoined(leadId: string, offset: bigint): boolean {
    return offset < (this.#joined.get(leadId) ?? -1n);
  }

  /** Whether what a record with this cause is keyed by was deleted after the cause. */
  isForgotten(key: string, { topic, offset }: CausingRecord): boolean {
    return offset < (this.#forgotten.get(`${key} ${topic}`) ?? -1);
  }

  /** Whether what a channel was told of is deleted. */
  isUntold(subject: Subject, { topic, offset }: CausingRecord): boolean {
    return offset < (this.#untold.get(subjectName(subject, topic)) ?? -1);
  }
}

function noteLatest(offsets: Map<string, number>, name: string, offset: number): void {
  if (offset > (offsets.get(name) ?? -1)) offsets.set(name, offset);
}

function subjectName({ channel_id, lead_id, account_id }: Subject, topic: string): string {
  return `${channel_id} ${lead_id ?? account_id ?? ''} ${topic}`;
}

/** The payload of a record; null where it cannot be read. */
export function payloadOf({ value }: Pick<RawRecord, 'value'>): object | null {
  if (value === null || value.length <= registeredPrefixBytes) return null;
  try {
    const payload: unknown = JSON.parse(value.toString('utf8', registeredPrefixBytes));
    return typeof payload === 'object' ? payload : null;
  } catch {
    return null;
  }
}
