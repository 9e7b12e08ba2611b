// The records of ingest.events that a partition has decided: all before an offset, and dead letters that were sent again later.
import type { IncomingRecord } from '@lead-scoring/event-log';
import {
  deletePartition,
  findByIds,
  insertMissing,
  offsetToNumber,
  type Collection,
  type ReadModel,
} from '@lead-scoring/read-model';
import { lateDecisionId, lateDecisions, type LateDecisionDocument } from './documents.js';
import { endAfter, undecided, type DecisionSource } from './source-model.js';

export class DecidedRecords {
  /** The offset of ingest.events behind the last decided record, from the checkpoint and the service's own events. */
  #end = 0;
  readonly #late: Collection<LateDecisionDocument>;

  constructor(
    private readonly readModel: ReadModel,
    private readonly partition: number,
  ) {
    this.#late = readModel.collection(lateDecisions);
  }

  /** @param end the offset behind the last record that the stored state reflects */
  resume(end: number): void {
    this.#end = end;
  }

  /** The records without a recorded decision, of records in the order of the log. */
  without(incoming: readonly IncomingRecord[]): IncomingRecord[] {
    return undecided(incoming, this.#end);
  }

  /** The records without a recorded decision, of dead letters that were sent again. */
  async withoutLate(incoming: readonly IncomingRecord[]): Promise<IncomingRecord[]> {
    const idOf = ({ offset }: IncomingRecord) => lateDecisionId(this.partition, offsetToNumber(offset));
    const found = await findByIds(this.#late, [...new Set(incoming.map(idOf))]);
    const known = new Set(found.map(({ _id }) => _id));
    return incoming.filter((record) => {
      const id = idOf(record);
      if (known.has(id)) return false;
      known.add(id);
      return true;
    });
  }

  /** Folds the sources of recorded decisions. */
  async fold(sources: Iterable<DecisionSource | undefined>): Promise<void> {
    const late: LateDecisionDocument[] = [];
    for (const source of sources) {
      this.#end = endAfter(this.#end, source);
      if (source?.sent_again)
        late.push({ _id: lateDecisionId(this.partition, source.offset), partition: this.partition });
    }
    if (late.length > 0) await insertMissing(this.#late, late);
  }

  /** Sets the end after ingest.events was recreated or truncated, so that earlier offsets have no meaning. */
  async restartAt(position: number): Promise<void> {
    this.#end = position;
    // There are only a few.
    await deletePartition(this.readModel, lateDecisions, this.partition, () => undefined);
  }
}
