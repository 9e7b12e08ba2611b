// A projector's session on one partition: it folds the input records into the read model's state.
import type { TopicName } from '@lead-scoring/contracts';
import { headerText } from './codec.js';
import { PositionBeyondEnd, UnreadableRecord } from './errors.js';
import { internals, type EventLog } from './event-log.js';
import { decodeToFold } from './folded-records.js';
import { isPositionStatement } from './input-positions.js';
import { topicsOf, useOf } from './inputs.js';
import type { RawRecord } from './kafka/partition-reader.js';
import type { Touch } from './liveness.js';
import type { ProjectionState, ProjectorOptions } from './projector-options.js';
import { projectorPositions } from './projector-positions.js';
import type { FoldedRecord } from './records.js';
import type { InputArrival, Session } from './session.js';
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

/** @throws any error of a step, after closing the state */
export async function openProjection(context: ProjectionContext): Promise<Session> {
  const { options, partition, touch, lease } = context;
  const projection = new Projection(context, await options.open(partition, touch, lease));
  try {
    await projection.begin();
    return projection;
  } catch (error) {
    await projection.close().catch(() => undefined);
    throw error;
  }
}

class Projection implements Session {
  positions = new Map<TopicName, bigint>();

  constructor(
    private readonly context: ProjectionContext,
    private state: ProjectionState,
  ) {}

  async begin(): Promise<void> {
    this.positions = await this.#openingPositions();
    this.context.positionsChanged(this.positions);
  }

  async handle(arrivals: readonly InputArrival[]): Promise<void> {
    for (const arrival of arrivals) await this.#project(arrival);
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

  /** Ignored records are passed over by the type in their header: reading what is in them would cost most of a follower's time. */
  async #decode(topic: TopicName, records: readonly RawRecord[]): Promise<FoldedRecord[]> {
    const { log, options, partition } = this.context;
    const toFold = records.filter(
      (record) => !isPositionStatement(record) && !this.#isIgnored(topic, record),
    );
    const decoded = await decodeToFold(log, { topic, partition }, toFold, this.#logger());
    for (const { type, offset } of decoded)
      if (useOf(options.inputs, topic, type) === undefined)
        throw new UnreadableRecord(
          { topic, partition, offset },
          `the projector ${options.name} does not fold ${type}`,
        );
    return decoded;
  }

  #isIgnored(topic: TopicName, { headers }: RawRecord): boolean {
    const type = headerText(headers, 'type');
    return type !== undefined && useOf(this.context.options.inputs, topic, type) === 'ignored';
  }

  /**
   * A topic that ends before the read model's position halts the partition, unless an operator has asked for a rebuild:
   * then what is folded from a topic that is gone is dropped.
   */
  async #openingPositions(): Promise<Map<TopicName, bigint>> {
    const { log, options, partition } = this.context;
    const { connect, wire } = log[internals];
    const inputs = topicsOf(options.inputs);
    const connection = connect();
    const positions = async () => {
      const { positions: stored } = await this.state.checkpoint();
      return projectorPositions(log, connection, { inputs, partition }, stored);
    };
    try {
      await connection.open(inputs.map(wire));
      return await positions().catch(async (error: unknown) => {
        if (!(error instanceof PositionBeyondEnd) || this.state.isRebuilding?.() !== true) throw error;
        await this.#reset();
        return positions();
      });
    } finally {
      connection.close();
    }
  }

  /** Drops the partition's documents and opens the state again. */
  async #reset(): Promise<void> {
    const { options, partition, touch, lease } = this.context;
    this.#logger().info('rebuild: dropping documents of a topic that is gone, and folding the inputs again');
    await this.state.reset(touch);
    await this.state.close?.();
    this.state = await options.open(partition, touch, lease);
  }

  #logger() {
    return this.context.options.logger.child({ partition: this.context.partition });
  }
}
