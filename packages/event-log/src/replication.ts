// How many brokers hold a copy of each record: what is wanted, and what is so.
import { topics } from '@lead-scoring/contracts';
import type { Admin } from 'kafkajs';
import type { Logger } from 'pino';
import type { EventLogConfig } from './config.js';
import { EventLogError } from './errors.js';
import { pause } from './timing.js';
import { wireTopic } from './topic-names.js';

/** What the setting is where nobody sets it: as many copies as there are brokers, up to three. */
export function defaultReplicationFactor(brokers: number): number {
  return Math.min(Math.max(brokers, 1), 3);
}

/**
 * Copies that must be in sync for a record to be acknowledged, by `min.insync.replicas`. All but one, so that a broker can
 * be away; with two copies that is one, as waiting for both would stop all writes whenever a broker restarts.
 */
export function neededInSync(replicationFactor: number): number {
  return Math.max(1, replicationFactor - 1);
}

/** What a lost disk costs, for the log of a service and for people at a terminal. */
export function replicationSentence({ brokers, copies }: { brokers: number; copies: number }): string {
  const cluster = brokers === 1 ? 'The cluster has one broker' : `The cluster has ${brokers} brokers`;
  if (copies <= 1)
    return `${cluster} and each record one copy: what is acknowledged is on one disk, and lost with it`;
  if (copies === 2)
    return `${cluster} and each record two copies, of which one is enough to acknowledge: what is written while a broker is away is on one disk`;
  return `${cluster} and each record ${copies} copies, of which ${neededInSync(copies)} are waited for`;
}

/** Kafka's own topics that the system stands on: lost offsets and transactions stop it as a lost topic does. */
const kafkasOwn = ['__consumer_offsets', '__transaction_state'];

export interface Replication {
  brokers: number;
  /** REPLICATION_FACTOR, or what follows from the number of brokers. */
  wanted: number;
  /** The fewest copies that a partition of the system's topics has; 0 before there are any. */
  copies: number;
  /** Topics that have fewer copies than wanted, by their names on the wire. */
  lacking: { topic: string; copies: number }[];
}

/** Asks the cluster. */
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

/** Says aloud, once at the start, what a lost disk costs; and names topics that have fewer copies than wanted. */
export function tellReplication({ brokers, wanted, copies, lacking }: Replication, logger: Logger): void {
  const sentence = replicationSentence({ brokers, copies });
  if (copies < 3) logger.warn({ brokers, copies }, sentence);
  else logger.info({ brokers, copies }, sentence);
  if (lacking.length > 0)
    logger.warn(
      { wanted, lacking },
      `${lacking.length} topics have fewer copies than the ${wanted} that are wanted; they are not changed: docs/runbooks/replication.md`,
    );
}

/** Brokers of a cluster that was just started come one by one: topics that are made before would have too few copies. */
const brokersPatienceMs = 20_000;

/**
 * The number of copies for topics that are about to be made.
 * @throws EventLogError where fewer brokers are up than the setting, or the list of them, asks for
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
