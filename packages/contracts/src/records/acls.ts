// Who needs which rights in Kafka: services what they read and write, downstream consumers the public topics and nothing
// else. As kafka-acls.sh and the brokers' authorizer know them. docs/runbooks/access.md
import { projectorNames, readersOf, serviceNames, type ServiceName, type TopicName } from './record.js';
import { topics } from './topics.js';

export interface AclBinding {
  /** `User:…`, as the brokers name who was let in. */
  principal: string;
  resource: 'topic' | 'group' | 'transactional-id';
  name: string;
  /** `prefixed`: all whose names begin so. */
  pattern: 'literal' | 'prefixed';
  operation: 'Read' | 'Write' | 'Create' | 'Describe' | 'DescribeConfigs';
}

type Rights = Omit<AclBinding, 'principal'>;

/** What a service reads and writes beside its own commands, events and dead letters, and the replies that it writes. */
const beyondOwn: Readonly<
  Record<ServiceName, { reads: readonly TopicName[]; writes: readonly TopicName[] }>
> = {
  gateway: { reads: ['replies'], writes: serviceNames.map((name): TopicName => `${name}.commands`) },
  ingest: { reads: [], writes: [] },
  scoring: { reads: ['ingest.events'], writes: [] },
  notification: { reads: ['ingest.events', 'scoring.events'], writes: ['share.commands'] },
  share: { reads: ['scoring.events'], writes: [] },
  'site-analysis': { reads: [], writes: [] },
};

export function serviceAcls(namespace: string, service: ServiceName, user: string): AclBinding[] {
  const own: TopicName[] = [`${service}.commands`, `${service}.events`];
  const { reads, writes } = beyondOwn[service];
  const read = new Set([...own, ...reads]);
  const written = new Set<TopicName>([...own, `${service}.dead-letters`, 'replies', ...writes]);
  return of(user, [
    // Each service makes what is missing of the system's topics at its start, and checks how they are set up.
    ...(['Create', 'Describe', 'DescribeConfigs'] as const).map((operation) =>
      right('topic', `${namespace}.`, operation, 'prefixed'),
    ),
    ...[...read].map((topic) => right('topic', `${namespace}.${topic}`, 'Read')),
    ...[...written].map((topic) => right('topic', `${namespace}.${topic}`, 'Write')),
    ...readersOf(service).map((reader) => right('group', `${namespace}.${reader}`, 'Read')),
    right('transactional-id', `${namespace}.${service}.`, 'Write', 'prefixed'),
  ]);
}

/**
 * @param groupPrefix how the names of the consumer's groups begin; not like the system's own
 */
export function consumerAcls(namespace: string, user: string, groupPrefix: string): AclBinding[] {
  if (isOfSystem(namespace, groupPrefix))
    throw new RangeError(`groups that begin with ${groupPrefix} would take in the system's own`);
  return of(user, [
    ...publicTopics(namespace).map((topic) => right('topic', topic, 'Read')),
    right('group', groupPrefix, 'Read', 'prefixed'),
  ]);
}

/** For the command line: it reads every topic, writes commands and marks dead letters, and looks at and moves groups. */
export function operatorAcls(namespace: string, user: string): AclBinding[] {
  return of(user, [
    ...(['Read', 'Write', 'DescribeConfigs'] as const).map((operation) =>
      right('topic', `${namespace}.`, operation, 'prefixed'),
    ),
    right('group', `${namespace}.`, 'Read', 'prefixed'),
    right('transactional-id', `${namespace}.`, 'Write', 'prefixed'),
  ]);
}

/** Names on the wire of the topics that are declared for downstream consumers. */
export function publicTopics(namespace: string): string[] {
  return topics.filter(({ audience }) => audience === 'public').map(({ name }) => `${namespace}.${name}`);
}

/** Whether a group of the system begins so, or could. */
function isOfSystem(namespace: string, groupPrefix: string): boolean {
  const own = [...serviceNames, ...Object.values(projectorNames).flat()];
  return (
    groupPrefix.startsWith(`${namespace}.`) ||
    own.some((name) => `${namespace}.${name}`.startsWith(groupPrefix))
  );
}

function of(user: string, rights: readonly Rights[]): AclBinding[] {
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
