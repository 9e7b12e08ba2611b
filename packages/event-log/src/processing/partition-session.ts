// One session of a processor on one partition: it decides on the input records, commits, folds, replies and stores,
// until an error ends it. Then the session is discarded, and the next one is opened.
import type { TopicName } from '@lead-scoring/contracts';
import { DecodedRecord } from '../codec.js';
import { internals } from '../event-log.js';
import { inputsReadRecord } from '../input-positions.js';
import { timed } from '../metrics.js';
import type { EncodedDeclared } from '../outgoing.js';
import { isEventTopic, ReopenSession, type InputArrival, type Session } from '../session.js';
import {
  toBatches,
  transactionTimeoutMs,
  type TransactionContents,
} from '../kafka/transactional-producer.js';
import { releasedHeader } from '../owners.js';
import type { OutgoingRecord } from '../records.js';
import { originOf, withinSpan } from '../tracing.js';
import { divide, isRebuild } from './batch-division.js';
import { decide, mustBeSplit, repliesOf, withOutcome, type DecidedBatch } from './decided-batch.js';
import { nextOffsetOf, partsOf, recordsIn, topicsIn, type InputBatch } from './input-batch.js';
import type { JointProducer } from './joint-producer.js';
import type { LiveState } from './live-state.js';
import { answersToParked, outcomeMarkers } from './parked-records.js';
import type { PartitionContext } from './partition-context.js';
import type { DueCommit, PositionBook } from './position-book.js';
import { receive, type ReceivedBatch } from './received-batch.js';
import type { StateStorage } from './state-storage.js';

/** Maximum size of a record batch; the topics' limit is 8 MiB, and 16 MiB for dead letters. */
const maxBatchBytes = 6 * 1024 * 1024;
/** The fraction of the transaction timeout that a decision may take; the rest is for writing. */
const decisionPart = 2 / 3;
export const defaultRecordsPerBatch = 1_000;

/** Commands come first, because callers wait for their replies. */
function commandsFirst(arrivals: readonly InputArrival[]): InputArrival[] {
  return [...arrivals].sort(
    (one, other) => Number(isEventTopic(one.topic)) - Number(isEventTopic(other.topic)),
  );
}

export interface SessionParts {
  producer: JointProducer;
  state: LiveState;
  book: PositionBook;
  storage: StateStorage;
}

export class PartitionSession implements Session {
  readonly positions;
  readonly #transactionMs: number;
  /** True during a round: commits join the transaction of the other partitions. */
  #isInRound = false;

  constructor(
    private readonly context: PartitionContext,
    private readonly parts: SessionParts,
  ) {
    this.positions = parts.book.positions;
    this.#transactionMs = context.options.transactionTimeoutMs ?? transactionTimeoutMs;
  }

  get producer(): JointProducer {
    return this.parts.producer;
  }

  async handle(arrivals: readonly InputArrival[]): Promise<void> {
    const { options, failed, limits, signal, metrics } = this.context;
    const maxRecordsPerBatch = options.maxRecordsPerBatch ?? defaultRecordsPerBatch;
    this.#isInRound = true;
    await this.#passOver(arrivals);
    const rules = { service: options.name, maxRecordsPerBatch, failed, limits };
    const together = options.decidesTogether ? [arrivals] : commandsFirst(arrivals).map((one) => [one]);
    for (const batch of together.flatMap((one) => divide(one, rules))) {
      if (signal.aborted) break;
      const started = performance.now();
      if (!(await this.#takeRebuild(batch))) await this.#decideInParts(batch);
      const seconds = (performance.now() - started) / 1_000;
      for (const { topic, records } of batch) metrics.batch(topic, { records: records.length, seconds });
    }
    this.#isInRound = false;
  }

  /** Does not wait for the store, so that the next batch can begin at once. */
  async flush(isLast: boolean): Promise<void> {
    const { storage, book } = this.parts;
    if (isLast) return storage.flush(true);
    this.#isInRound = true;
    await storage.flush(false);
    await this.#commitDue(book.dueWhileIdle());
    this.#isInRound = false;
  }

  async rest(): Promise<void> {
    const { storage, book } = this.parts;
    this.#isInRound = true;
    await storage.storeRest();
    await this.#commitDue(book.dueWhileResting());
    this.#isInRound = false;
  }

  async release(): Promise<void> {
    const { book } = this.parts;
    await this.#commitPositions({ ...book.statement(book.positions), [releasedHeader]: 'true' });
  }

  async close(): Promise<void> {
    await this.parts.storage.untilStored().catch(() => undefined);
    await this.parts.state.close();
  }

  /** An arrival without records consists of commit markers and aborted records: there is nothing to decide behind it. */
  async #passOver(arrivals: readonly InputArrival[]): Promise<void> {
    const empty = arrivals.filter(({ records }) => records.length === 0);
    if (empty.length === 0) return;
    for (const { topic, nextOffset } of empty) this.parts.book.passedOver(topic, nextOffset);
    await this.parts.storage.storeIfDue();
  }

  /** Takes a rebuild command, which is divided from all other records. @returns whether the batch is one */
  async #takeRebuild([segment]: InputBatch): Promise<boolean> {
    const { log, options, partition, lease, reply } = this.context;
    if (!segment || !isRebuild(segment, options.name)) return false;
    const { codec } = log[internals];
    await codec.loadSchemas(segment.records);
    const [record] = segment.records;
    const decoded = record && codec.decode(segment.topic, partition, record);
    // An unreadable command is parked like any other.
    if (!decoded || 'problem' in decoded) return false;
    await lease.confirmed();
    await options.rebuild((decoded.payload as { rebuild_id: string }).rebuild_id);
    const letters = outcomeMarkers(this.context, segment, { outcome: 'effect' });
    await this.#commit({ batch: [segment], events: [], commands: [], letters });
    reply([{ to: decoded.headers, reply: { outcome: 'done' } }]);
    // Others wait until the stored positions are behind the command.
    await this.parts.storage.storeIfDue();
    return true;
  }

