// The partitions that the consumer group assigns to this process, with one loop for each.
import type { TopicName } from '@lead-scoring/contracts';
import type { EventLog } from './event-log.js';
import { joinGroup, type Membership } from './kafka/membership.js';
import type { ProcessingMetrics } from './metrics.js';
import { once } from './once.js';
import { startPartitionLoop, type PartitionLoop, type PartitionLoopOptions } from './partition-loop.js';
import { PartitionLoops } from './partition-loops.js';
import type { ProcessCycle } from './process-cycle.js';
import type { ProcessorStatus } from './processor-options.js';
import type { PartitionStatus, Session } from './session.js';

export interface PartitionGroupOptions<Of extends Session> {
  log: EventLog;
  groupId: string;
  topics: readonly TopicName[];
  metrics: ProcessingMetrics;
  cycle: ProcessCycle<Of>;
  /** How the service classifies its errors. */
  service: {
    isRetriable?(error: unknown): boolean;
    isSilence?(error: unknown): boolean;
    onFatal(error: Error): void;
  };
  /** Called for each assigned partition; returns the function that opens its sessions. */
  opener(partition: number): PartitionLoopOptions<Of>['open'];
  onAssigned?(partitions: readonly number[]): void;
}

export class PartitionGroup<Of extends Session> implements ProcessorStatus {
  readonly #loops = new PartitionLoops((partition) => this.#startLoop(partition));
  readonly #onFatal: (error: Error) => void;
  #assigned: ReadonlySet<number> = new Set();
  #membership: Membership | undefined;

  constructor(private readonly options: PartitionGroupOptions<Of>) {
    this.#onFatal = once((error: Error) => options.service.onFatal(error));
  }

  async join(): Promise<void> {
    const { log, groupId, topics } = this.options;
    this.#membership = await joinGroup(log, {
      groupId,
      topics,
      onFatal: this.#onFatal,
      onAssigned: (partitions) => {
        this.options.onAssigned?.(partitions);
        this.#assigned = new Set(partitions);
        this.#loops.assign(partitions);
      },
    });
  }

  get membership(): Membership {
    if (!this.#membership) throw new Error('the group is not joined yet');
    return this.#membership;
  }

  isAssigned(partition: number): boolean {
    return this.#assigned.has(partition);
  }

  partitions(): ({ partition: number } & PartitionStatus)[] {
    return this.#loops.all().map((loop) => ({ partition: loop.partition, ...loop.state() }));
  }

  ready(): boolean {
    return this.membership.joined() && this.partitions().every(({ state }) => state === 'running');
  }

  /** Ends all sessions; `membership.stop` leaves the group, after the last offsets are committed. */
  stopLoops(): Promise<void> {
    return this.#loops.stop();
  }

  #startLoop(partition: number): PartitionLoop {
    const { log, metrics, cycle, service } = this.options;
    return startPartitionLoop<Of>({
      log,
      partition,
      metrics,
      membership: () => this.membership,
      isMine: () => this.isAssigned(partition),
      open: this.options.opener(partition),
      feed: (member, signal) => cycle.run(member, signal),
      moved: () => cycle.moved(partition),
      isRetriable: (error) => service.isRetriable?.(error) ?? false,
      isSilence: (error) => service.isSilence?.(error) ?? false,
      onFatal: this.#onFatal,
    });
  }
}
