// The single-writer processor: for each partition it owns, decides commands and appends events, exactly once.
import { records as declarations, topics, type ServiceName, type TopicName } from '@lead-scoring/contracts';
import type { Logger } from 'pino';
import type { Component } from './component.js';
import { asFirstCome, deadLetterMessage } from './dead-letter-record.js';
import { asError, BatchTooLarge, PositionBeyondEnd, EventLogError, isRetriable } from './errors.js';
import { internals, type EventLog } from './event-log.js';
import { isConnectionError, protocolErrorType } from './kafka-connection.js';
import type { Touch } from './liveness.js';
import { joinGroup } from './membership.js';
import { createProcessingMetrics, type ProcessingMetrics } from './metrics.js';
import { encodeRecord, traceHeaders, type EncodedDeclared, type EncodedRecord } from './outgoing.js';
import {
  committedOffsets,
  inputsRead,
  isOfItsOwner,
  isOfLogAlone,
  notingPositions,
} from './input-positions.js';
import { lossTold } from './lost-records.js';
import { readInputPositions } from './opening-positions.js';
import {
  createLoops,
  OpenAnew,
  isOfEvents,
  startPartitionLoop,
  type Brought,
  type PartitionStatus,
  type Session,
} from './partition-loop.js';
import { readUntil, type RawRecord } from './partition-reader.js';
import { DecodedRecord } from './codec.js';
import { createDecisionLimits, type DecisionLimits } from './decision-limits.js';
import { decodeToFold } from './folded-records.js';
import type { FoldedRecord, IncomingRecord, OutgoingRecord } from './records.js';
import type { OwnSessionLease, SessionLease } from './session-lease.js';
import { originOf, withinSpan } from './tracing.js';
import { createTransactionalProducer, toBatches, transactionTimeoutMs } from './transactional-producer.js';
import { batchesAtOnce, createTurns } from './turns.js';
import { createRecordWriter, type RecordWriter } from './writer.js';

/** How far a stored state reflects the log. */
export interface Checkpoint {
  /** The next offset of the output topic that is not yet folded into the stored state; 0 for none. */
  offset: bigint;
  /** For each input topic the next offset whose effect the stored state does not hold yet. */
  positions: Partial<Record<TopicName, bigint>>;
}

/** What is to happen because of a batch: all of it, in one transaction that says how far the inputs are read, or nothing. */
export interface Decision {
  /** Appended to the output topic, in the processor's own partition, in this order. */
  events: OutgoingRecord[];
  /** Appended to other topics (inputs, or `commandsTo`) or partitions, in the same transaction. */
  commands?: OutgoingRecord[];
  /** Sent after the events are folded, and what a function waits for, so that who gets the reply can read what it says. */
  replies?: Reply[] | (() => Reply[] | Promise<Reply[]>);
  /** Records of the batch that cannot be taken, with the reason. */
  deadLetters?: { record: IncomingRecord; reason: string }[];
}

/** The answer to a record that has the headers `reply-to` and `correlation-id`; to any other it is dropped. */
export interface Reply {
  to: IncomingRecord;
  reply: declarations.CommandReplied;
}

/**
 * A service's state of one partition. The processor is its only writer, and calls one method at a time, `store` aside. What
 * does not move for 42 s is given up with its process.
 */
export interface PartitionState {
  checkpoint(): Promise<Checkpoint>;
  /**
   * Loads what is needed in bulk and decides for each record in order; writes nothing. All records are of one input topic,
   * unless the service `decidesTogether`.
   * @throws BatchTooLarge where fewer records are to be decided at a time: they come again, in two halves
   */
  decide(records: IncomingRecord[]): Promise<Decision>;
  /**
   * Folds own events into the state: live after the commit, and on catch-up. What replies speak of is written before they
   * are handed over; all else may be kept in memory until `store`. Writes are guarded and idempotent.
   */
  fold(events: FoldedRecord[]): Promise<void>;
  /**
   * Writes what is folded as of this call and not stored yet, then the checkpoint. The next batches are decided and folded
   * meanwhile.
   * @param awaited aborted when somebody waits for its end; until then it may take its time
   */
  store(checkpoint: Checkpoint, awaited: AbortSignal): Promise<void>;
  /**
   * Called once after opening, when everything that the log has is folded and before anything is decided: the place to
   * take up work that an earlier owner left.
   */
  caughtUp?(): Promise<void>;
  /** Drops this partition's documents, which may take minutes, and sets its checkpoint to offset 0. */
  reset(touch: Touch): Promise<void>;
  close?(): Promise<void>;
}

