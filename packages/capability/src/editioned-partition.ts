// A partition of a service in the live edition, with its copy in the edition that is being filled: the live one decides.
import type { Decision, IncomingRecord, PartitionState } from '@lead-scoring/event-log';
import { EditionedState, type EditionedStateOptions } from './editioned-state.js';
import type { FoldingState } from './folding-state.js';

type ServiceState = PartitionState & FoldingState;

export class EditionedPartition extends EditionedState<ServiceState> implements PartitionState {
  static async open(options: EditionedStateOptions<ServiceState>): Promise<EditionedPartition> {
    await EditionedState.prepare(options);
    return new EditionedPartition(options);
  }

  async decide(records: IncomingRecord[]): Promise<Decision> {
    const decision = await this.live.decide(records);
    const { replies } = decision;
    if (typeof replies !== 'function') return decision;
    // A caller reads its own write on either side of a swap.
    return {
      ...decision,
      replies: async () => {
        await this.copyWritten();
        return replies();
      },
    };
  }

  async caughtUp(): Promise<void> {
    await this.live.caughtUp?.();
    this.follow();
  }
}
