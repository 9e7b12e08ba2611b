// The servers of the test run, and the removal of a test's data from them.
import type { PlatformEndpoints } from '@lead-scoring/platform';
import { Kafka, logLevel } from 'kafkajs';
import { MongoClient } from 'mongodb';

/** The servers of the test run, from the environment that `npm test` sets. */
export function endpointsFromEnvironment(environment: NodeJS.ProcessEnv = process.env): PlatformEndpoints {
  const { KAFKA_BROKERS, SCHEMA_REGISTRY_URL, MONGODB_URI } = environment;
  if (!KAFKA_BROKERS || !SCHEMA_REGISTRY_URL || !MONGODB_URI)
    throw new Error(
      'KAFKA_BROKERS, SCHEMA_REGISTRY_URL and MONGODB_URI must name running servers: run the tests with `npm test`.',
    );
  return {
    kafkaBrokers: KAFKA_BROKERS.split(','),
    schemaRegistryUrl: SCHEMA_REGISTRY_URL,
    mongodbUri: MONGODB_URI,
  };
}

/** Removes a namespace from shared servers: its topics, consumer groups, schemas and databases. */
export async function removeNamespace(endpoints: PlatformEndpoints, namespace: string): Promise<void> {
  await removeTopicsAndGroups(endpoints.kafkaBrokers, `${namespace}.`);
  await removeSubjects(endpoints.schemaRegistryUrl, `${namespace}.`);
  await removeDatabases(endpoints.mongodbUri, `${namespace}_`);
}

async function removeTopicsAndGroups(brokers: string[], prefix: string): Promise<void> {
  const admin = new Kafka({ brokers, logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  try {
    const topics = (await admin.listTopics()).filter((topic) => topic.startsWith(prefix));
    if (topics.length > 0) await admin.deleteTopics({ topics });
    const { groups } = await admin.listGroups();
    const own = groups.map(({ groupId }) => groupId).filter((id) => id.startsWith(prefix));
    // A group whose last member was killed is not empty yet; Kafka removes it later.
    if (own.length > 0) await admin.deleteGroups(own).catch(() => undefined);
  } finally {
    await admin.disconnect();
  }
}

/** Deletes a namespace's consumer groups and their offsets, as Kafka does once they have been empty for a week. */
export async function forgetGroups(
  { kafkaBrokers: brokers }: PlatformEndpoints,
  namespace: string,
): Promise<string[]> {
  const admin = new Kafka({ brokers, logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  try {
    const { groups } = await admin.listGroups();
    const own = groups.map(({ groupId }) => groupId).filter((id) => id.startsWith(`${namespace}.`));
    await admin.deleteGroups(own);
    return own;
  } finally {
    await admin.disconnect();
  }
}

/**
 * Deletes the subjects, so that they are not listed. Not `permanent`: the registry would then drop every schema that it considers
 * unused, also one that another system is registering at that time, whose subject could never be registered again.
 */
async function removeSubjects(registryUrl: string, prefix: string): Promise<void> {
  const subjects = `${registryUrl}/subjects`;
  const all = (await (await fetch(subjects)).json()) as string[];
  await Promise.all(
    all
      .filter((subject) => subject.startsWith(prefix))
      .map((subject) => fetch(`${subjects}/${encodeURIComponent(subject)}`, { method: 'DELETE' })),
  );
}

async function removeDatabases(mongodbUri: string, prefix: string): Promise<void> {
  const mongo = await MongoClient.connect(mongodbUri);
  try {
    const { databases } = await mongo.db('admin').admin().listDatabases({ nameOnly: true });
    for (const { name } of databases) if (name.startsWith(prefix)) await mongo.db(name).dropDatabase();
  } finally {
    await mongo.close();
  }
}
