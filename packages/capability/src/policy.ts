// A policy: events of other services, decided on together because grouping is what makes it fast, come to own events and
// commands to others.
import type {
  Capability,
  OpenCapability,
  PartitionScope,
  ReadTable,
  RecordTable,
  PartitionedCollection,
} from './capability.js';

export interface PolicyDeclaration<Event extends string, Opened extends OpenCapability> {
  readonly name: string;
  readonly reads: ReadTable;
  readonly events: RecordTable<Event>;
  readonly collections: readonly PartitionedCollection[];
  open(scope: PartitionScope): Opened & Required<Pick<OpenCapability, 'decide'>>;
}

/** Declares a policy. */
export function policy<const Event extends string, Opened extends OpenCapability>(
  declaration: PolicyDeclaration<Event, Opened>,
): Omit<Capability<never, Event>, 'open'> & Pick<PolicyDeclaration<Event, Opened>, 'open'> {
  return { kind: 'policy', commands: {} as RecordTable<never>, ...declaration };
}
