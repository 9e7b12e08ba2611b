// A policy decides on events of other services and on its own commands, a batch at a time, because grouping makes it fast. Its
// decisions are events of its own service and further commands.
import type {
  Capability,
  OpenCapability,
  PartitionScope,
  ReadTable,
  RecordTable,
  PartitionedCollection,
} from './capability.js';

/** Another capability never opens a policy, so the declaration has no type for an opened policy. */
export interface PolicyDeclaration<Command extends string, Event extends string> {
  readonly name: string;
  /** Commands whose decisions depend on more than one key, or are grouped; all others belong to an aggregate. */
  readonly commands?: RecordTable<Command>;
  readonly reads?: ReadTable;
  readonly events: RecordTable<Event>;
  readonly collections: readonly PartitionedCollection[];
  /** Collections that all partitions read and all editions share (`isLasting`). */
  readonly published?: readonly PartitionedCollection[];
  open(scope: PartitionScope): OpenCapability & Required<Pick<OpenCapability, 'decide'>>;
}

/** Declares a policy. */
export function policy<const Event extends string, const Command extends string = never>(
  declaration: PolicyDeclaration<Command, Event>,
): Capability<Command, Event> {
  return { kind: 'policy', commands: {} as RecordTable<Command>, reads: {}, ...declaration };
}
