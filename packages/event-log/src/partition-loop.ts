// Works on one partition number until told to stop: opens a session, feeds it what comes in on every input topic, and
// opens another when something went wrong. Whatever state an error left behind is thrown away with the session.
import type { TopicName } from '@lead-scoring/contracts';
import { asError, EventLogError, isRetriable, PartitionHalted } from './errors.js';
import { internals, type EventLog } from './event-log.js';
import { isConnectionError, isSilence, protocolErrorType } from './kafka-connection.js';
import { quietUntilUnreadyMs, watchLiveness, type Touch } from './liveness.js';
import type { Membership } from './membership.js';
import type { ProcessingMetrics } from './metrics.js';
import {
  createPartitionReader,
  type Fetched,
  type PartitionReader,
  type RawRecord,
} from './partition-reader.js';
import { createRest, type Rest } from './rest.js';
import { lossTold } from './lost-records.js';
import { createSessionLease, isLoss, type OwnSessionLease } from './session-lease.js';
import { pause, unlessAborted } from './timing.js';
import { batchesAtOnce, createTurns, type Turns } from './turns.js';

/** What an input has brought: records, or none. */
export interface Brought {
  topic: TopicName;
  records: RawRecord[];
  /** Where to read on after them. */
  nextOffset: bigint;
}

/** One attempt at working on a partition. Its methods are called one at a time. */
export interface Session {
  /** Where to read each input topic from. */
  readonly positions: ReadonlyMap<TopicName, bigint>;
  /** Takes what an input has brought; of sessions that take several together, what each of several has. */
  handle(brought: readonly Brought[]): Promise<void>;
  /** Stores what it has kept in memory: called now and then while nothing comes, and at an orderly end, then with `isLast`. */
  settle?(isLast: boolean): Promise<void>;
  close(): Promise<void>;
}

/** Thrown by a session that has learned something and wants to be opened anew at once. */
export class OpenAnew extends Error {
  /** @param wasLate it may have been taken for dead: the partition is taken back only once the group confirms it */
  constructor(
    message: string,
    readonly wasLate = false,
  ) {
    super(message);
  }
}

export interface PartitionLoopOptions {
  log: EventLog;
  partition: number;
  inputs: readonly TopicName[];
  membership: () => Membership;
  metrics: ProcessingMetrics;
  maxBytesPerBatch: number;
  /** What inputs have brought when one of them has its turn is handled together. */
  isTogether: boolean;
  /**
   * How long what an input of events has brought waits for what another one brings, to be handled together with it, in
   * milliseconds. An input that is behind does not wait.
   */
  patienceMs(topic: TopicName): number;
  /** Shared by the partitions of a process. */
  turns: Turns;
  /** How many partitions the process works on by now. */
  partitionsInHand(): number;
  /**
   * Of an input of events, in milliseconds: while they keep coming and may wait, from the beginning of a batch to that of the
   * next. 0: each is handled at once.
   */
  eventsEveryMs: number;
  /**
   * Opens a session. `touch` is to be called now and then while that, or anything the session does, takes long; `touchOfLog`
   * where only the brokers have answered, which says nothing of the state's own server once that was silent.
   */
  open(signal: AbortSignal, touch: Touch, touchOfLog: Touch, lease: OwnSessionLease): Promise<Session>;
  /** Whether the group has given the partition to this process, as far as it knows. */
  isMine(): boolean;
  isRetriable(error: unknown): boolean;
  /** Whether an error of the session says that a server was silent, besides the brokers' silence. */
  isSilence(error: unknown): boolean;
  onFatal(error: Error): void;
}

/** What an input has brought, and who waits until it is handled. */
interface Waiting {
  readonly topic: TopicName;
  readonly rest: Rest;
  fetched: Fetched;
  /** Aborted when there is nothing more to wait for before its own turn. */
  readonly patience: AbortController;
  done: () => void;
  readOn(): Promise<void>;
}

/** `stalled`: nothing has moved for 10 s; after 42 s the process is given up. */
export interface PartitionStatus {
  state: 'opening' | 'running' | 'waiting' | 'stalled';
  error?: string;
  /** It stands still until an operator has done something: what is wrong, and what to do. */
  halted?: string;
}

export interface PartitionLoop {
  readonly partition: number;
  state(): PartitionStatus;
  /** Stops after the batch in hand. */
  stop(): Promise<void>;
}

