// Creates the declared topics, and refuses to run with topics that would lose or misplace records.
import { topics, type TopicDeclaration } from '@lead-scoring/contracts';
import kafkajs, { type Admin, type ITopicConfig, type ITopicMetadata, type Kafka } from 'kafkajs';
import type { Logger } from 'pino';
import { unavailable } from './kafka/access-errors.js';
import { EventLogError, EventLogUnavailable } from './errors.js';
import type { EventLogConfig } from './config.js';
import { assertUnlocked } from './erasure/lock.js';
import { checkGroupRetention } from './kafka/group-retention.js';
import { protocolErrorType } from './kafka/kafka-errors.js';
import { whenKnown } from './kafka/when-known.js';
import { factorForNewTopics, neededInSync, readReplication, logReplication } from './replication.js';
import { wireTopic } from './topic-names.js';

/** Maximum size of a record batch in bytes: records up to 4 MiB, and room for the dead letters of larger ones. */
const maxBatchBytes = 8 * 1024 * 1024;
const maxDeadLetterBatchBytes = 16 * 1024 * 1024;

/**
 * The longest time in which records are added to one file. Retention deletes whole files, each once its newest record is old enough, so a
 * record is kept for up to this time longer than its retention. Kafka's default of a week would double that of commands.
 */
const longestFileMs = 24 * 3_600_000;

/** The settings of a topic. */
export function topicSettings(topic: TopicDeclaration, replicationFactor: number): Record<string, string> {
  return {
    'cleanup.policy': 'delete',
    'retention.ms': String(topic.retentionMs),
    'retention.bytes': '-1',
    ...(topic.retentionMs > 0 && { 'segment.ms': String(Math.min(topic.retentionMs, longestFileMs)) }),
    'min.insync.replicas': String(neededInSync(replicationFactor)),
    'unclean.leader.election.enable': 'false',
    'max.message.bytes': String(
      topic.name.endsWith('.dead-letters') ? maxDeadLetterBatchBytes : maxBatchBytes,
    ),
  };
}

/** Creates the missing topics, then checks all. Several processes may run it concurrently. */
export async function ensureTopics(kafka: Kafka, config: EventLogConfig, logger: Logger): Promise<void> {
  // Short pauses: the broker may be starting.
  const admin = kafka.admin({ retry: { retries: 8, maxRetryTime: 200 } });
  try {
    await admin.connect();
    await createMissing(admin, config);
    await check(admin, config, logger);
    await checkGroupRetention(admin, logger).catch((error: unknown) => {
      // Reading the brokers' settings needs a right that a tenant of a shared cluster may not have.
      logger.info({ err: error }, `the brokers' retention of consumer groups cannot be read`);
    });
  } catch (error) {
    if (error instanceof EventLogError) throw error;
    throw unavailable('the topics could not be created or checked', error, config);
  } finally {
    admin.disconnect().catch(() => undefined);
  }
}

async function createMissing(admin: Admin, config: EventLogConfig): Promise<void> {
  const there = new Set(await admin.listTopics());
  assertUnlocked(there, config.namespace);
  await createDeclared(admin, config, there);
}

/**
 * Creates the declared topics that are not there.
 * @param there the names of all topics
 */
export async function createDeclared(
  admin: Admin,
  config: EventLogConfig,
  there: ReadonlySet<string>,
): Promise<void> {
  const declared = topics.filter((topic) => !there.has(wireTopic(config.namespace, topic.name)));
  if (declared.length === 0) return;
  const replicationFactor = await factorForNewTopics(admin, config);
  const missing = declared.map((topic): ITopicConfig => ({
    topic: wireTopic(config.namespace, topic.name),
    numPartitions: config.partitions,
    replicationFactor,
    configEntries: Object.entries(topicSettings(topic, replicationFactor)).map(([name, value]) => ({
      name,
      value,
    })),
  }));
  try {
    await admin.createTopics({ topics: missing, waitForLeaders: false });
  } catch (error) {
    if (!alreadyExists(error)) throw error;
    // Another process has created some of them: create the others one by one.
    for (const topic of missing) {
      await admin.createTopics({ topics: [topic], waitForLeaders: false }).catch((again: unknown) => {
        if (!alreadyExists(again)) throw again;
      });
    }
  }
}

function alreadyExists(error: unknown): boolean {
  if (protocolErrorType(error) === 'TOPIC_ALREADY_EXISTS') return true;
  return (
    (error instanceof AggregateError ||
      (error instanceof Error && 'errors' in error && Array.isArray(error.errors))) &&
    (error.errors as unknown[]).every((one) => protocolErrorType(one) === 'TOPIC_ALREADY_EXISTS')
  );
}

async function check(admin: Admin, config: EventLogConfig, logger: Logger): Promise<void> {
  const { counts, replication, resources } = await whenKnown(() => readTopics(admin, config));
  for (const [name, partitions] of counts) {
    if (partitions !== config.partitions) {
      throw new EventLogError(
        'topic_mismatch',
        `topic ${name} has ${partitions} partitions and PARTITIONS is ${config.partitions}: set PARTITIONS=` +
          `${partitions}. The count cannot change while records are kept: keys would land in other partitions.`,
      );
    }
  }
  logReplication(replication, logger);
  for (const topic of topics) {
    const name = wireTopic(config.namespace, topic.name);
    const entries = resources.find(({ resourceName }) => resourceName === name)?.configEntries ?? [];
    const actual = new Map(entries.map(({ configName, configValue }) => [configName, configValue]));
    for (const [setting, wanted] of Object.entries(topicSettings(topic, replication.wanted))) {
      const is = actual.get(setting);
      if (is === undefined || is === wanted) continue;
      const losesEvents =
        topic.retentionMs === -1 && (setting.startsWith('retention.') || setting === 'cleanup.policy');
      if (losesEvents) {
        throw new EventLogError(
          'topic_mismatch',
          `topic ${name} has ${setting}=${is} and would lose events, which are the source of truth: set it to ${wanted}`,
        );
      }
      logger.warn({ topic: name, setting, is, wanted }, 'a setting of a topic differs from its declaration');
    }
  }
}

/** The current settings of the declared topics, as one broker reports them. */
async function readTopics(admin: Admin, config: EventLogConfig) {
  const names = topics.map((topic) => wireTopic(config.namespace, topic.name));
  const { topics: found } = await admin.fetchTopicMetadata({ topics: names });
  const isLed = ({ partitions }: ITopicMetadata) => partitions.every(({ leader }) => leader >= 0);
  if (found.length < names.length || !found.every(isLed))
    throw new EventLogUnavailable('some topics have no leader');
  const replication = await readReplication(admin, config);
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: topics.map((topic) => ({
      type: kafkajs.ConfigResourceTypes.TOPIC,
      name: wireTopic(config.namespace, topic.name),
      // A topic has dozens of settings besides these.
      configNames: Object.keys(topicSettings(topic, replication.wanted)),
    })),
  });
  const counts = found.map(({ name, partitions }) => [name, partitions.length] as const);
  return { counts, replication, resources };
}
