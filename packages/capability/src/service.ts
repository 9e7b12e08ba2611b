// A service as the list of its capabilities. That they name every command of its topic and every event that it writes is checked
// when it is compiled; that no command has two takers, when it is started.
import { readersOf, type DeclaredOn, type ServiceName, type TopicName } from '@lead-scoring/contracts';
import type { InputTable, ProcessorOptions, TypeUse } from '@lead-scoring/event-log';
import type { Capability, PartitionedCollection } from './capability.js';
import type { FollowingProjection } from './following-projection.js';

export interface ServiceCapabilities {
  readonly name: ServiceName;
  /** What the service's processor runs. */
  readonly capabilities: readonly Capability[];
  /** Projections of other services' events, each of which a projector of its own runs. */
  readonly followers: readonly FollowingProjection[];
  /** What the service's processor reads. */
  readonly inputs: InputTable;
  /** All that the service stores. */
  readonly collections: readonly PartitionedCollection[];
  readonly batching: Batching;
  readonly storesEventsEnd: boolean;
  readonly version: number;
}

export interface ServiceOptions extends Batching {
  /**
   * The version of the data that the service stores. Raise it when a fold or the form of a document changes, or when a capability
   * that stores comes or goes: a process of the new version then fills a new edition by itself. Default 1.
   */
  readonly version?: number;
  /**
   * Whether checkpoints also have the offset behind the last folded event. Another service that has read the events up to there has
   * seen everything that this service's read models show. Default false.
   */
  readonly storesEventsEnd?: boolean;
}

/** How much is decided at a time; what is left out is as `ProcessorOptions` says. */
export type Batching = Pick<
  ProcessorOptions,
  | 'maxRecordsPerBatch'
  | 'maxBytesPerBatch'
  | 'decidesTogether'
  | 'patienceMs'
  | 'storeEveryMs'
  | 'transactionTimeoutMs'
>;

/** What a service lists: capabilities that its processor runs, and projections that follow other services. */
type Listed = Capability | FollowingProjection;

type KeysOfEach<Table> = Table extends unknown ? keyof Table & string : never;

/** The declared commands and events of a service that none of its capabilities names. */
type Unnamed<Name extends ServiceName, One extends Pick<Listed, 'commands' | 'events'>> =
  | Exclude<DeclaredOn<`${Name}.commands`>['type'], KeysOfEach<One['commands']>>
  | Exclude<DeclaredOn<`${Name}.events`>['type'], KeysOfEach<One['events']>>;

type Complete<Name extends ServiceName, One extends Pick<Listed, 'commands' | 'events'>> = [
  Unnamed<Name, One>,
] extends [never]
  ? unknown
  : { readonly 'no capability names': Unnamed<Name, One> };

/**
 * The capabilities of a service, and what follows from them.
 * @throws Error where two capabilities take one command, a record is not declared for the service's topics, a projection that
 *   follows others has no declared consumer group, or it is not clear what a rebuild fills
 */
export function capabilitiesOf<const Name extends ServiceName, One extends Listed>(
  name: Name,
  listed: readonly One[] & Complete<Name, One>,
  { storesEventsEnd = false, version = 1, ...batching }: ServiceOptions = {},
): ServiceCapabilities {
  const capabilities: Capability[] = [];
  const followers: FollowingProjection[] = [];
  for (const one of listed as readonly Listed[])
    if ('follow' in one) followers.push(one);
    else capabilities.push(one);
  assertCommandsOnce(name, capabilities);
  assertConsumerGroups(name, followers);
  for (const one of [...capabilities, ...followers]) assertLasting(one);
  return {
    name,
    capabilities,
    followers,
    inputs: inputsOf(name, capabilities),
    collections: [...capabilities, ...followers].flatMap(collectionsOf),
    batching,
    storesEventsEnd,
    version,
  };
}

function collectionsOf(one: Listed): readonly PartitionedCollection[] {
  return 'published' in one ? [...one.collections, ...(one.published ?? [])] : one.collections;
}

function assertCommandsOnce(name: ServiceName, capabilities: readonly Capability[]): void {
  const commands = new Map<string, string>();
  for (const one of capabilities) {
    for (const type of Object.keys(one.commands)) {
      const other = commands.get(type);
      if (other !== undefined) throw new Error(`${other} and ${one.name} both take ${type}`);
      commands.set(type, one.name);
    }
    assertDeclaredOn(`${name}.commands`, one.name, one.commands);
    assertDeclaredOn(`${name}.events`, one.name, one.events);
  }
}

/** Rights in Kafka and the operators' tools know the consumer groups that are declared. */
function assertConsumerGroups(service: ServiceName, followers: readonly FollowingProjection[]): void {
  for (const { name } of followers)
    if (!readersOf(service).includes(name))
      throw new Error(`${name} is not declared as a projector of ${service}`);
}

/** What all partitions read stays in force during a rebuild; all else is filled anew beside it. */
function assertLasting({
  name,
  collections,
  published = [],
}: Pick<Capability, 'name' | 'collections' | 'published'>): void {
  for (const collection of collections)
    if (collection.isLasting) throw new Error(`${name}: a rebuild would not fill ${collection.name}`);
  for (const collection of published)
    if (!collection.isLasting) throw new Error(`${name} publishes ${collection.name}, which is not lasting`);
}

function assertDeclaredOn(topic: TopicName, name: string, table: Capability['events']): void {
  for (const [type, declaration] of Object.entries(table))
    if (declaration.topic !== topic || declaration.type !== type)
      throw new Error(`${name} names ${type}, which is not a record of ${topic}`);
}

function inputsOf(name: ServiceName, capabilities: readonly Capability[]): InputTable {
  const inputs: Partial<Record<TopicName, Record<string, TypeUse>>> = {};
  for (const { commands, reads } of capabilities) {
    for (const type of Object.keys(commands)) (inputs[`${name}.commands`] ??= {})[type] = 'taken';
    for (const [topic, types] of Object.entries(reads))
      for (const [type, use] of Object.entries(types)) {
        const known = (inputs[topic as TopicName] ??= {});
        if (known[type] !== 'taken') known[type] = use;
      }
  }
  return inputs as InputTable;
}
