// Folds the events of the output topic after a checkpoint into a partition's state.
import { decodeToFold } from '../folded-records.js';
import { internals } from '../event-log.js';
import { isMeaningless } from '../input-positions.js';
import type { KafkaConnection } from '../kafka/kafka-connection.js';
import { readUntil, type RawRecord } from '../kafka/partition-reader.js';
import { lossReporter } from '../loss-reporter.js';
import type { Checkpoint } from '../processor-options.js';
import type { FoldedRecord } from '../records.js';
import type { LiveState } from './live-state.js';
import type { PartitionContext } from './partition-context.js';
import type { StateStorage } from './state-storage.js';

export interface CatchUp {
  connection: KafkaConnection;
  state: LiveState;
  storage: StateStorage;
  /** The offset at which folding ends. No other process writes to the output, so it remains the end. */
  end: bigint;
  maxBytes: number;
}

/**
 * Stores checkpoints on the way, so that the next owner has less to fold after a crash; the caller stores the last one.
 * @returns the output's next offset
 */
export async function catchUp(
  context: PartitionContext,
  from: Checkpoint,
  { connection, state, storage, end, maxBytes }: CatchUp,
): Promise<bigint> {
  const { log, options, partition, logger, metrics, signal, touch, touchByBroker } = context;
  const onOffsetLost = lossReporter({ logger, metrics, topic: options.output, partition });
  let { offset } = from;
  const missing = readUntil(
    connection,
    { topic: log[internals].wire(options.output), partition, from: offset },
    ({ nextOffset }) => nextOffset >= end,
    { maxBytes, signal, onOffsetLost },
  );
  for await (const { records, nextOffset } of missing) {
    if (nextOffset > offset) touchByBroker();
    const events = await decodeOwn(context, records);
    await state.fold(events);
    if (events.length > 0) touch();
    offset = nextOffset;
    if (offset < end && events.length > 0 && storage.isDue())
      await storage.storeAt({ offset, positions: from.positions });
  }
  return offset;
}

function decodeOwn(
  { log, options, partition, logger }: PartitionContext,
  records: readonly RawRecord[],
): Promise<FoldedRecord[]> {
  const own = records.filter((record) => !isMeaningless(record));
  return decodeToFold(log, { topic: options.output, partition }, own, logger);
}
