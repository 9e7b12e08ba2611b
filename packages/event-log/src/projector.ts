// The projector: folds topics into a read model, at least once, with its offsets in the read model's own checkpoint.
import type { ServiceName, TopicName } from '@lead-scoring/contracts';
import type { Logger } from 'pino';
import type { Component } from './component.js';
import { PositionBeyondEnd } from './errors.js';
import { internals, type EventLog } from './event-log.js';
import { isOfItsOwner } from './input-positions.js';
import type { Touch } from './liveness.js';
import { decodeToFold } from './folded-records.js';
import { joinGroup, type Membership } from './membership.js';
import { createProcessingMetrics } from './metrics.js';
import { createLoops, OpenAnew, startPartitionLoop, type Brought, type Session } from './partition-loop.js';
import type { RawRecord } from './partition-reader.js';
import { projectorPositions, unreadRebuild } from './projector-positions.js';
import { rebuildType, type Checkpoint, type ProcessorStatus } from './processor.js';
import type { FoldedRecord } from './records.js';
import type { SessionLease } from './session-lease.js';
import { originOf, withinSpan } from './tracing.js';
import { batchesAtOnce, createTurns } from './turns.js';

/** A read model's state of one partition. `checkpoint.positions` says where to read on; `offset` is not used. */
export interface ProjectionState {
  checkpoint(): Promise<Checkpoint>;
  /** Folds records with guarded, idempotent writes: some may come again. */
  fold(records: FoldedRecord[]): Promise<void>;
  store(checkpoint: Checkpoint): Promise<void>;
  /** Drops this partition's documents and its checkpoint; the projector then reads from the beginning. */
  reset(touch: Touch): Promise<void>;
  close?(): Promise<void>;
}

export interface ProjectorOptions {
  /** Durable name: the consumer group is `<namespace>.<name>`. */
  name: string;
  inputs: readonly TopicName[];
  /** The service whose RebuildReadModel is obeyed: its read models are then dropped and folded anew together. */
  rebuildsWith?: ServiceName;
  /**
   * `touch` is to be called now and then while anything that the state does takes long: it says that something moves.
   * @param lease to be checked before each write of the state's
   */
  open(partition: number, touch: Touch, lease: SessionLease): Promise<ProjectionState>;
  logger: Logger;
  onFatal(error: Error): void;
  isRetriable?(error: unknown): boolean;
  /** Whether an error of the state says that its server was silent: a process that hears nothing for too long is given up. */
  isSilence?(error: unknown): boolean;
  maxRecordsPerBatch?: number;
  maxBytesPerBatch?: number;
  /**
   * While records keep coming that may wait by their declaration, they are folded no more often than this, in milliseconds:
   * fewer and larger batches, where nobody waits to read them. What comes after a silence is folded at once. Default 0.
   */
  everyMs?: number;
}

/** A projector at work; `rebuild` drops the read models of this process's partitions and folds them anew. */
export interface ProjectorStatus extends ProcessorStatus {
  rebuild(): Promise<void>;
}

export function createProjector(log: EventLog, options: ProjectorOptions): Component<ProjectorStatus> {
  return {
    name: `projector ${options.name}`,
    async start() {
      const metrics = createProcessingMetrics(options.name);
      const inputs = inputsOf(options);
      const resets = new Map<number, () => void>();
      const turns = createTurns(batchesAtOnce);
      let fatal = false;
      const onFatal = (error: Error) => {
        if (fatal) return;
        fatal = true;
        options.onFatal(error);
      };
      let assigned: readonly number[] = [];
      const loops = createLoops((partition) =>
        startPartitionLoop({
          log,
          partition,
          inputs,
          membership: () => membership,
          metrics,
          turns,
          partitionsInHand: () => loops.all().length,
          maxBytesPerBatch: options.maxBytesPerBatch ?? 2 * 1024 * 1024,
          isTogether: false,
          patienceMs: () => 0,
          eventsEveryMs: options.everyMs ?? 0,
          isRetriable: (error) => options.isRetriable?.(error) ?? false,
          isSilence: (error) => options.isSilence?.(error) ?? false,
          onFatal,
          isMine: () => assigned.includes(partition),
          async open(_signal, touch, _touchOfLog, lease) {
            const session = await openProjection(log, options, {
              partition,
              afresh: resets.has(partition),
              note: (positions) => {
                notes.note(partition, positions);
              },
              touch,
              lease,
            });
            resets.get(partition)?.();
            resets.delete(partition);
            return session;
          },
        }),
      );
      const membership = await joinGroup(log, {
        groupId: `${log.config.namespace}.${options.name}`,
        topics: inputs,
        onFatal,
        onAssigned(partitions) {
          assigned = partitions;
          loops.assign(partitions);
        },
      });
      const notes = createNotes(membership, (partition) => assigned.includes(partition), options.logger);
      return {
        value: {
          partitions: () => loops.all().map((loop) => ({ partition: loop.partition, ...loop.state() })),
          ready: () => membership.joined() && loops.all().every((loop) => loop.state().state === 'running'),
          async rebuild() {
            const done = assigned.map(
              (partition) => new Promise<void>((resolve) => resets.set(partition, resolve)),
            );
            const mine = [...assigned];
            loops.assign([]);
            loops.assign(mine);
            await Promise.all(done);
          },
        },
        async stop() {
          await loops.stop();
          await notes.stop();
          await membership.stop();
        },
      };
    },
  };
}

const noteEveryMs = 500;

