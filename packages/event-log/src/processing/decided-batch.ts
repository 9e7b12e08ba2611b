// Decides on a batch: computes the contents of its transaction and its replies.
import { asError, BatchTooLarge, EventLogError, isRetriable } from '../errors.js';
import type { RetryOutcome } from '../dead-letter-record.js';
import { deadLetterOffsetOf } from '../dead-letter-record.js';
import { withPositions } from '../input-positions.js';
import { isConnectionError, protocolErrorType } from '../kafka/kafka-errors.js';
import { encodeRecord, traceHeaders, type EncodedDeclared, type EncodedRecord } from '../outgoing.js';
import { ReopenSession } from '../session.js';
import { Turns } from '../timing.js';
import type { Decision, PartitionState, Reply } from '../processor-options.js';
import { recordsIn, topicsIn, type InputBatch } from './input-batch.js';
import { outcomeMarkers, park, type ParkedRecord } from './parked-records.js';
import type { PartitionContext } from './partition-context.js';
import type { PositionBook } from './position-book.js';
import type { ReceivedBatch } from './received-batch.js';

export interface DecidedBatch {
  batch: InputBatch;
  decision: Decision;
  /** The decision's events, encoded. */
  events: EncodedDeclared[];
  commands: EncodedRecord[];
  parked: ParkedRecord[];
  /** Dead letters, and the outcome markers of retried ones. */
  letters: EncodedRecord[];
  /** The replies, when the outcome marker needed them before the commit. */
  replies?: readonly Reply[];
}

/** Whether the batch is to be split and decided in parts. */
export function mustBeSplit(error: unknown, batch: InputBatch): boolean {
  return error instanceof BatchTooLarge && recordsIn(batch) > 1;
}

/**
 * Decides on a batch and encodes the decision.
 * @throws BatchTooLarge when the batch must be split; ReopenSession when the records made the decision fail; transient
 * errors unchanged
 */
export async function decide(
  context: PartitionContext,
  state: PartitionState,
  book: PositionBook,
  batch: InputBatch,
  received: ReceivedBatch,
): Promise<DecidedBatch> {
  try {
    const { records, parked } = received;
    const decision: Decision = records.length > 0 ? await state.decide(records) : { events: [] };
    parked.push(...parkRefused(context, decision, received));
    const letters = parked.map(({ letter }) => letter);
    return { batch, decision, ...(await encodeDecision(context, book, batch, decision)), parked, letters };
  } catch (error) {
    if (mustBeSplit(error, batch)) throw error;
    // One input's failing records must not delay the other inputs.
    if (batch.length > 1) context.failed.decideApart(batch);
    if (isTransient(context, error)) throw error;
    throw decisionFailed(context, batch, error);
  }
}

async function encodeDecision(
  { log, options, partition }: PartitionContext,
  book: PositionBook,
  batch: InputBatch,
  { events, commands = [] }: Decision,
): Promise<Pick<DecidedBatch, 'events' | 'commands'>> {
  const now = Date.now();
  const trace = traceHeaders();
  const turns = new Turns();
  const encodedEvents: EncodedDeclared[] = [];
  for (const event of events) {
    const { topic, type } = event.declaration;
    if (topic !== options.output)
      throw new EventLogError('invalid_record', `${type} is not an event of ${options.output}`);
    encodedEvents.push(encodeRecord(log, { ...event, partition }, now, trace));
    await turns.giveWay();
  }
  const encodedCommands: EncodedRecord[] = [];
  for (const command of commands) {
    encodedCommands.push(encodeRecord(log, command, now, trace));
    await turns.giveWay();
  }
  return {
    events: withPositions(encodedEvents, book.statement(book.after(batch))),
    commands: encodedCommands,
  };
}

/** Parks the records that the decision refuses. */
function parkRefused(
  context: PartitionContext,
  { deadLetters = [] }: Decision,
  { records, raw }: ReceivedBatch,
): ParkedRecord[] {
  if (deadLetters.length === 0) return [];
  const originals = new Map(records.map((record, index) => [record, raw[index]]));
  return deadLetters.flatMap(({ record, reason }) => {
    const original = originals.get(record);
    return original ? [{ ...park(context, original.segment, original.record, reason), decoded: record }] : [];
  });
}

function isTransient({ options }: PartitionContext, error: unknown): boolean {
  return (
    isRetriable(error) ||
    options.isRetriable?.(error) === true ||
    isConnectionError(error) ||
    protocolErrorType(error) !== undefined
  );
}

function decisionFailed(
  { logger, failed }: PartitionContext,
  batch: InputBatch,
  error: unknown,
): ReopenSession {
  const { message, stack } = asError(error);
  logger.error({ err: error, topics: topicsIn(batch), records: recordsIn(batch) }, 'the decision has failed');
  const [segment, ...others] = batch;
  if (segment && others.length === 0) failed.note(segment, `the decision has failed: ${message}`);
  // A failed decision may have left the state's memory half changed: the memory is discarded with the session.
  return new ReopenSession(`the decision has failed: ${stack ?? message}`);
}

/** Adds the outcome marker of a retried dead letter, which is decided alone, to the transaction. */
export async function withOutcome(context: PartitionContext, decided: DecidedBatch): Promise<DecidedBatch> {
  const [segment] = decided.batch;
  const sentAgain = segment?.records[0] && deadLetterOffsetOf(segment.records[0]);
  if (!segment || !sentAgain) return decided;
  // Replies to a batch with events may read folded state, so they cannot be made before the fold.
  const replies = decided.events.length === 0 ? await repliesOf(decided.decision) : undefined;
  const markers = outcomeMarkers(context, segment, outcomeOf(decided, replies ?? []));
  return { ...decided, letters: [...decided.letters, ...markers], ...(replies && { replies }) };
}

export async function repliesOf({ replies = [] }: Decision): Promise<readonly Reply[]> {
  return typeof replies === 'function' ? replies() : replies;
}

/** The outcome of the only record of a batch. */
function outcomeOf(
  { decision: { events, commands = [], isRepeat = false }, parked }: DecidedBatch,
  replies: readonly Reply[],
): { outcome: RetryOutcome; reason?: string } {
  if (parked.length > 0) return { outcome: 'parked' };
  if (events.length + commands.length > 0 && !isRepeat) return { outcome: 'effect' };
  for (const { reply } of replies)
    if (reply.outcome === 'rejected') return { outcome: 'refused', reason: reply.message };
  return { outcome: 'none' };
}