/** Long enough for a long poll, short enough for a prompt stop. */
const maxWaitMs = 500;
/**
 * Of an input of commands, from the beginning of a batch to that of the next it takes five times as long as batches take
 * lately, and at most `longestCycleMs`. That is for as many partitions as have their turns at one time; where a process has
 * more, each rests as much longer. Records that may not wait end the rest. Events are written by who rests, and followed at
 * once.
 */
const cycleFactor = 5;
const longestCycleMs = 150;
/**
 * Nothing comes when there was no batch for two of the longest cycles, for each of which a busy partition has one, or for so
 * many milliseconds.
 */
const longestIdleMs = 3_000;
const longestPauseMs = 5_000;
const failuresUntilFatal = 10;
/** A confirmation by the group that is younger than this is taken as current. */
const confirmationMs = 8_000;

const fenced = new Set([
  'INVALID_PRODUCER_EPOCH',
  'PRODUCER_FENCED',
  'INVALID_PRODUCER_ID_MAPPING',
  'TRANSACTION_COORDINATOR_FENCED',
  'KAFKAJS_UNKNOWN_ERROR_CODE',
]);

export function startPartitionLoop(options: PartitionLoopOptions): PartitionLoop {
  const { log, partition, metrics } = options;
  const logger = log[internals].logger.child({ partition });
  const stopping = new AbortController();
  const stopped = () => stopping.signal.aborted;
  let state: 'opening' | 'running' | 'waiting' = 'opening';
  let lastError: string | undefined;
  let halted: string | undefined;
  const liveness = watchLiveness((quietMs) => {
    const why = lastError === undefined ? '' : `; the last error: ${lastError}`;
    options.onFatal(
      new Error(
        `nothing has moved on partition ${partition} for ${Math.round(quietMs / 1_000)} s while ${state}${why}`,
      ),
    );
  });
  const { touch } = liveness;
  /** Whether the state's server was silent when it was asked last. */
  let isStateSilent = false;
  /** Who waits for the turn that this partition has waits for what moves. */
  const touchAll = () => {
    touch();
    options.turns.progressed();
  };
  const touchOfLog = () => {
    if (!isStateSilent) touchAll();
  };

  async function run(): Promise<void> {
    let failures = 0;
    let unexplained = 0;
    let confirmedSince = 0;
    while (!stopped()) {
      try {
        await options.membership().confirmedSince(confirmedSince, stopping.signal, touchOfLog);
        if (stopped()) return;
        await work(() => {
          failures = 0;
          unexplained = 0;
        });
      } catch (error) {
        if (stopped()) return;
        // A server that is away says so at once and is waited for; one that takes what it is sent and never answers is not
        // told from a connection that leads nowhere, which a new process may not have.
        isStateSilent = options.isSilence(error);
        if (!isStateSilent && !isSilence(error)) touch();
        if (error instanceof OpenAnew) {
          if (error.wasLate) confirmedSince = Date.now();
          continue;
        }
        const type = protocolErrorType(error);
        const passing =
          type !== undefined || isConnectionError(error) || isRetriable(error) || options.isRetriable(error);
        metrics.restart();
        failures++;
        if (!passing) unexplained++;
        lastError = asError(error).message;
        halted = error instanceof PartitionHalted ? error.message : undefined;
        if (halted === undefined) logger.warn({ err: error, failures }, 'the partition is opened anew');
        else logger.error({ err: error }, 'the partition stands still until an operator has done something');
        if (unexplained >= failuresUntilFatal) {
          options.onFatal(
            new Error(`partition ${partition} fails again and again: ${lastError}`, { cause: error }),
          );
          return;
        }
        // Whoever was fenced must hear from the group before it fences in turn.
        const isLost = isLoss(error) || (type !== undefined && fenced.has(type));
        confirmedSince = isLost ? Date.now() : Date.now() - confirmationMs;
        state = 'waiting';
        await pause(Math.min(50 * 2 ** failures, longestPauseMs), stopping.signal);
      }
    }
  }

  /** One session, from its opening to its close. */
  async function work(succeeded: () => void): Promise<void> {
    const lease = createSessionLease(() => (options.isMine() ? options.membership().heldUntil() : -Infinity));
    try {
      state = 'opening';
      const session = await options.open(stopping.signal, touchAll, touchOfLog, lease);
      isStateSilent = false;
      touch();
      state = 'running';
      lastError = undefined;
      halted = undefined;
      try {
        await consume(session, lease, succeeded);
        // Another owner folds anew what was not stored.
        if (options.isMine()) await session.settle?.(true);
      } finally {
        await session.close().catch((error: unknown) => {
          logger.warn({ err: error }, 'a partition was not closed in order');
        });
      }
    } finally {
      lease.end(new EventLogError('closed', 'the session is over', { retriable: true }));
    }
  }

  /** Feeds the session until it fails or the loop is stopped; one batch at a time, whatever topic it is of. */
  async function consume(session: Session, lease: OwnSessionLease, succeeded: () => void): Promise<void> {
    // Stopped while the session was opened: what listens from here on would never hear of it.
    if (stopped()) return;
    const ending = new AbortController();
    /** Who waits for the turn with what its input has brought, in the order in which they came. */
    const waiting = new Set<Waiting>();
    const end = () => {
      ending.abort();
      for (const { patience } of waiting) patience.abort();
    };
    stopping.signal.addEventListener('abort', end);
    const turns = createTurns(1);
    let handledAt = performance.now();

    async function inTurn(isFirst: boolean, work: () => Promise<void>): Promise<void> {
      const turn = await turns.take(touch, isFirst);
      try {
        await work();
      } finally {
        turn.end();
      }
    }

    async function settle(): Promise<void> {
      lease.check();
      if (performance.now() - handledAt >= idleMs()) await session.settle?.(false);
    }

    /** Until what an input has brought is handled: in its own turn, or along with what another has brought. */
    function handled(mine: Waiting): Promise<void> {
      waiting.add(mine);
      // Somebody waits for what comes of a command.
      const isUrgent = !isOfEvents(mine.topic);
      const takeTurn = async () => {
        if (!waiting.has(mine)) return;
        const { end, waited } = await options.turns.take(touch, isUrgent);
        try {
          const together = options.isTogether ? [...waiting] : [mine];
          for (const one of together) {
            waiting.delete(one);
            one.patience.abort();
          }
          if (ending.signal.aborted) return;
          // What came in the meantime is handled along with it.
          if (waited) await Promise.all(together.map((one) => one.readOn()));
          const begun = performance.now();
          lease.check();
          await session.handle(together.map(({ topic, fetched }) => ({ topic, ...fetched })));
          handledAt = performance.now();
          touch();
          succeeded();
          for (const { topic, rest, done } of together) {
            rest.handled(begun, handledAt, (batchMs) => cycleOf(topic, batchMs));
            done();
          }
        } finally {
          end();
        }
      };
      const patienceMs = isBehind(mine.fetched) ? 0 : options.patienceMs(mine.topic);
      const patience = patienceMs > 0 ? pause(patienceMs, mine.patience.signal) : Promise.resolve();
      const ownTurn = patience.then(() => inTurn(isUrgent, takeTurn));
      return new Promise((resolve, reject) => {
        mine.done = resolve;
        ownTurn.then(resolve, reject);
      });
    }

    async function poll(topic: TopicName): Promise<void> {
      const connection = log[internals].connect();
      try {
        const wire = log[internals].wire(topic);
        await connection.open([wire]);
        const reader = createPartitionReader(connection, wire, partition, {
          signal: ending.signal,
          onOffsetLost: lossTold({ logger, metrics, topic, partition }),
        });
        let position = session.positions.get(topic) ?? 0n;
        const rest = createRest(performance.now());
        while (!ending.signal.aborted) {
          let fetched = await unlessAborted(gather(reader, topic, position, rest.until()), ending.signal);
          if (!fetched) break;
          touch();
          // Also when there is nothing but a commit marker: who waits for a position must see that it is reached.
          if (fetched.records.length > 0 || fetched.nextOffset > position) {
            rest.came(performance.now(), cycleOf(topic, Infinity));
            const mine: Waiting = {
              topic,
              fetched,
              rest,
              patience: new AbortController(),
              done: () => undefined,
              async readOn() {
                mine.fetched = await readOn(reader, mine.fetched, 0);
              },
            };
            await handled(mine);
            ({ fetched } = mine);
          } else await inTurn(false, settle);
          metrics.lag(topic, partition, Number(fetched.highWatermark - fetched.nextOffset));
          position = fetched.nextOffset;
          if (isBehind(fetched)) rest.end();
        }
      } finally {
        connection.close();
      }
    }

    try {
      const polls = options.inputs.map((topic) => poll(topic).finally(end));
      const outcomes = await Promise.allSettled(polls);
      const failed = outcomes.find((outcome) => outcome.status === 'rejected');
      if (failed) throw asError(failed.reason);
    } finally {
      stopping.signal.removeEventListener('abort', end);
    }
  }

  /** From the beginning of a batch to that of the next, where batches take so long lately. */
  function cycleOf(topic: TopicName, batchMs: number): number {
    if (isOfEvents(topic)) return options.eventsEveryMs;
    return Math.min(batchMs * cycleFactor, longestCycleMs) * rounds();
  }

  function idleMs(): number {
    return Math.min(2 * longestCycleMs * rounds(), longestIdleMs);
  }

  /** How often the process' partitions have to take turns until all have had one. */
  function rounds(): number {
    return Math.max(1, options.partitionsInHand() / batchesAtOnce);
  }

  /** What there is to handle; until the rest is over, as much as comes in and may wait. */
  async function gather(
    reader: PartitionReader,
    topic: TopicName,
    position: bigint,
    restsUntil: number,
  ): Promise<Fetched> {
    let all = await reader.fetch(position, { maxBytes: options.maxBytesPerBatch, maxWaitMs });
    let seen = 0;
    for (;;) {
      const leftMs = Math.ceil(restsUntil - performance.now());
      const urgent = all.records.slice(seen).some((record) => isUrgent(topic, record));
      if (leftMs <= 0 || urgent || isBehind(all) || bytesIn(all) >= options.maxBytesPerBatch) return all;
      seen = all.records.length;
      all = await readOn(reader, all, leftMs);
      if (stopped()) return all;
    }
  }

  async function readOn(reader: PartitionReader, before: Fetched, forMs: number): Promise<Fetched> {
    const maxBytes = Math.max(1, options.maxBytesPerBatch - bytesIn(before));
    const more = await reader.fetch(before.nextOffset, { maxBytes, maxWaitMs: forMs });
    return { ...more, records: [...before.records, ...more.records] };
  }

  function isUrgent(topic: TopicName, { headers }: RawRecord): boolean {
    if (headers['reply-to'] !== undefined) return true;
    const type = headers.type?.toString();
    return type === undefined || log[internals].schemas.declarationOf(topic, type)?.mayWait !== true;
  }

  const running = run().catch((error: unknown) => {
    options.onFatal(asError(error));
  });

  return {
    partition,
    state: () => ({
      state: liveness.quietMs() < quietUntilUnreadyMs ? state : 'stalled',
      ...(lastError !== undefined && { error: lastError }),
      ...(halted !== undefined && { halted }),
    }),
    async stop() {
      stopping.abort();
      liveness.stop();
      await running;
    },
  };
}

