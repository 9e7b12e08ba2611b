// Uses a broker once as the system uses it, so that the archive of its classes holds those that serve clients.
import { kafkaClient, verifyKafka } from '../readiness.js';
import { eventually } from '../waiting.js';
import type { ServerHome } from './class-archive.js';
import { randomClusterId } from './kafka-cluster-id.js';
import { NativeBroker } from './kafka-broker.js';
import { freePort } from '../ports.js';

/** Starts a broker in `home` with further options of Java, uses it, and ends it. */
export async function trainKafka(
  home: ServerHome,
  program: { java: string; classPath: string; javaOptions: readonly string[] },
): Promise<void> {
  const cluster = { ...program, clusterId: randomClusterId(), controllerPorts: [await freePort()] };
  const broker = new NativeBroker(home, cluster, 1, await freePort());
  const handle = await broker.start();
  try {
    await eventually('Kafka is ready', () => verifyKafka([broker.address]).then(() => true), 60_000, 200);
    await useKafka(broker.address);
  } finally {
    await handle.stop();
  }
}

/** Creates a topic, writes to it in a transaction, and reads it in a consumer group. */
async function useKafka(address: string): Promise<void> {
  const kafka = await kafkaClient([address]);
  const topic = 'training';
  const groupId = 'training';
  const admin = kafka.admin();
  const producer = kafka.producer({ idempotent: true, transactionalId: 'training', maxInFlightRequests: 1 });
  const consumer = kafka.consumer({ groupId, maxWaitTimeInMs: 100 });
  try {
    await admin.connect();
    await admin.createTopics({ waitForLeaders: false, topics: [{ topic, numPartitions: 1 }] });
    await eventually('the topic is led', () =>
      admin
        .fetchTopicMetadata({ topics: [topic] })
        .then(({ topics }) => topics[0]?.partitions[0]?.leader === 1),
    );
    await producer.connect();
    const transaction = await producer.transaction();
    await transaction.send({
      topic,
      messages: [{ key: 'key', value: 'value', headers: { type: 'training' } }],
    });
    await transaction.sendOffsets({
      consumerGroupId: groupId,
      topics: [{ topic, partitions: [{ partition: 0, offset: '0' }] }],
    });
    await transaction.commit();
    await consumer.connect();
    await consumer.subscribe({ topic, fromBeginning: true });
    let read = 0;
    await consumer.run({
      eachMessage: () => {
        read += 1;
        return Promise.resolve();
      },
    });
    await eventually('the record is read', () => read > 0);
  } finally {
    await Promise.allSettled([admin, producer, consumer].map((client) => client.disconnect()));
  }
}
