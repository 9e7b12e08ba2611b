// The number of copies of each record: the wanted and the actual one.
import { topics } from '@lead-scoring/contracts';
import type { Admin } from 'kafkajs';
import type { Logger } from 'pino';
import type { EventLogConfig } from './config.js';
import { EventLogError } from './errors.js';
import { pause } from './timing.js';
import { wireTopic } from './topic-names.js';

/** The default of REPLICATION_FACTOR: as many copies as there are brokers, up to three. */
export function defaultReplicationFactor(brokers: number): number {
  return Math.min(Math.max(brokers, 1), 3);
}

/**
 * The setting `min.insync.replicas`: copies that must be in sync to acknowledge a record. All but one, so that one
 * broker can be away; one with two copies, because requiring both would stop all writes whenever a broker restarts.
 */
export function neededInSync(replicationFactor: number): number {
  return Math.max(1, replicationFactor - 1);
}

/** Describes what the loss of a disk costs, for the service's log and for the command line. */
export function replicationSentence({ brokers, copies }: { brokers: number; copies: number }): string {
  const cluster = brokers === 1 ? 'The cluster has one broker' : `The cluster has ${brokers} brokers`;
  if (copies <= 1)
    return `${cluster} and each record one copy: an acknowledged record is on one disk, and lost with it`;
  if (copies === 2)
    return `${cluster} and each record two copies, of which one is enough to acknowledge: a record written while a broker is away is on one disk`;
  return `${cluster} and each record ${copies} copies, of which ${neededInSync(copies)} must acknowledge`;
}

/** Kafka's internal topics that the system depends on: without their offsets and transactions it stops. */
const kafkasOwn = ['__consumer_offsets', '__transaction_state'];

export interface Replication {
  brokers: number;
  /** REPLICATION_FACTOR, or its default for the number of brokers. */
  wanted: number;
  /** The minimum number of copies of a partition of the system's topics; 0 before the topics exist. */
  copies: number;
  /** The wire names of topics with fewer copies than wanted. */
  lacking: { topic: string; copies: number }[];
}

/** Reads the replication from the cluster. */
export async function readReplication(
  admin: Admin,
  config: Pick<EventLogConfig, 'namespace' | 'replicationFactor'>,
): Promise<Replication> {
  const brokers = (await admin.describeCluster()).brokers.length;
  const wanted = config.replicationFactor ?? defaultReplicationFactor(brokers);
  const there = new Set(await admin.listTopics());
  const own = topics.map(({ name }) => wireTopic(config.namespace, name)).filter((name) => there.has(name));
  const internal = kafkasOwn.filter((name) => there.has(name));
  if (own.length === 0) return { brokers, wanted, copies: 0, lacking: [] };
  const { topics: found } = await admin.fetchTopicMetadata({ topics: [...own, ...internal] });
  const copiesOf = found.map(({ name, partitions }) => ({
    topic: name,
    copies: Math.min(...partitions.map(({ replicas }) => replicas.length)),
  }));
  return {
    brokers,
    wanted,
    copies: Math.min(...copiesOf.filter(({ topic }) => own.includes(topic)).map(({ copies }) => copies)),
    lacking: copiesOf.filter(({ copies }) => copies < wanted),
  };
}

/** Logs once at the start what the loss of a disk costs, and which topics have fewer copies than wanted. */
export function logReplication({ brokers, wanted, copies, lacking }: Replication, logger: Logger): void {
  const sentence = replicationSentence({ brokers, copies });
  if (copies < 3) logger.warn({ brokers, copies }, sentence);
  else logger.info({ brokers, copies }, sentence);
  if (lacking.length > 0)
    logger.warn(
      { wanted, lacking },
      `${lacking.length} topics have fewer copies than the ${wanted} that are wanted; they are not changed: docs/runbooks/replication.md`,
    );
}

/**
 * The brokers of a cluster that was just started register one by one: topics made too early would have too few copies.
 */
const brokersPatienceMs = 20_000;

/**
 * The replication factor for new topics.
 * @throws EventLogError when fewer brokers are up than the setting, or the list of brokers, requires
 */
export async function factorForNewTopics(
  admin: Admin,
  { brokers: listed, replicationFactor }: Pick<EventLogConfig, 'brokers' | 'replicationFactor'>,
  patienceMs = brokersPatienceMs,
): Promise<number> {
  const wanted = replicationFactor ?? defaultReplicationFactor(new Set(listed).size);
  const giveUpAt = Date.now() + patienceMs;
  for (;;) {
    const up = (await admin.describeCluster()).brokers.length;
    if (up >= wanted) return replicationFactor ?? defaultReplicationFactor(up);
    if (Date.now() > giveUpAt)
      throw new EventLogError('too_few_brokers', tooFewBrokers(up, wanted, replicationFactor !== undefined), {
        retriable: true,
      });
    await pause(500);
  }
}

function tooFewBrokers(up: number, wanted: number, isSet: boolean): string {
  const why = isSet
    ? `REPLICATION_FACTOR is ${wanted}`
    : `KAFKA_BROKERS names ${wanted} brokers or more, so each topic is to have ${wanted} copies`;
  return `${why}, and the cluster has ${up} broker${up === 1 ? '' : 's'}: start the others, or set REPLICATION_FACTOR=${up} if these are all`;
}