/** Nobody waits for what comes of a single one, and they come in batches already. */
export function isOfEvents(topic: TopicName): boolean {
  return topic.endsWith('.events');
}

/** There was more to read. */
function isBehind({ nextOffset, stableEnd }: Fetched): boolean {
  return nextOffset < stableEnd;
}

function bytesIn({ records }: Fetched): number {
  return records.reduce((sum, { value }) => sum + (value?.length ?? 0), 0);
}

/** Starts and stops partition loops as the group shares out the partitions. */
export function createLoops(start: (partition: number) => PartitionLoop): {
  assign(partitions: readonly number[]): void;
  all(): PartitionLoop[];
  stop(): Promise<void>;
} {
  const loops = new Map<number, PartitionLoop>();
  const closing = new Map<number, Promise<void>>();
  let wanted = new Set<number>();
  let stopped = false;

  function open(partition: number): void {
    if (stopped || loops.has(partition) || !wanted.has(partition)) return;
    const before = closing.get(partition);
    if (before)
      void before.then(() => {
        open(partition);
      });
    else loops.set(partition, start(partition));
  }

  function close(partition: number, loop: PartitionLoop): void {
    loops.delete(partition);
    const done = loop.stop().finally(() => closing.delete(partition));
    closing.set(partition, done);
  }

  return {
    assign(partitions) {
      wanted = new Set(partitions);
      for (const [partition, loop] of loops) if (!wanted.has(partition)) close(partition, loop);
      for (const partition of wanted) open(partition);
    },
    all: () => [...loops.values()],
    async stop() {
      stopped = true;
      for (const [partition, loop] of [...loops]) close(partition, loop);
      await Promise.all(closing.values());
    },
  };
}
