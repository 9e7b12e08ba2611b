// How each channel of a partition does, written behind.
import {
  createGuardedWriter,
  type Collection,
  type GuardedWriter,
  type ReadModel,
} from '@lead-scoring/read-model';
import { channelHealth, toHealth, toHealthDocument, type HealthDocument } from './documents.js';
import type { ChannelHealth, FoldedState } from './state.js';
import { WriteBehindStates } from './write-behind-states.js';

const maximumCached = 10_000;

export class ChannelHealthStore {
  readonly #collection: Collection<HealthDocument>;
  readonly #writer: GuardedWriter;
  readonly #states: WriteBehindStates<ChannelHealth, HealthDocument>;

  constructor(
    readModel: ReadModel,
    private readonly partition: number,
  ) {
    this.#collection = readModel.collection(channelHealth);
    this.#writer = createGuardedWriter(readModel);
    this.#states = new WriteBehindStates(this.#collection, toHealth, { maximumCached });
  }

  load(channelIds: Iterable<string>): Promise<Map<string, FoldedState<ChannelHealth> | null>> {
    return this.#states.load(channelIds);
  }

  put(health: FoldedState<ChannelHealth>): void {
    this.#states.put(health.value.channel_id, health);
  }

  beginWrite(): readonly FoldedState<ChannelHealth>[] {
    return this.#states.beginWrite();
  }

  async write(healths: readonly FoldedState<ChannelHealth>[]): Promise<void> {
    await this.#writer.write(
      this.#collection,
      healths.map(({ value, offset }) => toHealthDocument(value, { partition: this.partition, offset })),
    );
  }

  endWrite(): void {
    this.#states.endWrite();
  }
}