export interface ProcessorOptions {
  name: ServiceName;
  inputs: readonly TopicName[];
  output: TopicName;
  /** Topics that its commands go to, besides its inputs. */
  commandsTo?: readonly TopicName[];
  /**
   * `touch` is to be called now and then while anything that the state does takes long: it says that something moves.
   * @param lease to be checked before each write of the state's
   */
  open(partition: number, touch: Touch, lease: SessionLease): Promise<PartitionState>;
  logger: Logger;
  /** Called once when the processor can no longer work: the process should exit non-zero and be started anew. */
  onFatal(error: Error): void;
  /** Whether an error of the state passes by itself, besides those with `retriable: true`; such a batch is never parked. */
  isRetriable?(error: unknown): boolean;
  /** Whether an error of the state says that its server was silent: a process that hears nothing for too long is given up. */
  isSilence?(error: unknown): boolean;
  /**
   * Milliseconds after which the brokers end a transaction. A decision that takes two thirds of it is given up and made anew on
   * half of the records; on one record it is made before its transaction begins. Default 15,000.
   */
  transactionTimeoutMs?: number;
  /** Records of one input decided together. Default 1,000. */
  maxRecordsPerBatch?: number;
  /**
   * What several inputs have brought is decided in one batch, those of each input in their order: for a service that decides
   * on each input by state that the others do not change, or that may take them in any order. It saves batches.
   */
  decidesTogether?: boolean;
  /**
   * How long what an input of events has brought waits for what another one brings, to be decided in one batch with it, in
   * milliseconds: for an input that another one follows. Only with `decidesTogether`; nothing waits that is behind.
   */
  patienceMs?: Partial<Record<TopicName, number>>;
  /** Bytes read from one topic's partition at a time: bounds a batch, and with it memory. Default 2 MiB. */
  maxBytesPerBatch?: number;
  /**
   * While batches follow each other, the state is stored no more often than this, in milliseconds; once nothing comes it is
   * stored at once. What a new owner has to fold anew grows with it. Default 0: stored after each batch.
   */
  storeEveryMs?: number;
}

/** What a running processor tells of itself, for readiness. */
export interface ProcessorStatus {
  /** The partitions that this process works on, and the state of each. */
  partitions(): ({ partition: number } & PartitionStatus)[];
  /** True when the group has been joined and every owned partition is running. */
  ready(): boolean;
}

/** A record batch above the topic's limit is refused; the limit is 8 MiB and 16 MiB for dead letters. */
const maxBatchBytes = 6 * 1024 * 1024;
const defaultBytesPerBatch = 2 * 1024 * 1024;
const atOnce = AbortSignal.abort();
/** The group's offsets, which those go by who watch the lag, are as old at most while records keep coming. */
const commitOffsetsEveryMs = 5_000;
/** While nothing comes of events, the output says so no more often: it is kept for ever. */
const noteNothingEveryMs = 60_000;
/** The fractional parts of its multiples lie evenly apart, however many there are. */
const goldenRatio = (Math.sqrt(5) - 1) / 2;
/** The part of a transaction's time that a decision may take; the rest is for what is written. */
const decisionPart = 2 / 3;
/** How often a record that makes the decision fail is tried, alone, before it is parked. */
const attemptsUntilParked = 3;
export const rebuildType = 'RebuildReadModel';

const topicNames = new Set<string>(topics.map(({ name }) => name));
const isTopic = (name: string): name is TopicName => topicNames.has(name);

