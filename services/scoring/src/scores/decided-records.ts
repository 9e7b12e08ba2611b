// Which records of ingest.events a partition has decided on: those before an offset, and those that came late, because they
// were dead letters and were sent again.
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
  /** The next offset of ingest.events behind all that is decided on, as the checkpoint and the own events tell. */
  #end = 0;
  readonly #late: Collection<LateDecisionDocument>;

  constructor(
    private readonly readModel: ReadModel,
    private readonly partition: number,
  ) {
    this.#late = readModel.collection(lateDecisions);
  }

  /** @param end the next offset behind all that the stored state reflects */
  resume(end: number): void {
    this.#end = end;
  }

  /** The records that no decision is recorded for, of some that came in the order of the log. */
  without(incoming: readonly IncomingRecord[]): IncomingRecord[] {
    return undecided(incoming, this.#end);
  }

  /** The records that no decision is recorded for, of some that were sent again. */
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

  /** Takes in the sources of recorded decisions. */
  async fold(sources: Iterable<DecisionSource | undefined>): Promise<void> {
    const late: LateDecisionDocument[] = [];
    for (const source of sources) {
      this.#end = endAfter(this.#end, source);
      if (source?.sent_again)
        late.push({ _id: lateDecisionId(this.partition, source.offset), partition: this.partition });
    }
    if (late.length > 0) await insertMissing(this.#late, late);
  }

  /** The offsets of before are of a log that is no more. */
  async restartAt(position: number): Promise<void> {
    this.#end = position;
    // A handful at most.
    await deletePartition(this.readModel, lateDecisions, this.partition, () => undefined);
  }
}
