// An aggregate as a capability: what its declaration says to the runtime.
import type { AggregateDeclaration, AggregateShape } from './aggregate.js';
import type { Capability, PartitionScope } from './capability.js';
import { OpenAggregate } from './open-aggregate.js';

export type Aggregate<Shape extends AggregateShape> = Omit<
  Capability<Shape['command']['type'], Shape['event']['type']>,
  'open'
> & { open(scope: PartitionScope): OpenAggregate<Shape> };

/** Declares an aggregate. */
export function aggregate<Shape extends AggregateShape>(
  declaration: AggregateDeclaration<Shape>,
): Aggregate<Shape> {
  const { name, commands, events, stored } = declaration;
  return {
    name,
    kind: 'aggregate',
    commands: commands as Aggregate<Shape>['commands'],
    reads: {},
    events: events as Aggregate<Shape>['events'],
    collections: stored.collections,
    ...(stored.published && { published: stored.published }),
    open: (scope) => new OpenAggregate(declaration, scope),
  };
}