export function createProcessor(log: EventLog, options: ProcessorOptions): Component<ProcessorStatus> {
  return {
    name: `processor ${options.name}`,
    async start() {
      const metrics = createProcessingMetrics(options.name);
      const replies = await createRecordWriter(log).start();
      const groupId = `${log.config.namespace}.${options.name}`;
      const turns = createTurns(batchesAtOnce);
      let fatal = false;
      const onFatal = (error: Error) => {
        if (fatal) return;
        fatal = true;
        options.onFatal(error);
      };
      let assigned: ReadonlySet<number> = new Set();
      const loops = createLoops((partition) => {
        const limits = createDecisionLimits();
        const suspects: Suspects = { apartBefore: new Map(), singlyBefore: new Map(), failures: new Map() };
        const committed = new Map<TopicName, bigint>();
        return startPartitionLoop({
          log,
          partition,
          inputs: options.inputs,
          membership: () => membership,
          metrics,
          turns,
          partitionsInHand: () => loops.all().length,
          maxBytesPerBatch: options.maxBytesPerBatch ?? defaultBytesPerBatch,
          isTogether: options.decidesTogether ?? false,
          patienceMs: (topic) => options.patienceMs?.[topic] ?? 0,
          eventsEveryMs: 0,
          isRetriable: (error) => options.isRetriable?.(error) ?? false,
          isSilence: (error) => options.isSilence?.(error) ?? false,
          onFatal,
          isMine: () => assigned.has(partition),
          open: (signal, touch, touchOfLog, lease) =>
            openSession({
              log,
              options,
              partition,
              groupId,
              metrics,
              replies: replies.value,
              suspects,
              limits,
              committed,
              signal,
              touch,
              touchOfLog,
              lease,
            }),
        });
      });
      const membership = await joinGroup(log, {
        groupId,
        topics: options.inputs,
        onFatal,
        onAssigned: (partitions) => {
          options.logger.info({ partitions }, 'partitions assigned');
          assigned = new Set(partitions);
          loops.assign(partitions);
        },
      });
      return {
        value: {
          partitions: () => loops.all().map((loop) => ({ partition: loop.partition, ...loop.state() })),
          ready: () => membership.joined() && loops.all().every((loop) => loop.state().state === 'running'),
        },
        async stop() {
          await loops.stop();
          await membership.stop();
          await replies.stop();
        },
      };
    },
  };
}

/** What is remembered of records that made a decision fail, beyond the session that they ended. */
interface Suspects {
  /** By input topic: records before this offset are not decided with those of other inputs. */
  apartBefore: Map<TopicName, bigint>;
  /** By input topic: records before this offset are decided one by one. */
  singlyBefore: Map<TopicName, bigint>;
  /** By `topic:offset`. */
  failures: Map<string, { attempts: number; reason: string }>;
}

interface SessionContext {
  log: EventLog;
  options: ProcessorOptions;
  partition: number;
  groupId: string;
  metrics: ProcessingMetrics;
  replies: RecordWriter;
  suspects: Suspects;
  limits: DecisionLimits;
  /** Where to read the inputs on after the last commit that was answered, beyond the session. */
  committed: Map<TopicName, bigint>;
  signal: AbortSignal;
  touch: Touch;
  /** Where only the brokers have answered. */
  touchOfLog: Touch;
  lease: OwnSessionLease;
}

/** Records of one input that are decided together. */
interface Segment {
  input: TopicName;
  /** What they are of: for one that is sent again, where it first came. */
  topic: TopicName;
  records: RawRecord[];
  /** Where to read on after each record. One that is sent again has the offset at which it first came, not its place here. */
  nextOffsets: bigint[];
}

function nextOffsetOf({ nextOffsets }: Segment): bigint {
  const last = nextOffsets.at(-1);
  if (last === undefined) throw new RangeError('a segment without records');
  return last;
}

/** A batch in smaller ones. */
function partsOf(batch: readonly Segment[]): Segment[][] {
  return batch.length > 1 ? batch.map((segment) => [segment]) : batch.flatMap(halvesOf).map((half) => [half]);
}

function halvesOf({ records, nextOffsets, ...segment }: Segment): Segment[] {
  const middle = Math.ceil(records.length / 2);
  return [
    { ...segment, records: records.slice(0, middle), nextOffsets: nextOffsets.slice(0, middle) },
    { ...segment, records: records.slice(middle), nextOffsets: nextOffsets.slice(middle) },
  ];
}

function recordsIn(batch: readonly Segment[]): number {
  return batch.reduce((sum, { records }) => sum + records.length, 0);
}

/** A batch decoded. */
interface IncomingBatch {
  records: IncomingRecord[];
  /** The same records as they came. */
  raw: { segment: Segment; record: RawRecord }[];
  parked: Parked[];
}

interface Parked {
  topic: TopicName;
  letter: EncodedRecord;
}

function suspectId({ topic }: Segment, offset: bigint): string {
  return `${topic}:${offset}`;
}

