// An effect: work outside the log that a state asks for. Once the event that asks for it is stored, the owner of the partition
// does it; what comes of it goes to the log as a command, on which the same aggregate decides.
import type { FoldedRecord } from '@lead-scoring/event-log';
import type { AggregateDeclaration, AggregateShape } from './aggregate.js';
import { aggregate, type Aggregate } from './aggregate-capability.js';
import type { ChangedState } from './aggregate-storage.js';
import type { PartitionScope } from './capability.js';
import { OpenAggregate } from './open-aggregate.js';

/**
 * The work of one partition. An owner that goes leaves it as it is, and the next one takes it up: what comes of it may come
 * twice, and the aggregate decides which of them counts.
 */
export interface EffectWork<State, Event> {
  /** Takes up what earlier owners left, from an index of it. Called once, when all that the log has is stored. */
  takeUp(): Promise<void>;
  /**
   * Starts what changed states ask for, and lets go of what they ask for no longer. Told of each change that is stored from
   * `takeUp` on; returns at once. What is under way already is not started again.
   */
  changed(states: readonly ChangedState<State, Event>[]): void;
  /** Starts nothing more, and resolves when nothing is under way. Left out where the work goes on without the partition. */
  stop?(): Promise<void>;
}

export interface EffectDeclaration<Shape extends AggregateShape> extends AggregateDeclaration<Shape> {
  /** Opens the work of one partition. */
  work(scope: PartitionScope): EffectWork<Shape['state'], Shape['event']>;
}

/** Declares an effect. */
export function effect<Shape extends AggregateShape>(
  declaration: EffectDeclaration<Shape>,
): Aggregate<Shape> {
  return {
    ...aggregate(declaration),
    kind: 'effect',
    open: (scope) => new OpenEffect(declaration, scope, declaration.work(scope)),
  };
}

class OpenEffect<Shape extends AggregateShape> extends OpenAggregate<Shape> {
  #isWorking = false;

  constructor(
    declaration: AggregateDeclaration<Shape>,
    scope: PartitionScope,
    private readonly work: EffectWork<Shape['state'], Shape['event']>,
  ) {
    super(declaration, scope);
  }

  async caughtUp(): Promise<void> {
    this.#isWorking = true;
    await this.work.takeUp();
  }

  override async fold(folded: readonly FoldedRecord[]): Promise<void> {
    const changed = await this.foldStates(folded);
    if (this.#isWorking) this.work.changed(changed);
  }

  async close(): Promise<void> {
    if (!this.#isWorking) return;
    this.#isWorking = false;
    await this.work.stop?.();
  }
}
