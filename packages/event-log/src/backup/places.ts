// Partitions that a backup or a restoration works on, a few at a time.
import type { TopicName } from '@lead-scoring/contracts';
import { internals, type EventLog } from '../event-log.js';
import type { KafkaConnection } from '../kafka/kafka-connection.js';

export interface Place {
  topic: TopicName;
  partition: number;
}

const parallel = 4;

/** Does the work for each place in turn, a few at the same time, each with a connection of its own. */
export async function forEachPlace<Found extends Place>(
  log: EventLog,
  places: readonly Found[],
  work: (connection: KafkaConnection, place: Found) => Promise<void>,
): Promise<void> {
  const { connect, wire } = log[internals];
  const topics = [...new Set(places.map(({ topic }) => wire(topic)))];
  const waiting = [...places];
  let failed = false;
  await Promise.all(
    Array.from({ length: Math.min(parallel, places.length) }, async () => {
      const connection = connect();
      try {
        await connection.open(topics);
        for (let next = waiting.shift(); next && !failed; next = waiting.shift())
          await work(connection, next);
      } catch (error) {
        failed = true;
        throw error;
      } finally {
        connection.close();
      }
    }),
  );
}
