// Which stored events are deleted, by the marks of their types: events of a marked type in records before the mark. Pure. Between a mark
// and the removal of what is stored, every read leaves them out by this.
import type { records } from '@lead-scoring/contracts';
import type { EventSecondDocument } from '../events/documents.js';
import { readSecondKey } from '../events/keys.js';
import { withoutTypes } from '../events/seconds.js';
import type { RecordedEvent } from '../events/stored-event.js';

/** A mark: events of the type in records of the partition before the offset are deleted. */
export interface DeletedType {
  readonly key: string;
  readonly partition: number;
  readonly before: number;
}

/** The place of a record of events. */
export interface RecordPlace {
  readonly partition: number;
  readonly offset: number;
}

export class DeletedTypes {
  /** By partition, then by the key of the type. */
  readonly #before = new Map<number, Map<string, number>>();

  constructor(
    marks: readonly DeletedType[],
    private readonly keyOf: (eventType: string) => string,
  ) {
    for (const { key, partition, before } of marks) {
      const ofPartition = this.#before.get(partition) ?? new Map<string, number>();
      this.#before.set(partition, ofPartition.set(key, Math.max(ofPartition.get(key) ?? 0, before)));
    }
  }

  get isEmpty(): boolean {
    return this.#before.size === 0;
  }

  /** The events of a record that are left, each with its index in the record. */
  visibleIn(
    { events }: Pick<records.EventsIngested, 'events'>,
    { partition, offset }: RecordPlace,
  ): { event: RecordedEvent; index: number }[] {
    const marked = this.#before.get(partition);
    return events.flatMap((event, index) => {
      if (isBlank(event)) return [];
      if (marked && offset < (marked.get(this.keyOf(event.event_type)) ?? 0)) return [];
      return [{ event, index }];
    });
  }

  /** The events of a second that are left; the same document where all are. */
  secondWithout(document: EventSecondDocument): EventSecondDocument {
    const marked = this.#before.get(readSecondKey(document._id).partition);
    return marked ? withoutTypes(document, (key) => marked.get(key) ?? 0) : document;
  }
}

/** What stays of a deleted event in its record, so that the places of the others stay, and its id for the deletion of its lead. */
export function blankOf({ id, timestamp }: RecordedEvent): RecordedEvent {
  return { id, event_type: '', timestamp };
}

export function isBlank({ event_type }: Pick<RecordedEvent, 'event_type'>): boolean {
  return event_type === '';
}
