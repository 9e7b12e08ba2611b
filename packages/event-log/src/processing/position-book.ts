// The input positions of a partition, and when they are stated in the output and committed as group offsets. Pure but
// for the clock.
import type { TopicName } from '@lead-scoring/contracts';
import {
  committedOffsets,
  formatInputPositions,
  isPositionStatement,
  positionsHeader,
} from '../input-positions.js';
import { ownerHeader } from '../owners.js';
import type { InputPositions } from '../opening-positions.js';
import { isEventTopic } from '../session.js';
import type { Checkpoint } from '../processor-options.js';
import { nextOffsetOf, type InputBatch } from './input-batch.js';

/** Maximum age of the committed group offsets, which lag monitors read, under load. */
const commitOffsetsEveryMs = 5_000;
/**
 * Minimum interval between position statements while event batches cause no records: a statement stays in the output
 * for ever.
 */
const stateIdlePositionsEveryMs = 60_000;

/** The contents of a batch's transaction besides the batch's own records. */
export interface TransactionPlan {
  /** The transaction commits the group's offsets. */
  isWithOffsets: boolean;
  /** A record InputsRead states the positions, because there is no event to carry them. */
  isStating: boolean;
  /** The batch needs no transaction. */
  isEmpty: boolean;
}

/** A batch with the records that it causes. */
interface BatchRecords {
  batch: InputBatch;
  events: readonly unknown[];
  commands: readonly unknown[];
  letters: readonly unknown[];
}

/** Whether a commit without a batch states the positions in the output, and whether it commits them as group offsets. */
export type DueCommit = Pick<TransactionPlan, 'isStating' | 'isWithOffsets'>;

export class PositionBook {
  /** The next offset of each input. */
  readonly positions: Map<TopicName, bigint>;
  /** The next offset of the output to fold. */
  foldedUpTo = 0n;
  /** Whether the group's offsets, and the output's last statement, equal `positions`. */
  #isCommitted: boolean;
  #isStated: boolean;
  #stateAt: number;
  /** The first transaction of a session commits the group's offsets. */
  #commitAt = -Infinity;

  constructor(
    { positions, isCommitted, isStated }: Pick<InputPositions, 'positions' | 'isCommitted' | 'isStated'>,
    private readonly owner: string,
    private readonly phase: number,
    private readonly now = () => performance.now(),
  ) {
    this.positions = positions;
    this.#isCommitted = isCommitted;
    this.#isStated = isStated;
    this.#stateAt = now() + stateIdlePositionsEveryMs;
  }

  /** The input positions after a batch. */
  after(batch: InputBatch): Map<TopicName, bigint> {
    const next = new Map(this.positions);
    for (const segment of batch) next.set(segment.input, nextOffsetOf(segment));
    return next;
  }

  isCommitDue(): boolean {
    return this.now() >= this.#commitAt;
  }

  plan({ batch, events, commands, letters }: BatchRecords): TransactionPlan {
    // A batch of events that causes no records may be decided again after a crash; a command was answered and may not.
    const causesNothing =
      events.length + commands.length + letters.length === 0 &&
      batch.every(({ input }) => isEventTopic(input));
    if (causesNothing && batch.some(({ records }) => !records.every(isPositionStatement)))
      this.#isStated = false;
    const isWithOffsets = this.isCommitDue();
    const isStating = events.length === 0 && (!causesNothing || (isWithOffsets && this.#isStatementDue()));
    return { isWithOffsets, isStating, isEmpty: causesNothing && !isWithOffsets };
  }

  /** Records that a batch's transaction is committed, or that it needs none. */
  committed(batch: InputBatch, { isWithOffsets }: TransactionPlan, eventCount: number): void {
    this.offsetsCommitted(isWithOffsets);
    for (const segment of batch) this.positions.set(segment.input, nextOffsetOf(segment));
    if (eventCount > 0) this.#isStated = true;
  }

  /** Moves an input's position behind commit markers and aborted records; the next statement of the positions has it. */
  passedOver(input: TopicName, nextOffset: bigint): void {
    if (nextOffset <= (this.positions.get(input) ?? 0n)) return;
    this.positions.set(input, nextOffset);
    this.#isCommitted = false;
  }

  offsetsCommitted(areCommitted: boolean): void {
    this.#isCommitted = areCommitted;
    if (!areCommitted) return;
    const isFirst = this.#commitAt === -Infinity;
    this.#commitAt = this.now() + commitOffsetsEveryMs * (isFirst ? 1 - this.phase : 1);
  }

  /** Records that the output states the positions in a record InputsRead at this offset, which services do not fold. */
  stated(offset: bigint): void {
    this.#isStated = true;
    this.#stateAt = this.now() + stateIdlePositionsEveryMs;
    this.foldedUpTo = offset + 1n;
  }

  /** What to commit while the inputs of the whole process are idle. */
  dueWhileIdle(): DueCommit {
    const isStating = this.#isStatementDue();
    return { isStating, isWithOffsets: isStating || !this.#isCommitted };
  }

  /**
   * What to commit while this partition's inputs are idle and those of other partitions of the process are not: nothing until
   * `commitOffsetsEveryMs` after the last commit, as under load.
   */
  dueWhileResting(): DueCommit {
    return this.isCommitDue() ? this.dueWhileIdle() : { isStating: false, isWithOffsets: false };
  }

  #isStatementDue(): boolean {
    return !this.#isStated && this.now() >= this.#stateAt;
  }

  /** The headers of a position statement: the positions and the owner. */
  statement(next: ReadonlyMap<TopicName, bigint>): Record<string, string> {
    return { [positionsHeader]: formatInputPositions(next), [ownerHeader]: this.owner };
  }

  /** The group offsets to commit. */
  groupOffsets(next: ReadonlyMap<TopicName, bigint>, wire: (topic: TopicName) => string, partition: number) {
    const wired = [...next].map(([topic, position]) => [wire(topic), position] as const);
    return committedOffsets(wired, partition, this.foldedUpTo);
  }

  checkpoint(): Checkpoint {
    return { offset: this.foldedUpTo, positions: Object.fromEntries(this.positions) };
  }
}
