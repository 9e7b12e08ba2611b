// A service's state of one partition during a session: opened, folded into, reset and opened again.
import { timed } from '../metrics.js';
import type { Checkpoint, PartitionState } from '../processor-options.js';
import type { FoldedRecord } from '../records.js';
import type { PartitionContext } from './partition-context.js';

type Opener = Pick<PartitionContext, 'options' | 'partition' | 'touch' | 'lease' | 'metrics'>;

export class LiveState {
  private constructor(
    private readonly opener: Opener,
    /** The open state; a reset replaces it. */
    public current: PartitionState,
  ) {}

  static async open(opener: Opener): Promise<LiveState> {
    return new LiveState(opener, await openState(opener));
  }

  async fold(events: FoldedRecord[]): Promise<void> {
    if (events.length > 0) await timed(this.opener.metrics, 'fold', () => this.current.fold(events));
  }

  /** Drops the partition's documents. @returns the checkpoint from which the output is folded again */
  async reset(): Promise<Checkpoint> {
    await this.current.reset(this.opener.touch);
    await this.close();
    this.current = await openState(this.opener);
    const checkpoint = await this.current.checkpoint();
    if (checkpoint.offset !== 0n) throw new Error('reset() must set the checkpoint to offset 0');
    return checkpoint;
  }

  async close(): Promise<void> {
    await this.current.close?.();
  }
}

function openState({ options, partition, touch, lease }: Opener): Promise<PartitionState> {
  return options.open(partition, touch, lease);
}
