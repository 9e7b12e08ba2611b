// The positions from which a projector continues: those of its read model's checkpoint, but never beyond the end of a
// topic.
import type { TopicName } from '@lead-scoring/contracts';
import { internals, type EventLog } from './event-log.js';
import type { KafkaConnection } from './kafka/kafka-connection.js';
import { assertNotBeyondEnd, readUntil, untilCurrentEnd, type RawRecord } from './kafka/partition-reader.js';

/** Whether one of these commands is a readable rebuild command. The service parks an unreadable one. */
export async function asksForRebuild(
  log: EventLog,
  { topic, partition, type }: { topic: TopicName; partition: number; type: string },
  records: readonly RawRecord[],
): Promise<boolean> {
  const { codec } = log[internals];
  const asking = records.filter(({ headers }) => headers.type?.toString() === type);
  if (asking.length === 0) return false;
  await codec.loadSchemas(asking);
  return asking.some((record) => !('problem' in codec.decode(topic, partition, record)));
}

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

/**
 * The offset after the last rebuild command that the projector has not executed; undefined for none. A projector that
 * is halted because a topic ends before its position looks for such a command: what it has folded can be dropped and
 * folded again.
 */
export async function findPendingRebuild(
  log: EventLog,
  connection: KafkaConnection,
  { commands, partition, type }: { commands: TopicName; partition: number; type: string },
  position: bigint | undefined,
): Promise<bigint | undefined> {
  const topic = log[internals].wire(commands);
  const end = await connection.offset(topic, partition, 'latest');
  const from =
    position !== undefined && position <= end
      ? position
      : await connection.offset(topic, partition, 'earliest');
  let consumed: bigint | undefined;
  const isEnd = await untilCurrentEnd(connection, topic, partition);
  for await (const { records } of readUntil(connection, { topic, partition, from }, isEnd, {
    maxBytes: 1024 * 1024,
  }))
    for (const record of records)
      if (await asksForRebuild(log, { topic: commands, partition, type }, [record]))
        consumed = record.offset + 1n;
  return consumed;
}
