// Opens a session of a processor on one partition. The order of the steps matters: positions read before the claim
// could be changed by another owner.
import { EventLogError, PositionBeyondEnd } from '../errors.js';
import { internals } from '../event-log.js';
import { topicsOf } from '../inputs.js';
import type { KafkaConnection } from '../kafka/kafka-connection.js';
import { readInputPositions, type InputPositions } from '../opening-positions.js';
import type { Checkpoint } from '../processor-options.js';
import { catchUp } from './catch-up.js';
import type { JointProducer } from './joint-producer.js';
import { LiveState } from './live-state.js';
import { claimPartition } from './partition-claim.js';
import { phaseOf, type PartitionContext } from './partition-context.js';
import { PartitionSession } from './partition-session.js';
import { PositionBook } from './position-book.js';
import { StateStorage } from './state-storage.js';

/** Bytes read from one topic's partition at a time. */
export const defaultBytesPerBatch = 2 * 1024 * 1024;

/** @throws any error of a step, after closing what the step before has opened */
export async function openSession(context: PartitionContext): Promise<PartitionSession> {
  const { log, options, producers, signal } = context;
  const { connect, wire } = log[internals];
  const connection = connect();
  let state: LiveState | undefined;
  try {
    const producer = await producers.current();
    await connection.open([...topicsOf(options.inputs), options.output].map(wire));
    const claimedAt = await claimPartition(context, { connection, producer, producers });
    const before = await readInputs(context, connection, claimedAt);
    signal.throwIfAborted();
    state = await LiveState.open(context);
    return await new Opening(context, { connection, producer, state, before }).session();
  } catch (error) {
    await state?.close().catch(() => undefined);
    throw error;
  } finally {
    connection.close();
  }
}

/**
 * Reads the input positions. @throws EventLogError when the log states lower positions than this process has committed
 */
async function readInputs(
  { log, options, groupId, partition, committed, signal, touchByBroker: touch }: PartitionContext,
  connection: KafkaConnection,
  claimedAt: bigint,
): Promise<InputPositions> {
  const { output } = options;
  const place = { groupId, inputs: topicsOf(options.inputs), output, partition };
  const before = await readInputPositions(log, connection, claimedAt, place, { signal, touch });
  if (before.isAccepted) committed.clear();
  // This should never happen; waiting is better than deciding on the same records twice.
  for (const [topic, position] of committed)
    if ((before.positions.get(topic) ?? 0n) < position)
      throw new EventLogError(
        'log_unavailable',
        `this process has committed decisions on ${topic} ${partition} up to ${position}, but ${output} states ${before.positions.get(topic)}`,
        { retriable: true },
      );
  return before;
}

interface OpeningParts {
  connection: KafkaConnection;
  producer: JointProducer;
  state: LiveState;
  before: InputPositions;
}

/** Brings the state up to the end of the output. */
class Opening {
  readonly #book: PositionBook;
  readonly #storage: StateStorage;

  constructor(
    private readonly context: PartitionContext,
    private readonly parts: OpeningParts,
  ) {
    const { options, metrics, partition } = context;
    const { before, producer, state } = parts;
    this.#book = new PositionBook(before, producer.id, phaseOf(partition));
    this.#storage = new StateStorage({
      metrics,
      everyMs: options.storeEveryMs ?? 0,
      write: (checkpoint, awaited) => state.current.store(checkpoint, awaited),
      hasUnwritten: () => state.current.hasUnwritten?.() ?? false,
      checkpoint: () => this.#book.checkpoint(),
    });
  }

  async session(): Promise<PartitionSession> {
    const { log, options, partition } = this.context;
    const { before, state, producer } = this.parts;
    const stored = await state.current.checkpoint();
    if (stored.offset <= before.outputEnd) await this.#catchUp(stored);
    else if (before.isOutputWhole) await this.#startOver();
    else {
      const topic = log[internals].wire(options.output);
      throw new PositionBeyondEnd({ topic, partition, position: stored.offset, end: before.outputEnd });
    }
    this.#storage.advance(phaseOf(partition));
    await state.current.caughtUp?.();
    sendUnsent(this.context);
    return new PartitionSession(this.context, {
      producer,
      state,
      book: this.#book,
      storage: this.#storage,
    });
  }

  async #startOver(): Promise<void> {
    await this.#catchUp(await this.parts.state.reset());
  }

  /** Folds the output after a checkpoint, and stores the state, so that the next owner has less to fold. */
  async #catchUp(from: Checkpoint): Promise<void> {
    const { connection, state, before } = this.parts;
    const {
      storeEveryMs = 0,
      inputs,
      maxBytesPerBatch: maxBytes = defaultBytesPerBatch,
    } = this.context.options;
    const reading = { connection, state, storage: this.#storage, end: before.outputEnd, maxBytes };
    const book = this.#book;
    book.foldedUpTo = await catchUp(this.context, from, reading);
    const isUnmoved = topicsOf(inputs).every((topic) => from.positions[topic] === book.positions.get(topic));
    if (book.foldedUpTo === from.offset && isUnmoved) return;
    this.#storage.startStore();
    const stored = this.#storage.untilStored();
    if (storeEveryMs === 0) await stored;
  }
}

/** Sends the answers of an earlier session whose fold failed: catching up has folded their events. */
function sendUnsent({ pendingAnswers, reply, logger }: PartitionContext): void {
  for (const answers of pendingAnswers) {
    pendingAnswers.delete(answers);
    answers().then(reply, (error: unknown) => {
      logger.warn({ err: error }, 'the replies to a batch of an earlier session could not be made');
    });
  }
}
