// How far consumer groups have read topics. Kafka forgets it when a topic is deleted. A rewritten or restored topic has the same offsets, so
// the groups, those of downstream consumers among them, go on where they were.
import type { KafkaConnection } from '../kafka/kafka-connection.js';

/** The next offset that a group reads of a partition, with what the group has noted beside it. */
export interface GroupPlace {
  partition: number;
  offset: string;
  metadata: string;
}

/** How far a group has read a topic; empty where it has not. */
export async function readGroupPlaces(
  connection: KafkaConnection,
  groupId: string,
  { topic, partitions }: { topic: string; partitions: number },
): Promise<GroupPlace[]> {
  const coordinator = await connection.groupCoordinator(groupId);
  const asked = Array.from({ length: partitions }, (_, partition) => ({ partition }));
  const { responses } = await coordinator.offsetFetch({
    groupId,
    topics: [{ topic, partitions: asked }],
  });
  return (responses[0]?.partitions ?? [])
    .filter(({ offset }) => Number(offset) >= 0)
    .map(({ partition, offset, metadata }) => ({ partition, offset, metadata: metadata ?? '' }));
}

/** Sets how far a group without members has read a topic. */
export async function setGroupPlaces(
  connection: KafkaConnection,
  groupId: string,
  { topic, places }: { topic: string; places: readonly GroupPlace[] },
): Promise<void> {
  const coordinator = await connection.groupCoordinator(groupId);
  await coordinator.offsetCommit({
    groupId,
    // A commit from outside the group, which has no members.
    groupGenerationId: -1,
    memberId: '',
    topics: [{ topic, partitions: [...places] }],
  });
}

/** For each group that has read the one topic: the same offsets of the other topic. */
export async function copyGroupOffsets(
  connection: KafkaConnection,
  groups: readonly string[],
  { from, to, partitions }: { from: string; to: string; partitions: number },
): Promise<void> {
  for (const groupId of groups) {
    const places = await readGroupPlaces(connection, groupId, { topic: from, partitions });
    if (places.length > 0) await setGroupPlaces(connection, groupId, { topic: to, places });
  }
}
