// The positions from which a projector continues: those of its read model's checkpoint, but never beyond the end of a
// topic.
import type { TopicName } from '@lead-scoring/contracts';
import { internals, type EventLog } from './event-log.js';
import type { KafkaConnection } from './kafka/kafka-connection.js';
import { assertNotBeyondEnd } from './kafka/partition-reader.js';

interface PartitionInputs {
  inputs: readonly TopicName[];
  partition: number;
}

/**
 * The next offset of each input; the first record of an input that was never read.
 * @throws PositionBeyondEnd
 */
export async function projectorPositions(
  log: EventLog,
  connection: KafkaConnection,
  { inputs, partition }: PartitionInputs,
  stored: Partial<Record<TopicName, bigint>>,
): Promise<Map<TopicName, bigint>> {
  const { wire } = log[internals];
  const positions = new Map<TopicName, bigint>();
  for (const topic of inputs) {
    const position = stored[topic];
    if (position !== undefined)
      await assertNotBeyondEnd(connection, { topic: wire(topic), partition, position });
    positions.set(topic, position ?? (await connection.offset(wire(topic), partition, 'earliest')));
  }
  return positions;
}
