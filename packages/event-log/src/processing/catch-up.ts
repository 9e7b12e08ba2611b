// Folds what the output topic holds beyond a checkpoint into a partition's state.
import { decodeToFold } from '../folded-records.js';
import { internals } from '../event-log.js';
import { isOfLogAlone } from '../input-positions.js';
import type { KafkaConnection } from '../kafka/kafka-connection.js';
import { readUntil, type RawRecord } from '../kafka/partition-reader.js';
import { lossTold } from '../lost-records.js';
import type { Checkpoint } from '../processor-options.js';
import type { FoldedRecord } from '../records.js';
import type { LiveState } from './live-state.js';
import type { PartitionContext } from './partition-context.js';
import type { StateStorage } from './state-storage.js';

export interface CatchUp {
  connection: KafkaConnection;
  state: LiveState;
  storage: StateStorage;
  /** The output's offset up to which is folded. Nobody else writes the output, so it stays its end. */
  end: bigint;
  maxBytes: number;
}

/**
 * Stores on the way, so that who comes after a crash has less to fold; what is folded last is left to the caller to store.
 * @returns the output's next offset
 */
export async function catchUp(
  context: PartitionContext,
  from: Checkpoint,
  { connection, state, storage, end, maxBytes }: CatchUp,
): Promise<bigint> {
  const { log, options, partition, logger, metrics, signal, touch, touchOfLog } = context;
  const onOffsetLost = lossTold({ logger, metrics, topic: options.output, partition });
  let { offset } = from;
  const missing = readUntil(
    connection,
    { topic: log[internals].wire(options.output), partition, from: offset },
    ({ nextOffset }) => nextOffset >= end,
    { maxBytes, signal, onOffsetLost },
  );
  for await (const { records, nextOffset } of missing) {
    if (nextOffset > offset) touchOfLog();
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
  const own = records.filter((record) => !isOfLogAlone(record));
  return decodeToFold(log, { topic: options.output, partition }, own, logger);
}
