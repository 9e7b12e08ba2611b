// What a capability is, whatever its kind: the records that it takes, the events that it writes and folds, the collections that
// it stores, and how it is opened for one partition. The runtime (`partition.ts`) knows nothing else of it.
import type { DeclaredOn, RecordDeclaration, ServiceName, TopicName } from '@lead-scoring/contracts';
import type {
  Checkpoint,
  Decision,
  FoldedRecord,
  IncomingRecord,
  Touch,
  TypeUse,
} from '@lead-scoring/event-log';
import type { CollectionDeclaration, Document, ReadModel } from '@lead-scoring/read-model';

/** The closed set of kinds; docs/adding-a-capability.md says which one to choose. */
export type CapabilityKind = 'aggregate' | 'policy' | 'projection' | 'job' | 'tick' | 'effect';

/** Record declarations by their type. */
export type RecordTable<Type extends string = string> = {
  readonly [One in Type]: RecordDeclaration<One>;
};

/**
 * Events of other services that are decided on: for each topic every type that is declared for it. An `ignored` type is known,
 * and passed over.
 */
export type ReadTable = {
  readonly [Topic in `${ServiceName}.events`]?: {
    readonly [Type in DeclaredOn<Topic>['type']]: TypeUse;
  };
};

/** Any collection whose documents say which partition wrote them. */
export type PartitionedCollection = CollectionDeclaration<Document & { partition: number }>;

/**
 * One capability of a service.
 * @typeParam Command types of the commands that it takes
 * @typeParam Event types of the service's events that it writes or folds
 */
export interface Capability<Command extends string = string, Event extends string = string> {
  /** Durable: named in metrics and logs, and never renamed. */
  readonly name: string;
  readonly kind: CapabilityKind;
  readonly commands: RecordTable<Command>;
  readonly reads: ReadTable;
  readonly events: RecordTable<Event>;
  /** Each edition has its own, which a rebuild fills; a reset drops the documents of a partition in this order. */
  readonly collections: readonly PartitionedCollection[];
  /** Collections that all partitions read and all editions share (`isLasting`). */
  readonly published?: readonly PartitionedCollection[];
  open(scope: PartitionScope): OpenCapability;
}

/** What a capability is opened with. */
export interface PartitionScope {
  readonly partition: number;
  /** Writes through it are refused once the partition belongs to another process. */
  readonly readModel: ReadModel;
  /** The number of events of other services that the partition has decided on since it was opened. */
  eventsDecided(): number;
  /** What another capability of the service was opened as, in this partition. The order of the list does not matter. */
  opened<Opened extends OpenCapability>(capability: { open(scope: PartitionScope): Opened }): Opened;
}

/** The decision on some records of a batch; `split`: the batch has to be decided in smaller parts. */
export type CapabilityDecision =
  ({ readonly outcome: 'decided' } & Decision) | { readonly outcome: 'split'; readonly reason: string };

/**
 * The decision, and something to do once its batch is committed and folded, before the replies are sent. It is not done for a
 * decision that is discarded.
 */
export function whenFolded(
  decision: Extract<CapabilityDecision, { outcome: 'decided' }>,
  then: () => void,
): CapabilityDecision {
  const { replies = [] } = decision;
  return {
    ...decision,
    // The event log asks for the replies of a committed batch when it is folded, and never for those of a discarded decision.
    replies: async () => {
      then();
      return typeof replies === 'function' ? replies() : replies;
    },
  };
}

/** A capability in one partition: its only writer. The runtime calls one method at a time, `write` aside. */
export interface OpenCapability {
  /**
   * Called before any other method, with the place in the log up to which the stored state reflects it; again where a copy begins
   * anew.
   */
  resume?(checkpoint: Checkpoint): void;
  /**
   * Decides on records that the capability takes, in their order; the capabilities of a batch decide in the order of the
   * service's list. Writes nothing.
   * @param batch all records of the batch, for whichever capability: names the batch to others that decide on it
   */
  decide?(records: readonly IncomingRecord[], batch: readonly IncomingRecord[]): Promise<CapabilityDecision>;
  /**
   * Folds the capability's events, in their order; the capabilities of a batch fold in the order of the service's list. Resolves
   * when the documents that replies refer to are written.
   */
  fold?(events: readonly FoldedRecord[]): Promise<unknown>;
  /** Called when an operator has set new positions of the inputs: earlier offsets belong to another log. */
  positionsAccepted?(positions: ReadonlyMap<TopicName, number>): Promise<void>;
  /** Writes what is folded as of this call and not written yet; the next batches are decided meanwhile. */
  write?(awaited: AbortSignal): Promise<void>;
  /** Offset of the first folded event that the documents of a rarely writing capability may lack after `write`; null: they lack none. */
  unwrittenFrom?(): bigint | null;
  /** Called once, when all that the log has is folded and before anything is decided: takes up what an earlier owner left. */
  caughtUp?(): Promise<void>;
  /** Drops all state in memory, which may be ahead of the stored documents. */
  forget?(): void;
  /** Called before the checkpoint and the collections of the partition are dropped. */
  beforeReset?(touch: Touch): Promise<void>;
  close?(): Promise<void>;
}