/**
 * Keeps the group told where the partitions are, so that operators see the lag where they see that of processors. What is
 * said of a partition is always said of all its topics: whoever sees that a rebuild's command is obeyed sees, too, where
 * the folding begins anew.
 */
function createNotes(membership: Membership, isMine: (partition: number) => boolean, logger: Logger) {
  const latest = new Map<number, ReadonlyMap<TopicName, bigint>>();
  let writing: Promise<void> = Promise.resolve();

  function write(): void {
    const noted = [...latest].filter(([partition]) => isMine(partition));
    latest.clear();
    if (noted.length === 0) return;
    const positions = noted.flatMap(([partition, topics]) =>
      [...topics].map(([topic, offset]) => ({ topic, partition, offset })),
    );
    writing = writing
      .then(() => membership.note(positions))
      .catch((error: unknown) => {
        logger.debug({ err: error }, 'the positions could not be noted; they are noted again');
        for (const [partition, topics] of noted) if (!latest.has(partition)) latest.set(partition, topics);
      });
  }

  const timer = setInterval(write, noteEveryMs);
  timer.unref();
  return {
    note(partition: number, positions: ReadonlyMap<TopicName, bigint>): void {
      latest.set(partition, new Map(positions));
    },
    async stop(): Promise<void> {
      clearInterval(timer);
      write();
      await writing;
    },
  };
}

function inputsOf({ inputs, rebuildsWith }: ProjectorOptions): readonly TopicName[] {
  return rebuildsWith === undefined ? inputs : [...inputs, `${rebuildsWith}.commands`];
}

async function openProjection(
  log: EventLog,
  options: ProjectorOptions,
  {
    partition,
    afresh,
    note,
    touch,
    lease,
  }: {
    partition: number;
    afresh: boolean;
    note: (positions: ReadonlyMap<TopicName, bigint>) => void;
    touch: Touch;
    lease: SessionLease;
  },
): Promise<Session> {
  const { connect, wire } = log[internals];
  const logger = options.logger.child({ partition });
  const inputs = inputsOf(options);
  const maxRecordsPerBatch = options.maxRecordsPerBatch ?? 1_000;
  let state = await options.open(partition, touch, lease);
  if (afresh) {
    await state.reset(touch);
    await state.close?.();
    state = await options.open(partition, touch, lease);
  }
  const positions = await readOnFrom();
  note(positions);

  return {
    positions,
    async handle(brought) {
      for (const one of brought) await project(one);
    },
    async close() {
      await state.close?.();
    },
  };

  async function project({ topic, records, nextOffset }: Brought): Promise<void> {
    if (!options.inputs.includes(topic)) {
      if (records.some(({ headers }) => headers.type?.toString() === rebuildType))
        await startOver(topic, nextOffset);
      // Stored with what is folded next: commands that are not obeyed may be read again.
      positions.set(topic, nextOffset);
      note(positions);
      return;
    }
    if (records.length === 0) await advance(topic, nextOffset);
    for (let at = 0; at < records.length; at += maxRecordsPerBatch) {
      const chunk = records.slice(at, at + maxRecordsPerBatch);
      const incoming = await decode(topic, chunk);
      const last = chunk.at(-1);
      const after = at + maxRecordsPerBatch >= records.length || !last ? nextOffset : last.offset + 1n;
      await withinSpan(
        `project ${topic}`,
        originOf(incoming),
        { 'messaging.destination.partition.id': partition },
        async () => {
          if (incoming.length > 0) await state.fold(incoming);
          await advance(topic, after);
          touch();
        },
      );
    }
  }

  async function advance(topic: TopicName, to: bigint): Promise<void> {
    positions.set(topic, to);
    await state.store({ offset: 0n, positions: Object.fromEntries(positions) });
    note(positions);
  }

  async function readOnFrom(): Promise<Map<TopicName, bigint>> {
    const connection = connect();
    const place = { inputs, partition };
    try {
      await connection.open(inputs.map(wire));
      const stored = await state.checkpoint();
      try {
        return await projectorPositions(log, connection, place, stored.positions);
      } catch (error) {
        if (!(error instanceof PositionBeyondEnd) || options.rebuildsWith === undefined) throw error;
        const commands: TopicName = `${options.rebuildsWith}.commands`;
        const asked = { commands, partition, type: rebuildType };
        const obeyed = await unreadRebuild(log, connection, asked, stored.positions[commands]);
        if (obeyed === undefined) throw error;
        await dropAll(commands, obeyed);
        return await projectorPositions(log, connection, place, { [commands]: obeyed });
      }
    } finally {
      connection.close();
    }
  }

  /** Drops what is folded, and remembers that the command is obeyed, and has everything read again. */
  async function dropAll(commands: TopicName, nextOffset: bigint): Promise<void> {
    logger.info('the read model is dropped and folded anew');
    await state.reset(touch);
    await state.close?.();
    state = await options.open(partition, touch, lease);
    await state.store({ offset: 0n, positions: { [commands]: nextOffset } });
  }

  async function startOver(commands: TopicName, nextOffset: bigint): Promise<never> {
    await dropAll(commands, nextOffset);
    throw new OpenAnew('the read model is folded anew');
  }

  async function decode(topic: TopicName, records: RawRecord[]): Promise<FoldedRecord[]> {
    const toFold = records.filter((record) => !isOfItsOwner(record));
    return decodeToFold(log, { topic, partition }, toFold, logger);
  }
}
