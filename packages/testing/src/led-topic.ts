// A topic that can be used at once.
import { eventually } from '@lead-scoring/platform/waiting';
import type { Admin } from 'kafkajs';

/**
 * Creates a topic with one copy; resolves when each partition has a leader. kafkajs waits for leaders too, but gives up where it asks a broker
 * that has not heard of the topic yet.
 */
export async function createLedTopic(admin: Admin, topic: string, partitions: number): Promise<void> {
  await admin.createTopics({
    waitForLeaders: false,
    topics: [{ topic, numPartitions: partitions, replicationFactor: 1 }],
  });
  await eventually(`every partition of ${topic} has a leader`, async () => {
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
    return topics[0]?.partitions.filter(({ leader }) => leader >= 0).length === partitions;
  });
}
