// A projector's session on one partition: it folds the input records into the read model's state.
import type { TopicName } from '@lead-scoring/contracts';
import { PositionBeyondEnd, UnreadableRecord } from './errors.js';
import { internals, type EventLog } from './event-log.js';
import { decodeToFold } from './folded-records.js';
import { isPositionStatement } from './input-positions.js';
import { useOf } from './inputs.js';
import type { RawRecord } from './kafka/partition-reader.js';
import type { Touch } from './liveness.js';
import { rebuildType } from './processing/batch-division.js';
import { topicsReadBy, type ProjectionState, type ProjectorOptions } from './projector-options.js';
import { asksForRebuild, findPendingRebuild, projectorPositions } from './projector-positions.js';
import type { FoldedRecord } from './records.js';
import { ReopenSession, type InputArrival, type Session } from './session.js';
import type { SessionLease } from './session-lease.js';
import { originOf, withinSpan } from './tracing.js';

export interface ProjectionContext {
  log: EventLog;
  options: ProjectorOptions;
  partition: number;
  /** Called with the position of each topic, whenever one has changed. */
  positionsChanged(positions: ReadonlyMap<TopicName, bigint>): void;
  touch: Touch;
  lease: SessionLease;
}

/** @param isAfresh whether the read model is dropped first and folded again */
export async function openProjection(context: ProjectionContext, isAfresh: boolean): Promise<Session> {
  const { options, partition, touch, lease } = context;
  const projection = new Projection(context, await options.open(partition, touch, lease));
  await projection.begin(isAfresh);
  return projection;
}

class Projection implements Session {
  positions = new Map<TopicName, bigint>();

  constructor(
    private readonly context: ProjectionContext,
    private state: ProjectionState,
  ) {}

  async begin(isAfresh: boolean): Promise<void> {
    if (isAfresh) await this.#reset();
    this.positions = await this.#openingPositions();
    this.context.positionsChanged(this.positions);
  }

  async handle(arrivals: readonly InputArrival[]): Promise<void> {
    for (const arrival of arrivals) {
      if (this.context.options.inputs[arrival.topic] === undefined) await this.#handleCommands(arrival);
      else await this.#project(arrival);
    }
  }

  async close(): Promise<void> {
    await this.state.close?.();
  }

  async #project({ topic, records, nextOffset }: InputArrival): Promise<void> {
    const { maxRecordsPerBatch = 1_000 } = this.context.options;
    if (records.length === 0) await this.#advance(topic, nextOffset);
    for (let at = 0; at < records.length; at += maxRecordsPerBatch) {
      const chunk = records.slice(at, at + maxRecordsPerBatch);
      const last = chunk.at(-1);
      const after = at + maxRecordsPerBatch >= records.length || !last ? nextOffset : last.offset + 1n;
      await this.#fold(topic, await this.#decode(topic, chunk), after);
    }
  }

  async #fold(topic: TopicName, records: FoldedRecord[], nextOffset: bigint): Promise<void> {
    await withinSpan(
      `project ${topic}`,
      originOf(records),
      { 'messaging.destination.partition.id': this.context.partition },
      async () => {
        if (records.length > 0) await this.state.fold(records);
        await this.#advance(topic, nextOffset);
        this.context.touch();
      },
    );
  }

  async #advance(topic: TopicName, to: bigint): Promise<void> {
    this.positions.set(topic, to);
    await this.state.store({ offset: 0n, positions: Object.fromEntries(this.positions) });
    this.context.positionsChanged(this.positions);
  }

  async #decode(topic: TopicName, records: readonly RawRecord[]): Promise<FoldedRecord[]> {
    const { log, options, partition } = this.context;
    const toFold = records.filter((record) => !isPositionStatement(record));
    const decoded = await decodeToFold(log, { topic, partition }, toFold, this.#logger());
    return decoded.filter(({ type, offset }) => {
      const use = useOf(options.inputs, topic, type);
      if (use === undefined)
        throw new UnreadableRecord(
          { topic, partition, offset },
          `the projector ${options.name} does not fold ${type}`,
        );
      return use === 'taken';
    });
  }

  /**
   * Reads the commands of the service whose rebuilds the projector follows. @throws ReopenSession after a rebuild command
   */
  async #handleCommands({ topic, records, nextOffset }: InputArrival): Promise<void> {
    const { log, partition } = this.context;
    if (await asksForRebuild(log, { topic, partition, type: rebuildType }, records)) {
      await this.#dropAll(topic, nextOffset);
      throw new ReopenSession('a rebuild of the read model was requested');
    }
    // The position is stored with the next fold: other commands may be read again.
    this.positions.set(topic, nextOffset);
    this.context.positionsChanged(this.positions);
  }

  async #openingPositions(): Promise<Map<TopicName, bigint>> {
    const { log, options, partition } = this.context;
    const { connect, wire } = log[internals];
    const inputs = topicsReadBy(options);
    const connection = connect();
    const place = { inputs, partition };
    try {
      await connection.open(inputs.map(wire));
      const stored = await this.state.checkpoint();
      try {
        return await projectorPositions(log, connection, place, stored.positions);
      } catch (error) {
        if (!(error instanceof PositionBeyondEnd) || options.rebuildsWith === undefined) throw error;
        const commands: TopicName = `${options.rebuildsWith}.commands`;
        const asked = { commands, partition, type: rebuildType };
        const consumed = await findPendingRebuild(log, connection, asked, stored.positions[commands]);
        if (consumed === undefined) throw error;
        await this.#dropAll(commands, consumed);
        return await projectorPositions(log, connection, place, { [commands]: consumed });
      }
    } finally {
      connection.close();
    }
  }

  /** Drops the read model and stores that the command is consumed: all inputs are read again from the beginning. */
  async #dropAll(commands: TopicName, nextOffset: bigint): Promise<void> {
    this.#logger().info('rebuild: dropping the read model and folding its inputs again');
    await this.#reset();
    await this.state.store({ offset: 0n, positions: { [commands]: nextOffset } });
  }

  /** Drops the partition's documents and opens the state again. */
  async #reset(): Promise<void> {
    const { options, partition, touch, lease } = this.context;
    await this.state.reset(touch);
    await this.state.close?.();
    this.state = await options.open(partition, touch, lease);
  }

  #logger() {
    return this.context.options.logger.child({ partition: this.context.partition });
  }
}
