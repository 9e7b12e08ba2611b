// The offsets that the group of a source has committed: where a partition is read on.
import type { InputOffset, Membership } from '../kafka/membership.js';
import { askLeader, type KafkaConnection } from '../kafka/kafka-connection.js';
import type { TopicSourceConfig } from './source-config.js';

export class CommittedOffsets {
  /** Milliseconds between two commits: what a crash makes come again. */
  readonly commitEveryMs = 1_000;
  readonly #committed = new Map<number, bigint>();
  #commitAt = 0;

  constructor(
    private readonly connection: KafkaConnection,
    private readonly config: Pick<TopicSourceConfig, 'topic' | 'groupId' | 'startAt'>,
  ) {}

  /** The committed offset, or the one to begin with. */
  async startOf(partition: number): Promise<bigint> {
    const { topic, groupId, startAt } = this.config;
    const committed = await askLeader(this.connection, async () => {
      this.connection.forgetCoordinators();
      const coordinator = await this.connection.groupCoordinator(groupId);
      const { responses } = await coordinator.offsetFetch({
        groupId,
        topics: [{ topic, partitions: [{ partition }] }],
      });
      return BigInt(responses[0]?.partitions[0]?.offset ?? -1);
    });
    this.#committed.delete(partition);
    return committed >= 0n ? committed : this.connection.offset(topic, partition, startAt);
  }

  isCommitDue(): boolean {
    return performance.now() >= this.#commitAt;
  }

  /** Commits the positions that have changed since the last commit. */
  async commit(membership: Membership<string>, positions: readonly InputOffset<string>[]): Promise<void> {
    this.#commitAt = performance.now() + this.commitEveryMs;
    const changed = positions.filter(({ partition, offset }) => this.#committed.get(partition) !== offset);
    if (changed.length === 0) return;
    await membership.commitOffsets(changed);
    for (const { partition, offset } of changed) this.#committed.set(partition, offset);
  }
}
