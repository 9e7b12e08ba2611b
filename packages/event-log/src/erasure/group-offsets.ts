// Kafka forgets how far consumer groups have read a topic when the topic is deleted. A rewritten topic has the same offsets, so the
// groups, those of downstream consumers among them, go on where they were.
import type { KafkaConnection } from '../kafka/kafka-connection.js';

/** For each group that has read the one topic: the same offsets of the other topic. */
export async function copyGroupOffsets(
  connection: KafkaConnection,
  groups: readonly string[],
  { from, to, partitions }: { from: string; to: string; partitions: number },
): Promise<void> {
  for (const groupId of groups) {
    const coordinator = await connection.groupCoordinator(groupId);
    const asked = Array.from({ length: partitions }, (_, partition) => ({ partition }));
    const { responses } = await coordinator.offsetFetch({
      groupId,
      topics: [{ topic: from, partitions: asked }],
    });
    const read = (responses[0]?.partitions ?? []).filter(({ offset }) => Number(offset) >= 0);
    if (read.length === 0) continue;
    await coordinator.offsetCommit({
      groupId,
      // A commit from outside the group, which has no members.
      groupGenerationId: -1,
      memberId: '',
      topics: [
        {
          topic: to,
          partitions: read.map(({ partition, offset, metadata }) => ({
            partition,
            offset,
            metadata: metadata ?? '',
          })),
        },
      ],
    });
  }
}
