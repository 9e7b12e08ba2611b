// The records of one partition that made a decision fail. They outlive the session that the failure ended, so that the next
// session isolates them: first from other inputs, then one by one, and parks the record that fails alone three times.
import type { TopicName } from '@lead-scoring/contracts';
import { nextOffsetOf, type InputBatch, type InputSegment } from './input-batch.js';

/** A record that is decided alone fails this many times before it is parked. */
const attemptsUntilParked = 3;

export class FailedRecords {
  /** By input: records before this offset are decided apart from those of other inputs. */
  readonly #apartBefore = new Map<TopicName, bigint>();
  /** By input: records before this offset are decided one by one. */
  readonly #singlyBefore = new Map<TopicName, bigint>();
  /** By `topic:offset`. */
  readonly #failures = new Map<string, { attempts: number; reason: string }>();

  isDecidedApart({ input, nextOffsets: [first = 0n] }: InputSegment): boolean {
    return first <= (this.#apartBefore.get(input) ?? 0n);
  }

  isDecidedAlone(input: TopicName, offset: bigint): boolean {
    return offset < (this.#singlyBefore.get(input) ?? 0n);
  }

  /** These records are decided apart from those of other inputs from now on. */
  decideApart(batch: InputBatch): void {
    for (const segment of batch) this.#apartBefore.set(segment.input, nextOffsetOf(segment));
  }

  /** Records a failed decision on these records of one input. */
  note(segment: InputSegment, reason: string): void {
    const [only, ...others] = segment.records;
    if (!only || others.length > 0) {
      this.#singlyBefore.set(segment.input, nextOffsetOf(segment));
      return;
    }
    const id = failureId(segment, only.offset);
    const attempts = (this.#failures.get(id)?.attempts ?? 0) + 1;
    this.#failures.set(id, { attempts, reason });
  }

  /** The reason to park a record without another attempt; undefined for a record to decide. */
  reasonToPark(segment: InputSegment, offset: bigint): string | undefined {
    if (this.#failures.size === 0) return undefined;
    const failed = this.#failures.get(failureId(segment, offset));
    return failed && failed.attempts >= attemptsUntilParked ? failed.reason : undefined;
  }

  /** Removes the failures of records that were decided or parked. */
  forget(batch: InputBatch): void {
    if (this.#failures.size === 0) return;
    for (const segment of batch)
      for (const { offset } of segment.records) this.#failures.delete(failureId(segment, offset));
  }
}

function failureId({ topic }: InputSegment, offset: bigint): string {
  return `${topic}:${offset}`;
}
