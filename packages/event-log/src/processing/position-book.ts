// How far a partition has read its inputs, and when the output and the consumer group are told: pure but for the clock.
import type { TopicName } from '@lead-scoring/contracts';
import { committedOffsets, formatInputPositions, isOfItsOwner, positionsHeader } from '../input-positions.js';
import { ownerHeader } from '../owners.js';
import type { InputPositions } from '../opening-positions.js';
import { isOfEvents } from '../session.js';
import type { Checkpoint } from '../processor-options.js';
import { nextOffsetOf, type InputBatch } from './input-batch.js';

/** Maximum age of the committed group offsets, which lag monitors read, under load. */
const commitOffsetsEveryMs = 5_000;
/** While events come and nothing follows from them, the output is told of it at most this often: it is kept for ever. */
const noteNothingEveryMs = 60_000;

/** What a batch's transaction has besides the batch's own records. */
export interface TransactionPlan {
  /** The group's offsets are committed with it. */
  isWithOffsets: boolean;
  /** A record says how far the inputs are read, because no event does. */
  isNoting: boolean;
  /** There is nothing to write: no transaction is needed. */
  isEmpty: boolean;
}

/** A batch and what is written because of it. */
interface BatchRecords {
  batch: InputBatch;
  events: readonly unknown[];
  commands: readonly unknown[];
  letters: readonly unknown[];
}

export class PositionBook {
  /** The next offset of each input. */
  readonly positions: Map<TopicName, bigint>;
  /** The output's next offset that is not folded yet. */
  foldedUpTo = 0n;
  /** Whether the group's offsets, and the output's records, say what `positions` says. */
  #isCommitted: boolean;
  #isNoted: boolean;
  #noteAt: number;
  /** The session's first transaction commits the group's offsets. */
  #commitAt = -Infinity;

  constructor(
    { positions, isCommitted, isNoted }: Pick<InputPositions, 'positions' | 'isCommitted' | 'isNoted'>,
    private readonly owner: string,
    private readonly phase: number,
    private readonly now = () => performance.now(),
  ) {
    this.positions = positions;
    this.#isCommitted = isCommitted;
    this.#isNoted = isNoted;
    this.#noteAt = now() + noteNothingEveryMs;
  }

  /** The next offset of each input once a batch is decided. */
  after(batch: InputBatch): Map<TopicName, bigint> {
    const next = new Map(this.positions);
    for (const segment of batch) next.set(segment.input, nextOffsetOf(segment));
    return next;
  }

  isCommitDue(): boolean {
    return this.now() >= this.#commitAt;
  }

  plan({ batch, events, commands, letters }: BatchRecords): TransactionPlan {
    // What came of events and is nothing may be decided again after a crash; a command was answered.
    const isNothing =
      events.length + commands.length + letters.length === 0 && batch.every(({ input }) => isOfEvents(input));
    if (isNothing && batch.some(({ records }) => !records.every(isOfItsOwner))) this.#isNoted = false;
    const isWithOffsets = this.isCommitDue();
    const isNoting = events.length === 0 && (!isNothing || (isWithOffsets && this.#isNoteDue()));
    return { isWithOffsets, isNoting, isEmpty: isNothing && !isWithOffsets };
  }

  /** A batch's transaction is committed, or needs none. */
  committed(batch: InputBatch, { isWithOffsets }: TransactionPlan, eventCount: number): void {
    this.offsetsCommitted(isWithOffsets);
    for (const segment of batch) this.positions.set(segment.input, nextOffsetOf(segment));
    if (eventCount > 0) this.#isNoted = true;
  }

  offsetsCommitted(areCommitted: boolean): void {
    this.#isCommitted = areCommitted;
    if (!areCommitted) return;
    const isFirst = this.#commitAt === -Infinity;
    this.#commitAt = this.now() + commitOffsetsEveryMs * (isFirst ? 1 - this.phase : 1);
  }

  /** The output says how far the inputs are read, in a record at this offset that services do not fold. */
  noted(offset: bigint): void {
    this.#isNoted = true;
    this.#noteAt = this.now() + noteNothingEveryMs;
    this.foldedUpTo = offset + 1n;
  }

  /** What is to be told while nothing comes. */
  untold(): { isNoting: boolean; isWithOffsets: boolean } {
    const isNoting = this.#isNoteDue();
    return { isNoting, isWithOffsets: isNoting || !this.#isCommitted };
  }

  #isNoteDue(): boolean {
    return !this.#isNoted && this.now() >= this.#noteAt;
  }

  /** The headers of a record that says how far the inputs are read, and who says so. */
  statement(next: ReadonlyMap<TopicName, bigint>): Record<string, string> {
    return { [positionsHeader]: formatInputPositions(next), [ownerHeader]: this.owner };
  }

  /** The group's offsets as they are committed. */
  groupOffsets(next: ReadonlyMap<TopicName, bigint>, wire: (topic: TopicName) => string, partition: number) {
    const wired = [...next].map(([topic, position]) => [wire(topic), position] as const);
    return committedOffsets(wired, partition, this.foldedUpTo);
  }

  checkpoint(): Checkpoint {
    return { offset: this.foldedUpTo, positions: Object.fromEntries(this.positions) };
  }
}
