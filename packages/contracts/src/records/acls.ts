// Rights (ACLs) in Kafka: services may use the topics that they read and write, downstream consumers the public topics
// and nothing else. The values are those of kafka-acls.sh and the brokers' authorizer. docs/runbooks/access.md
import { projectorNames, readersOf, serviceNames, type ServiceName, type TopicName } from './record.js';
import { topics } from './topics.js';

export interface AclBinding {
  /** `User:…`, the brokers' name for an authenticated user. */
  principal: string;
  resource: 'topic' | 'group' | 'transactional-id';
  name: string;
  /** `prefixed`: all resources whose names begin with `name`. */
  pattern: 'literal' | 'prefixed';
  operation: 'Read' | 'Write' | 'Create' | 'Describe' | 'DescribeConfigs';
}

type Rights = Omit<AclBinding, 'principal'>;

/** Topics that a service reads and writes besides its own commands, events and dead letters and the topic `replies`. */
const furtherTopics: Readonly<
  Record<ServiceName, { reads: readonly TopicName[]; writes: readonly TopicName[] }>
> = {
  gateway: { reads: ['replies'], writes: serviceNames.map((name): TopicName => `${name}.commands`) },
  ingest: { reads: ['scoring.events', 'notification.events'], writes: [] },
  scoring: { reads: ['ingest.events', 'notification.events'], writes: [] },
  notification: { reads: ['ingest.events', 'scoring.events'], writes: ['share.commands'] },
  share: { reads: ['scoring.events'], writes: [] },
  'site-analysis': { reads: [], writes: [] },
};

export function serviceAcls(namespace: string, service: ServiceName, user: string): AclBinding[] {
  const own: TopicName[] = [`${service}.commands`, `${service}.events`];
  const { reads, writes } = furtherTopics[service];
  const read = new Set([...own, ...reads]);
  const written = new Set<TopicName>([...own, `${service}.dead-letters`, 'replies', ...writes]);
  return bindingsFor(user, [
    // At its start, each service creates missing topics of the system and checks the settings of all.
    ...(['Create', 'Describe', 'DescribeConfigs'] as const).map((operation) =>
      right('topic', `${namespace}.`, operation, 'prefixed'),
    ),
    ...[...read].map((topic) => right('topic', `${namespace}.${topic}`, 'Read')),
    ...[...written].map((topic) => right('topic', `${namespace}.${topic}`, 'Write')),
    ...readersOf(service).map((reader) => right('group', `${namespace}.${reader}`, 'Read')),
    // A source of the gateway waits while ingest is behind, and its own group is on this cluster where its topic is.
    ...(service === 'gateway'
      ? [
          right('group', `${namespace}.ingest`, 'Describe'),
          right('group', `${namespace}.source.`, 'Read', 'prefixed'),
        ]
      : []),
    right('transactional-id', `${namespace}.${service}.`, 'Write', 'prefixed'),
  ]);
}

/** @param groupPrefix prefix of the consumer's group names; must not match groups of the system */
export function consumerAcls(namespace: string, user: string, groupPrefix: string): AclBinding[] {
  if (isOfSystem(namespace, groupPrefix))
    throw new RangeError(`groups that begin with ${groupPrefix} would take in the system's own`);
  return bindingsFor(user, [
    ...publicTopics(namespace).map((topic) => right('topic', topic, 'Read')),
    right('group', groupPrefix, 'Read', 'prefixed'),
  ]);
}

/**
 * Rights of the command line: it reads every topic, writes commands, marks dead letters, and reads and moves groups.
 */
export function operatorAcls(namespace: string, user: string): AclBinding[] {
  return bindingsFor(user, [
    ...(['Read', 'Write', 'DescribeConfigs'] as const).map((operation) =>
      right('topic', `${namespace}.`, operation, 'prefixed'),
    ),
    right('group', `${namespace}.`, 'Read', 'prefixed'),
    right('transactional-id', `${namespace}.`, 'Write', 'prefixed'),
  ]);
}

/** Names of the public topics on the brokers, with the namespace. */
export function publicTopics(namespace: string): string[] {
  return topics.filter(({ audience }) => audience === 'public').map(({ name }) => `${namespace}.${name}`);
}

/** Whether the prefix could match a group of the system. */
function isOfSystem(namespace: string, groupPrefix: string): boolean {
  const own = [...serviceNames, ...Object.values(projectorNames).flat()];
  return (
    groupPrefix.startsWith(`${namespace}.`) ||
    own.some((name) => `${namespace}.${name}`.startsWith(groupPrefix))
  );
}

function bindingsFor(user: string, rights: readonly Rights[]): AclBinding[] {
  return rights.map((one) => ({ principal: `User:${user}`, ...one }));
}

function right(
  resource: AclBinding['resource'],
  name: string,
  operation: AclBinding['operation'],
  pattern: AclBinding['pattern'] = 'literal',
): Rights {
  return { resource, name, pattern, operation };
}