  async #decideInParts(batch: InputBatch): Promise<void> {
    try {
      await this.#decideOne(batch);
    } catch (error) {
      if (!mustBeSplit(error, batch)) throw error;
      for (const part of partsOf(batch)) {
        if (this.context.signal.aborted) return;
        await this.#decideInParts(part);
      }
    }
  }

  async #decideOne(batch: InputBatch): Promise<void> {
    const { limits, partition, metrics, touch } = this.context;
    const isLate = batch.some((segment) => limits.isSlowRecord(segment.input, nextOffsetOf(segment)));
    await this.#begin(isLate);
    const begunAt = performance.now();
    // The received batch is dropped after the decision: commit and fold take most of a batch's time, and the garbage
    // collector would copy a live batch.
    let received: ReceivedBatch | undefined = await receive(this.context, batch);
    const origin = originOf(received.records);
    const within = { 'messaging.destination.partition.id': partition };
    await withinSpan(`process ${topicsIn(batch).join(', ')}`, origin, within, async () => {
      if (!received) throw new Error('the received batch was already dropped');
      const decided = await decide(this.context, this.parts.state.current, this.parts.book, batch, received);
      received = undefined;
      metrics.stage('decide', (performance.now() - begunAt) / 1_000);
      touch();
      if (!isLate) this.#discardIfLate(batch, performance.now() - begunAt);
      await this.#conclude(await withOutcome(this.context, decided));
    });
  }

  /**
   * Begins the transaction early, so that it overlaps with the decision. It stays open for the next batch when nothing
   * is decided.
   */
  async #begin(isLate: boolean): Promise<void> {
    const { producer, book } = this.parts;
    // The brokers would abort a transaction that an earlier batch has left open during this decision.
    if (isLate) await producer.endOpen();
    else producer.begin({ partitions: [this.#outputOnWire()], offsets: book.isCommitDue() });
  }

  /** Commits the decision, then folds, replies and stores. */
  async #conclude(decided: DecidedBatch): Promise<void> {
    const { lease, metrics, touch, failed, reply, pendingAnswers } = this.context;
    const { book, state, storage } = this.parts;
    const { batch, decision, events, parked } = decided;
    await lease.confirmed();
    const offsets = await timed(metrics, 'commit', () => this.#commit(decided));
    touch();
    for (const { topic } of parked) metrics.deadLetters(topic, 1);
    metrics.decided(decision.events);
    failed.forget(batch);
    const answers = async () => {
      const replies = decided.replies ?? (await repliesOf(decision));
      return [
        ...replies.map(({ to, reply }) => ({ to: to.headers, reply })),
        ...answersToParked(parked, replies),
      ];
    };
    pendingAnswers.add(answers);
    if (events.length > 0) {
      await state.fold(
        decision.events.map((event, at) => this.#folded(event, events[at], offsets[at] ?? -1n)),
      );
      book.foldedUpTo = (offsets[events.length - 1] ?? book.foldedUpTo - 1n) + 1n;
      touch();
    }
    pendingAnswers.delete(answers);
    reply(await answers());
    await storage.storeIfDue();
  }

  /** Discards a decision that took too long, with the memory that it has changed. */
  #discardIfLate(batch: InputBatch, tookMs: number): void {
    const { failed, limits, logger } = this.context;
    if (tookMs < this.#transactionMs * decisionPart) return;
    const [segment, ...others] = batch;
    if (others.length > 0) failed.decideApart(batch);
    else if (segment) limits.recordSlowDecision(segment.input, nextOffsetOf(segment), segment.records.length);
    const message = `the decision on ${recordsIn(batch)} records took ${Math.round(tookMs)} ms; the transaction timeout is ${this.#transactionMs} ms`;
    logger.warn({ topics: topicsIn(batch), records: recordsIn(batch) }, message);
    throw new ReopenSession(message, true);
  }

  /**
   * Commits the decision on a batch with a statement of the input positions.
   * @returns the offset of each record, the events' first
   * @throws any error with an unknown outcome: the session ends
   */
  async #commit(decided: Omit<DecidedBatch, 'decision' | 'parked'>): Promise<bigint[]> {
    const { committed, log, options, partition } = this.context;
    const { book } = this.parts;
    const { batch, events, commands, letters } = decided;
    const plan = book.plan(decided);
    const next = book.after(batch);
    const place = { topic: options.output, partition };
    const statements = plan.isStating ? [inputsReadRecord(log, place, book.statement(next))] : [];
    const written = toBatches([...events, ...statements, ...commands, ...letters], maxBatchBytes);
    let first: bigint[] = [];
    if (!plan.isEmpty) {
      first = await this.#commitTogether({
        batches: written.map(({ batch: one }) => one),
        offsets: plan.isWithOffsets ? this.#groupOffsets(next) : [],
      });
      for (const [topic, position] of next) committed.set(topic, position);
    }
    book.committed(batch, plan, events.length);
    const offsets: bigint[] = [];
    written.forEach(({ indexes }, at) => {
      indexes.forEach((index, behind) => (offsets[index] = (first[at] ?? -1n) + BigInt(behind)));
    });
    const [statementOffset] = plan.isStating ? offsets : [];
    if (statementOffset !== undefined) book.stated(statementOffset);
    return offsets;
  }

  async #commitTogether(contents: TransactionContents): Promise<bigint[]> {
    const { producer } = this.parts;
    const first = await (this.#isInRound ? producer.commitInRound(contents) : producer.commit(contents));
    const own = this.#outputOnWire();
    contents.batches.forEach(({ topic, partition, messages }, at) => {
      const offset = first[at];
      if (offset === undefined || topic !== own.topic || partition !== own.partition) return;
      this.context.owned.by = { id: producer.id, offset: offset + BigInt(messages.length - 1) };
    });
    return first;
  }

  async #commitDue({ isStating, isWithOffsets }: DueCommit): Promise<void> {
    const { book } = this.parts;
    if (isWithOffsets) await this.#commitPositions(isStating ? book.statement(book.positions) : undefined);
  }

  /** Commits the input positions as group offsets, and in the output when there is a statement. */
  async #commitPositions(statement: Record<string, string> | undefined): Promise<void> {
    const { log, options, partition } = this.context;
    const { book } = this.parts;
    const place = { topic: options.output, partition };
    const statements = statement ? [inputsReadRecord(log, place, statement)] : [];
    const batches = toBatches(statements, maxBatchBytes).map(({ batch }) => batch);
    const offsets = this.#groupOffsets(book.positions);
    const [offset] = await this.#commitTogether({ batches, offsets });
    if (offset !== undefined) book.stated(offset);
    book.offsetsCommitted(true);
  }

  #folded(event: OutgoingRecord, encoded: EncodedDeclared | undefined, offset: bigint): DecodedRecord {
    if (!encoded) throw new Error('an event without an encoded record cannot be folded');
    const { value, headers, timestamp } = encoded.message;
    const { declaration, key, payload } = event;
    const { options, partition } = this.context;
    const stored = { offset, timestamp, headers };
    return new DecodedRecord(declaration, options.output, partition, key, payload, value, stored);
  }

  #groupOffsets(next: ReadonlyMap<TopicName, bigint>) {
    const { log, partition } = this.context;
    return this.parts.book.groupOffsets(next, log[internals].wire, partition);
  }

  #outputOnWire(): { topic: string; partition: number } {
    const { log, options, partition } = this.context;
    return { topic: log[internals].wire(options.output), partition };
  }
}
