// A projection: the service's own events, folded into documents that queries read.
import type {
  Capability,
  OpenCapability,
  PartitionScope,
  PartitionedCollection,
  RecordTable,
} from './capability.js';

export interface ProjectionDeclaration<Event extends string, Opened extends OpenCapability> {
  readonly name: string;
  readonly events: RecordTable<Event>;
  readonly collections: readonly PartitionedCollection[];
  open(scope: PartitionScope): Opened & Required<Pick<OpenCapability, 'fold'>>;
}

/** Declares a projection. */
export function projection<const Event extends string, Opened extends OpenCapability>(
  declaration: ProjectionDeclaration<Event, Opened>,
): Omit<Capability<never, Event>, 'open'> & Pick<ProjectionDeclaration<Event, Opened>, 'open'> {
  return { kind: 'projection', commands: {}, reads: {}, ...declaration };
}
