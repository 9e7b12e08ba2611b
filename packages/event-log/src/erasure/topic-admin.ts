// Makes and deletes the topics of an erasure.
import kafkajs, { type Admin, type PartitionMetadata } from 'kafkajs';
import { EventLogUnavailable } from '../errors.js';
import { protocolErrorType } from '../kafka/kafka-errors.js';
import { whenKnown } from '../kafka/when-known.js';
import { pause } from '../timing.js';

/** Time for all brokers to learn that a topic is made or deleted. */
const patienceMs = 30_000;
const lookEveryMs = 100;

/** Kafka's mark of a setting that was given to the topic itself. */
const ofTopic = kafkajs.ConfigSource.TOPIC_CONFIG;

async function topicExists(admin: Admin, topic: string): Promise<boolean> {
  return (await admin.listTopics()).includes(topic);
}

/** Makes an empty topic with the partitions, copies and settings of another one. */
export async function makeLike(admin: Admin, topic: string, model: string): Promise<void> {
  const partitions = await partitionsOf(admin, model);
  const { resources } = await whenKnown(() =>
    admin.describeConfigs({
      includeSynonyms: false,
      resources: [{ type: kafkajs.ConfigResourceTypes.TOPIC, name: model }],
    }),
  );
  const own = (resources[0]?.configEntries ?? []).filter(({ configSource }) => configSource === ofTopic);
  await make(admin, topic, {
    numPartitions: partitions.length,
    replicationFactor: partitions[0]?.replicas.length ?? 1,
    configEntries: own.map(({ configName: name, configValue: value }) => ({ name, value })),
  });
}

/** Makes a topic whose existence says something. */
export async function makeMark(admin: Admin, topic: string, model: string): Promise<void> {
  const [partition] = await partitionsOf(admin, model);
  await make(admin, topic, {
    numPartitions: 1,
    replicationFactor: partition?.replicas.length ?? 1,
    configEntries: [],
  });
}

/** An interrupted erasure may have made the topic a moment ago. */
async function partitionsOf(admin: Admin, topic: string): Promise<readonly PartitionMetadata[]> {
  const { topics } = await whenKnown(() => admin.fetchTopicMetadata({ topics: [topic] }));
  return topics[0]?.partitions ?? [];
}

interface NewTopic {
  numPartitions: number;
  replicationFactor: number;
  configEntries: { name: string; value: string }[];
}

/** Makes a topic, and waits until it is there. Repeated while a topic of the same name is being deleted. */
async function make(admin: Admin, topic: string, made: NewTopic): Promise<void> {
  const giveUpAt = Date.now() + patienceMs;
  // kafkajs answers false where the topic exists.
  while (!(await admin.createTopics({ topics: [{ topic, ...made }], waitForLeaders: false }))) {
    if (Date.now() > giveUpAt) throw new EventLogUnavailable(`the topic ${topic} cannot be made: it exists`);
    await pause(lookEveryMs);
  }
  while (!(await topicExists(admin, topic))) {
    if (Date.now() > giveUpAt)
      throw new EventLogUnavailable(`the topic ${topic} is made, and a broker does not know it`);
    await pause(lookEveryMs);
  }
}

/**
 * Deletes a topic, if it exists, and waits until it is gone.
 * @param isThere whether the topic is known to exist: a broker that is asked may not have heard of it yet, and the controller has
 */
export async function removeTopic(admin: Admin, topic: string, isThere = false): Promise<void> {
  const giveUpAt = Date.now() + patienceMs;
  for (
    let exists = isThere || (await topicExists(admin, topic));
    exists;
    exists = await topicExists(admin, topic)
  ) {
    await admin.deleteTopics({ topics: [topic] }).catch((error: unknown) => {
      if (protocolErrorType(error) !== 'UNKNOWN_TOPIC_OR_PARTITION') throw error;
    });
    if (Date.now() > giveUpAt) throw new EventLogUnavailable(`the topic ${topic} is not deleted`);
    await pause(lookEveryMs);
  }
}
