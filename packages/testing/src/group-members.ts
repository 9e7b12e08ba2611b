// The members of consumer groups, as Kafka lists them.
import { Kafka, logLevel } from 'kafkajs';
import type { TestSystem } from './test-system.js';

/** The members of a service's consumer group. */
export async function groupMembers(
  { endpoints, namespace }: Pick<TestSystem, 'endpoints' | 'namespace'>,
  service: string,
): Promise<string[]> {
  const admin = new Kafka({ brokers: endpoints.kafkaBrokers, logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  try {
    const { groups } = await admin.describeGroups([`${namespace}.${service}`]);
    return groups.flatMap(({ members }) => members.map(({ memberId }) => memberId)).sort();
  } finally {
    await admin.disconnect();
  }
}
