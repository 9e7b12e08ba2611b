// An effect: work outside the log that events ask for. Once an event that asks for it is folded, the owner of the partition
// does the work; its outcome goes to the log as a command, on which the same effect decides.
import type { FoldedRecord, IncomingRecord } from '@lead-scoring/event-log';
import type { AggregateDeclaration, AggregateShape } from './aggregate.js';
import { aggregate } from './aggregate-capability.js';
import type { ChangedState } from './aggregate-storage.js';
import {
  whenFolded,
  type Capability,
  type CapabilityDecision,
  type OpenCapability,
  type PartitionedCollection,
  type PartitionScope,
  type RecordTable,
} from './capability.js';
import { OpenAggregate } from './open-aggregate.js';

/**
 * The work of one partition. An owner that goes leaves it as it is, and the next one takes it up: its outcome may come
 * twice, and the effect decides which one counts.
 * @typeParam Changes the result of a fold
 * @typeParam Signal a message from a decision to the work, besides the decision's events
 */
export interface EffectWork<Changes, Signal = never> {
  /** Takes up what earlier owners left, from an index of it. Called once, when all that the log has is folded. */
  takeUp(): Promise<void>;
  /**
   * Starts what the changes ask for, and drops what they no longer ask for. Called with each fold from `takeUp` on; returns
   * at once. What is under way already is not started again.
   */
  changed(changes: Changes): void;
  /**
   * Called with the signals of a batch after `changed`, once the batch is committed and folded; also when it came to no
   * event, which is how the work learns that a command changed nothing. Returns at once.
   */
  signalled?(signals: readonly Signal[]): void;
  /** Starts nothing more, and resolves when nothing is under way. Left out where the work goes on without the partition. */
  stop?(): Promise<void>;
}

export interface EffectDeclaration<Shape extends AggregateShape> extends AggregateDeclaration<Shape> {
  /** Opens the work of one partition. */
  work(scope: PartitionScope): EffectWork<readonly ChangedState<Shape['state'], Shape['event']>[]>;
}

/** Declares an effect whose commands each concern one thing. */
export function effect<Shape extends AggregateShape>(
  declaration: EffectDeclaration<Shape>,
): Capability<Shape['command']['type'], Shape['event']['type']> {
  return {
    ...aggregate(declaration),
    kind: 'effect',
    open: (scope) => new OpenEffect(new OpenAggregate(declaration, scope), declaration.work(scope)),
  };
}

/** Decides on the commands of an effect and folds its events, in one partition. */
export interface EffectDecider<Changes, Signal> extends Pick<
  OpenCapability,
  'write' | 'forget' | 'beforeReset' | 'close'
> {
  /** As `OpenCapability.decide`. The signals reach the work once the batch is committed and folded. */
  decide(
    records: readonly IncomingRecord[],
    batch: readonly IncomingRecord[],
  ): Promise<CapabilityDecision & { readonly signals?: readonly Signal[] }>;
  fold(events: readonly FoldedRecord[]): Promise<Changes>;
}

type WorkOf<Decider> =
  Decider extends EffectDecider<infer Changes, infer Signal> ? EffectWork<Changes, Signal> : never;

/** The types of one effect that decides on batches, in one place. */
export interface BatchEffectShape {
  /** Types of its commands. */
  command: string;
  /** Types of its events. */
  event: string;
  decider: EffectDecider<unknown, unknown>;
}

export interface BatchEffectDeclaration<Shape extends BatchEffectShape> {
  readonly name: string;
  readonly commands: RecordTable<Shape['command']>;
  readonly events: RecordTable<Shape['event']>;
  readonly collections: readonly PartitionedCollection[];
  readonly open: (scope: PartitionScope) => {
    readonly decider: Shape['decider'];
    readonly work: WorkOf<Shape['decider']>;
  };
}

/** An effect that decides on batches, as a capability that other capabilities may open. */
export type BatchEffect<Shape extends BatchEffectShape> = Omit<
  Capability<Shape['command'], Shape['event']>,
  'open'
> & { open(scope: PartitionScope): OpenCapability & { readonly decider: Shape['decider'] } };

/** Declares an effect whose commands may each concern several things, so that it decides on a batch at a time. */
export function batchEffect<Shape extends BatchEffectShape>({
  open,
  ...declaration
}: BatchEffectDeclaration<Shape>): BatchEffect<Shape> {
  return {
    ...declaration,
    kind: 'effect',
    reads: {},
    open: (scope) => {
      const { decider, work } = open(scope);
      return new OpenEffect(decider, work);
    },
  };
}

export class OpenEffect<Decider extends EffectDecider<unknown, unknown>> implements OpenCapability {
  #isWorking = false;

  constructor(
    readonly decider: Decider,
    private readonly work: EffectWork<unknown, unknown>,
  ) {}

  async decide(
    records: readonly IncomingRecord[],
    batch: readonly IncomingRecord[],
  ): Promise<CapabilityDecision> {
    const decision = await this.decider.decide(records, batch);
    const { signals = [] } = decision;
    if (decision.outcome !== 'decided' || signals.length === 0) return decision;
    return whenFolded(decision, () => {
      if (this.#isWorking) this.work.signalled?.(signals);
    });
  }

  async fold(events: readonly FoldedRecord[]): Promise<void> {
    const changes = await this.decider.fold(events);
    if (this.#isWorking) this.work.changed(changes);
  }

  async caughtUp(): Promise<void> {
    this.#isWorking = true;
    await this.work.takeUp();
  }

  async write(awaited: AbortSignal): Promise<void> {
    await this.decider.write?.(awaited);
  }

  forget(): void {
    this.decider.forget?.();
  }

  async beforeReset(touch: () => void): Promise<void> {
    await this.decider.beforeReset?.(touch);
  }

  async close(): Promise<void> {
    if (this.#isWorking) {
      this.#isWorking = false;
      await this.work.stop?.();
    }
    await this.decider.close?.();
  }
}