async function openSession(context: SessionContext): Promise<Session> {
  const {
    log,
    options,
    partition,
    groupId,
    metrics,
    suspects,
    limits,
    committed,
    signal,
    touch,
    touchOfLog,
    lease,
  } = context;
  const { codec, connect, wire } = log[internals];
  const logger = options.logger.child({ partition });
  const maxRecordsPerBatch = options.maxRecordsPerBatch ?? 1_000;
  const maxBytesPerBatch = options.maxBytesPerBatch ?? defaultBytesPerBatch;
  const storeEveryMs = options.storeEveryMs ?? 0;
  const transactionMs = options.transactionTimeoutMs ?? transactionTimeoutMs;
  const commandsTopic: TopicName = `${options.name}.commands`;
  const deadLetterTopic: TopicName = `${options.name}.dead-letters`;
  // What each partition does now and then, those of a process do not all do at the same time.
  const phase = (partition * goldenRatio) % 1;

  const connection = connect();
  let state: PartitionState | undefined;
  try {
    await connection.open(
      [...options.inputs, options.output, ...(options.commandsTo ?? []), deadLetterTopic].map(wire),
    );
    const producer = createTransactionalProducer(connection, {
      transactionalId: `${groupId}.${partition}`,
      groupId,
      timeoutMs: transactionMs,
    });
    // In this order: only once nobody else can write does what is read below stay true.
    await producer.fence();
    const { inputs, output } = options;
    const read = { groupId, inputs, output, partition };
    const ownPlace = { topic: output, partition };
    const ownWire = { topic: wire(output), partition };
    const ownOutput = [ownWire];
    const before = await readInputPositions(log, connection, producer, read, {
      signal,
      touch: touchOfLog,
    });
    const { positions, outputEnd } = before;
    if (before.isAccepted) committed.clear();
    // Never to be seen; to decide again what was decided would be worse than to wait.
    for (const [topic, position] of committed)
      if ((positions.get(topic) ?? 0n) < position)
        throw new EventLogError(
          'log_unavailable',
          `${topic} ${partition} was decided up to ${position}, and ${output} says ${positions.get(topic)}`,
          { retriable: true },
        );
    let opened = (state = await options.open(partition, touch, lease));
    let foldedUpTo = 0n;
    let storedAt = performance.now();
    let isStored = true;
    /** When the group's offsets are committed next; the first transaction of a session does. */
    let commitAt = -Infinity;
    let { isCommitted, isNoted } = before;
    /** When the output is to say that what came of events was nothing. */
    let noteAt = performance.now() + noteNothingEveryMs;
    /** Under way beside the batches, or how the last one ended. */
    let storing: Promise<void> = Promise.resolve();
    let isStoring = false;
    let storingIsAwaited = new AbortController();
    const stored = await opened.checkpoint();
    if (stored.offset <= outputEnd) await catchUp(stored);
    else if (before.isOutputWhole) await startOver();
    else throw new PositionBeyondEnd({ ...ownWire, position: stored.offset, end: outputEnd });
    storedAt -= storeEveryMs * phase;
    await opened.caughtUp?.();

    /** Folds what the output topic has beyond the checkpoint, up to where this session has folded, and stores it in time. */
    async function catchUp(from: Checkpoint): Promise<void> {
      let offset = from.offset;
      // Nobody else writes here, so the end stays where it is.
      const end = foldedUpTo > outputEnd ? foldedUpTo : outputEnd;
      const missing = readUntil(
        connection,
        { ...ownWire, from: offset },
        ({ nextOffset }) => nextOffset >= end,
        { maxBytes: maxBytesPerBatch, signal, onOffsetLost: lossTold({ logger, metrics, ...ownPlace }) },
      );
      for await (const { records, nextOffset } of missing) {
        if (nextOffset > offset) touchOfLog();
        const events = await decodeOwn(records);
        if (events.length > 0) {
          await fold(events);
          touch();
        }
        offset = nextOffset;
        // What comes last is stored below.
        if (offset < end && events.length > 0 && performance.now() - storedAt >= storeEveryMs) {
          await opened.store({ offset, positions: from.positions }, atOnce);
          storedAt = performance.now();
        }
      }
      foldedUpTo = offset;
      if (
        offset === from.offset &&
        options.inputs.every((topic) => from.positions[topic] === positions.get(topic))
      )
        return;
      storeBeside();
      // Soon, so that whoever comes after a next crash has less to fold.
      const stored = untilStored();
      if (storeEveryMs === 0) await stored;
    }

    async function startOver(): Promise<void> {
      await opened.reset(touch);
      await opened.close?.();
      opened = state = await options.open(partition, touch, lease);
      const checkpoint = await opened.checkpoint();
      if (checkpoint.offset !== 0n) throw new Error('reset() must set the checkpoint to offset 0');
      return catchUp(checkpoint);
    }

    async function decodeOwn(records: RawRecord[]): Promise<FoldedRecord[]> {
      const own = records.filter((record) => !isOfLogAlone(record));
      return decodeToFold(log, { topic: options.output, partition }, own, logger);
    }

    async function fold(events: FoldedRecord[]): Promise<void> {
      const started = performance.now();
      await opened.fold(events);
      metrics.fold((performance.now() - started) / 1_000);
    }

    async function handle(brought: readonly Brought[]): Promise<void> {
      for (const batch of batchesOf(brought.flatMap(segmentsOf))) {
        if (signal.aborted) return;
        const [segment] = batch;
        if (!segment) continue;
        const started = performance.now();
        if (isRebuild(segment)) await rebuild(segment);
        else await decideInParts(batch);
        const seconds = (performance.now() - started) / 1_000;
        for (const { topic, records } of batch) metrics.batch(topic, { records: records.length, seconds });
      }
    }

    /** All in one, if each input has one segment and none is to be by itself. */
    function batchesOf(segments: readonly (Segment & { alone: boolean })[]): Segment[][] {
      const inputs = new Set(segments.map(({ input }) => input));
      const isApart = ({ input, nextOffsets: [first = 0n] }: Segment) =>
        first <= (suspects.apartBefore.get(input) ?? 0n);
      const isOne =
        inputs.size === segments.length && !segments.some((segment) => segment.alone || isApart(segment));
      return isOne ? [[...segments]] : segments.map((segment) => [segment]);
    }

    async function store(awaited: AbortSignal): Promise<void> {
      storedAt = performance.now();
      isStored = true;
      await opened.store({ offset: foldedUpTo, positions: Object.fromEntries(positions) }, awaited);
    }

    /** Stores beside the next batches, once what came before is stored: a failure is that of a later batch. */
    async function storeInTime(): Promise<void> {
      isStored = false;
      if (performance.now() - storedAt < storeEveryMs) return;
      await untilStored();
      storeBeside();
    }

    function storeBeside(): void {
      isStoring = true;
      storingIsAwaited = new AbortController();
      storing = store(storingIsAwaited.signal).finally(() => {
        isStoring = false;
      });
      storing.catch(() => undefined);
    }

    /** Until what is being stored is stored. */
    function untilStored(): Promise<void> {
      storingIsAwaited.abort();
      return storing;
    }

    /** What comes after a silence does not wait until all is stored. */
    async function settle(isLast: boolean): Promise<void> {
      await storeRest(isLast);
      const isNoting = isLast ? !isNoted : isNoteDue();
      if (isNoting || !isCommitted) await commitOffsets(isNoting);
    }

    async function storeRest(isLast: boolean): Promise<void> {
      if (!isLast) {
        storingIsAwaited.abort();
        if (isStoring) return;
      }
      await untilStored();
      if (isStored) return;
      if (isLast) await store(atOnce);
      else storeBeside();
    }

    function isRebuild({ topic, records: [first] }: Segment): boolean {
      return topic === commandsTopic && first?.headers.type?.toString() === rebuildType;
    }

    /** Divides a batch: where the records' topic changes, around rebuilds, at the limit, and one by one after a failure. */
    function segmentsOf({ topic: input, records, nextOffset }: Brought): (Segment & { alone: boolean })[] {
      const singlyBefore = suspects.singlyBefore.get(input) ?? 0n;
      const segments: (Segment & { alone: boolean })[] = [];
      for (const raw of records) {
        const { topic, record } = asFirstCome(input, raw, isTopic);
        const segment = { input, topic, records: [record], nextOffsets: [raw.offset + 1n] };
        const alone = raw.offset < singlyBefore || isRebuild(segment);
        const last = segments.at(-1);
        if (
          last &&
          !alone &&
          !last.alone &&
          last.topic === topic &&
          last.records.length < Math.min(maxRecordsPerBatch, limits.limitAt(input, raw.offset))
        ) {
          last.records.push(record);
          last.nextOffsets.push(raw.offset + 1n);
        } else {
          segments.push({ ...segment, alone });
        }
      }
      const last = segments.at(-1);
      if (last) last.nextOffsets[last.nextOffsets.length - 1] = nextOffset;
      return segments;
    }

    async function rebuild(segment: Segment): Promise<void> {
      logger.info('the read model is dropped and folded anew');
      await untilStored();
      await startOver();
      await opened.caughtUp?.();
      await commit([segment], { events: [], commands: [], parked: [] });
      await untilStored();
      await store(atOnce);
      const [record] = segment.records;
      const decoded = record ? codec.decode(segment.topic, partition, record) : undefined;
      if (decoded && !('problem' in decoded)) reply([{ to: decoded, reply: { outcome: 'done' } }]);
      logger.info('the read model is folded anew');
    }

    async function decideInParts(batch: readonly Segment[]): Promise<void> {
      try {
        await decideBatch(batch);
      } catch (error) {
        if (!isSplit(error, batch)) throw error;
        for (const part of partsOf(batch)) {
          if (signal.aborted) return;
          await decideInParts(part);
        }
      }
    }

    function isSplit(error: unknown, batch: readonly Segment[]): boolean {
      return error instanceof BatchTooLarge && recordsIn(batch) > 1;
    }

    async function decideBatch(batch: readonly Segment[]): Promise<void> {
      const isLate = batch.some((segment) => limits.isSlowAlone(segment.input, nextOffsetOf(segment)));
      // One that a batch before has left open would be ended while this is decided.
      if (isLate) await commitOffsets(false);
      // Ahead, to overlap with loading and deciding. Where nothing is decided the next batch finds it open.
      else producer.begin({ partitions: ownOutput, offsets: isCommitDue() }).catch(() => undefined);
      const begunAt = performance.now();
      await codec.loadSchemas(batch.flatMap(({ records }) => records));
      // What was decoded is let go once it is decided: committing and folding take most of a batch's time, and a
      // collector that finds a whole batch alive copies all of it.
      let incoming: IncomingBatch | undefined = decode(batch);
      const origin = originOf(incoming.records);
      const within = { 'messaging.destination.partition.id': partition };
      const topics = batch.map(({ topic }) => topic).join(', ');
      await withinSpan(`process ${topics}`, origin, within, async () => {
        if (!incoming) throw new Error('a batch is decided once');
        const { parked } = incoming;
        const { decision, events, commands } = await decide(batch, incoming);
        incoming = undefined;
        touch();
        if (!isLate) refuseIfLate(batch, performance.now() - begunAt);
        const letters = parked.map(({ letter }) => letter);
        await lease.confirmed();
        const offsets = await commit(batch, { events, commands, parked: letters });
        touch();
        for (const { topic } of parked) metrics.deadLetters(topic, 1);
        if (suspects.failures.size > 0)
          for (const segment of batch)
            for (const { offset } of segment.records) suspects.failures.delete(suspectId(segment, offset));
        if (decision.events.length > 0) {
          await fold(decision.events.map((event, at) => folded(event, events[at], offsets[at] ?? -1n)));
          foldedUpTo = (offsets[events.length - 1] ?? foldedUpTo - 1n) + 1n;
          touch();
        }
        const replies =
          typeof decision.replies === 'function' ? await decision.replies() : (decision.replies ?? []);
        reply(replies);
        await storeInTime();
      });
    }

    /** What was decided too late is thrown away, with the memory that it has changed. */
    function refuseIfLate(batch: readonly Segment[], tookMs: number): void {
      if (tookMs < transactionMs * decisionPart) return;
      if (batch.length > 1)
        for (const segment of batch) suspects.apartBefore.set(segment.input, nextOffsetOf(segment));
      else
        for (const segment of batch)
          limits.tookTooLong(segment.input, nextOffsetOf(segment), segment.records.length);
      const message = `deciding on ${recordsIn(batch)} records took ${Math.round(tookMs)} ms, of a transaction of ${transactionMs} ms`;
      logger.warn({ topics: batch.map(({ topic }) => topic), records: recordsIn(batch) }, message);
      throw new OpenAnew(message, true);
    }

    /** What can be decoded of a batch; the rest is parked, and so is what made deciding fail on every try. */
    function decode(batch: readonly Segment[]): IncomingBatch {
      const incoming: IncomingBatch = { records: [], raw: [], parked: [] };
      for (const segment of batch)
        for (const record of segment.records) {
          if (isOfItsOwner(record)) continue;
          const failed =
            suspects.failures.size > 0 ? suspects.failures.get(suspectId(segment, record.offset)) : undefined;
          const decoded =
            failed && failed.attempts >= attemptsUntilParked
              ? { problem: failed.reason }
              : codec.decode(segment.topic, partition, record);
          if ('problem' in decoded) incoming.parked.push(deadLetter(segment, record, decoded.problem));
          else {
            incoming.records.push(decoded);
            incoming.raw.push({ segment, record });
          }
        }
      return incoming;
    }

    function deadLetter({ topic }: Segment, record: RawRecord, reason: string): Parked {
      logger.warn({ topic, offset: String(record.offset), reason }, 'a record is parked as a dead letter');
      const letter = deadLetterMessage(wire(deadLetterTopic), topic, partition, record, reason, Date.now());
      return { topic, letter };
    }

    /** Decides, and encodes what was decided; a failure of either is the records' fault unless it says otherwise. */
    async function decide(
      batch: readonly Segment[],
      { records, raw, parked }: IncomingBatch,
    ): Promise<{ decision: Decision; events: EncodedDeclared[]; commands: EncodedRecord[] }> {
      try {
        const decision: Decision = records.length > 0 ? await opened.decide(records) : { events: [] };
        const now = Date.now();
        const trace = traceHeaders();
        const encoded = decision.events.map((event) => {
          if (event.declaration.topic !== options.output) {
            throw new EventLogError(
              'invalid_record',
              `${event.declaration.type} is not an event of ${options.output}`,
            );
          }
          return encodeRecord(log, { ...event, partition }, now, trace);
        });
        const events = notingPositions(encoded, positionsAfter(batch));
        const commands = (decision.commands ?? []).map((command) => encodeRecord(log, command, now, trace));
        const { deadLetters = [] } = decision;
        if (deadLetters.length > 0) {
          const originals = new Map(records.map((record, index) => [record, raw[index]]));
          for (const { record, reason } of deadLetters) {
            const original = originals.get(record);
            if (original) parked.push(deadLetter(original.segment, original.record, reason));
          }
        }
        return { decision, events, commands };
      } catch (error) {
        if (isSplit(error, batch)) throw error;
        // What one input waits for, the others need not.
        if (batch.length > 1)
          for (const segment of batch) suspects.apartBefore.set(segment.input, nextOffsetOf(segment));
        if (
          isRetriable(error) ||
          options.isRetriable?.(error) ||
          isConnectionError(error) ||
          protocolErrorType(error) !== undefined
        ) {
          throw error;
        }
        const { message, stack } = asError(error);
        logger.error(
          { err: error, topics: batch.map(({ topic }) => topic), records: recordsIn(batch) },
          'deciding has failed',
        );
        const [segment, ...otherInputs] = batch;
        if (segment && otherInputs.length === 0) suspect(segment, `deciding has failed: ${message}`);
        // Deciding may have left its own memory half changed: it is thrown away with the session.
        throw new OpenAnew(`deciding has failed: ${stack ?? message}`);
      }
    }

    /** Remembers that deciding on these has failed: of several, each is decided alone; one alone is parked at last. */
    function suspect(segment: Segment, reason: string): void {
      const [only, ...others] = segment.records;
      if (only && others.length === 0) {
        const id = suspectId(segment, only.offset);
        const attempts = (suspects.failures.get(id)?.attempts ?? 0) + 1;
        suspects.failures.set(id, { attempts, reason });
      } else suspects.singlyBefore.set(segment.input, nextOffsetOf(segment));
    }

    /**
     * Appends and commits what was decided on a batch, and says in the same transaction how far the inputs are read; answers
     * the offset of each record, the events' first. Where this throws the session ends: nobody knows what was done.
     */
    async function commit(
      batch: readonly Segment[],
      decided: { events: EncodedDeclared[]; commands: EncodedRecord[]; parked: EncodedRecord[] },
    ): Promise<bigint[]> {
      const next = positionsAfter(batch);
      const { events, commands, parked } = decided;
      // What came of events and is nothing may be decided again after a crash. A command was answered.
      const isNothing =
        events.length + commands.length + parked.length === 0 &&
        batch.every(({ input }) => isOfEvents(input));
      if (isNothing && batch.some(({ records }) => !records.every(isOfItsOwner))) isNoted = false;
      const commitsOffsets = isCommitDue();
      const isNoting = events.length === 0 && (!isNothing || (commitsOffsets && isNoteDue()));
      const notes = isNoting ? [inputsRead(log, ownPlace, next)] : [];
      const batches = toBatches([...events, ...notes, ...commands, ...parked], maxBatchBytes);
      let first: bigint[] = [];
      if (commitsOffsets || !isNothing) {
        first = await producer.commit({
          batches: batches.map(({ batch }) => batch),
          offsets: commitsOffsets ? offsetsOf(next) : [],
        });
        for (const [topic, position] of next) committed.set(topic, position);
      }
      noteCommitted(commitsOffsets);
      for (const [topic, position] of next) positions.set(topic, position);
      const offsets: bigint[] = [];
      batches.forEach(({ indexes }, at) => {
        indexes.forEach((index, behind) => (offsets[index] = (first[at] ?? -1n) + BigInt(behind)));
      });
      if (events.length > 0) isNoted = true;
      const [note] = isNoting ? offsets : [];
      if (note !== undefined) noted(note);
      return offsets;
    }

    /** Where to read on once a batch is decided. */
    function positionsAfter(batch: readonly Segment[]): Map<TopicName, bigint> {
      const next = new Map(positions);
      for (const segment of batch) next.set(segment.input, nextOffsetOf(segment));
      return next;
    }

    /** While nothing comes, and at the end, the group's offsets are those of what was done. */
    async function commitOffsets(isNoting: boolean): Promise<void> {
      const records = isNoting ? [inputsRead(log, ownPlace, positions)] : [];
      const batches = toBatches(records, maxBatchBytes).map(({ batch }) => batch);
      const [offset] = await producer.commit({ batches, offsets: offsetsOf(positions) });
      if (offset !== undefined) noted(offset);
      noteCommitted(true);
    }

    /** The output says as much as is known, the last time in a record that services do not fold. */
    function noted(offset: bigint): void {
      isNoted = true;
      noteAt = performance.now() + noteNothingEveryMs;
      foldedUpTo = offset + 1n;
    }

    /** What came of events alone and is nothing need not be said at once. */
    function isNoteDue(): boolean {
      return !isNoted && performance.now() >= noteAt;
    }

    function isCommitDue(): boolean {
      return performance.now() >= commitAt;
    }

    function noteCommitted(isOfGroup: boolean): void {
      isCommitted = isOfGroup;
      if (!isOfGroup) return;
      const isFirst = commitAt === -Infinity;
      commitAt = performance.now() + commitOffsetsEveryMs * (isFirst ? 1 - phase : 1);
    }

    function offsetsOf(next: ReadonlyMap<TopicName, bigint>) {
      const wired = [...next].map(([topic, position]) => [wire(topic), position] as const);
      return committedOffsets(wired, partition, foldedUpTo);
    }

    function folded(
      event: OutgoingRecord,
      encoded: EncodedDeclared | undefined,
      offset: bigint,
    ): FoldedRecord {
      if (!encoded) throw new Error('an event is folded that was not written');
      const { value, headers, timestamp } = encoded.message;
      const { declaration, key, payload } = event;
      return new DecodedRecord(declaration, options.output, partition, key, payload, value, {
        offset,
        timestamp,
        headers,
      });
    }

    /** Replies are not waited for: when they cannot be written, who waits for one runs into its own time limit. */
    function reply(replies: readonly Reply[]): void {
      const now = replies.flatMap(({ to, reply: payload }): OutgoingRecord[] => {
        const instance = to.headers['reply-to'];
        const correlationId = to.headers['correlation-id'];
        if (instance === undefined || correlationId === undefined) return [];
        return [
          {
            declaration: declarations.commandReplied,
            key: instance,
            payload,
            headers: { 'correlation-id': correlationId, 'reply-to': instance },
          },
        ];
      });
      context.replies.write(now).catch((error: unknown) => {
        logger.warn({ err: error }, 'replies could not be sent');
      });
    }

    return {
      positions,
      handle,
      settle,
      async close() {
        connection.close();
        await untilStored().catch(() => undefined);
        await state?.close?.();
      },
    };
  } catch (error) {
    connection.close();
    await state?.close?.().catch(() => undefined);
    throw error;
  }
}
