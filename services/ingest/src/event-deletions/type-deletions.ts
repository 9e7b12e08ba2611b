// Folds the deletion of a type's events in a partition: the mark, with the statistics that end with it, and the removal of what is stored,
// a bounded part at a time.
import { eventTypeKey, type records } from '@lead-scoring/contracts';
import { insertMissing, withClassifiedErrors, type ReadModel } from '@lead-scoring/read-model';
import type { EventFolds } from '../events/lead-deletions.js';
import type { TypeDeletion } from '../events/sections.js';
import { DeletedTypes } from './deleted-types-model.js';
import { deletedTypes, marksIn, toDeletedType } from './documents.js';

export class TypeDeletions {
  readonly #stored;
  /** By OU, those that were asked for. */
  readonly #marks = new Map<string, DeletedTypes>();

  constructor(
    private readonly readModel: ReadModel,
    private readonly partition: number,
    private readonly folds: Omit<EventFolds, 'deletedTypes'>,
    private readonly keyOf: (eventType: string) => string,
  ) {
    this.#stored = readModel.collection(deletedTypes);
  }

  async fold({ type, payload, offset }: TypeDeletion): Promise<void> {
    if (type === 'EventsOfTypeDeleted') {
      await this.#mark(payload, offset);
      this.#marks.delete(payload.ou_id);
    } else await this.#clear(payload, offset);
  }

  forget(): void {
    this.#marks.clear();
  }

  /**
   * The deleted events of an OU in this partition, also those of which nothing is stored any more. After a crash their records are folded
   * again with the deleted events, but the counts already lack these events.
   */
  async marksOf(ouId: string): Promise<DeletedTypes> {
    let marks = this.#marks.get(ouId);
    if (!marks) {
      const found = await marksIn(this.readModel, ouId, this.partition);
      this.#marks.set(ouId, (marks = new DeletedTypes(found, this.keyOf)));
    }
    return marks;
  }

  /** Stores the mark first: it makes reads leave the events out, and keeps the number of events, which the statistics then lose. */
  async #mark(payload: records.EventsOfTypeDeleted, offset: number): Promise<void> {
    const { ou_id, event_type } = payload;
    const { statistics, periods } = this.folds;
    const key = eventTypeKey(event_type);
    const events = await statistics.countOf(ou_id, key);
    await insertMissing(this.#stored, [toDeletedType(payload, { before: offset, events })]);
    await Promise.all([statistics.removeType(ou_id, key, offset), periods.removeType(ou_id, key, offset)]);
  }

  /** Removes the events from their records first, then from the order of time, which names these records: a crash between repeats both. */
  async #clear(
    { ou_id, deletion_id, event_type, partition, before, seconds, is_last }: records.DeletedEventsCleared,
    offset: number,
  ): Promise<void> {
    const { time, records: store } = this.folds;
    const key = eventTypeKey(event_type);
    await time.removeType(ou_id, seconds, { key, before, offset }, (removed) => store.blank(removed, key));
    if (!is_last) return;
    const { _id } = toDeletedType(
      { ou_id, deletion_id, event_type, partition, deleted_at: '' },
      { before, events: 0 },
    );
    await withClassifiedErrors(() => this.#stored.updateOne({ _id }, { $set: { is_cleared: true } }));
  }
}
