// A partition loop works on one partition number until it is stopped: it opens a session, feeds it, and opens another after an
// error. Whatever state an error left behind is thrown away with the session.
import type { Logger } from 'pino';
import { asError, EventLogError, isRetriable, PartitionHalted } from './errors.js';
import { internals, type EventLog } from './event-log.js';
import { isConnectionError, isSilence, protocolErrorType } from './kafka/kafka-errors.js';
import type { Membership } from './kafka/membership.js';
import { quietUntilUnreadyMs, watchLiveness, type Liveness, type Touch } from './liveness.js';
import type { ProcessingMetrics } from './metrics.js';
import type { CycleMember } from './process-cycle.js';
import { OpenAnew, type PartitionStatus, type Session } from './session.js';
import { createSessionLease, isLoss, type OwnSessionLease } from './session-lease.js';
import { pause } from './timing.js';

export interface PartitionLoopOptions<Of extends Session> {
  log: EventLog;
  partition: number;
  membership: () => Membership;
  metrics: ProcessingMetrics;
  /**
   * Opens a session. `touch` is to be called now and then while that, or anything the session does, takes long; `touchOfLog`
   * where only the brokers have answered, which says nothing of the state's own server once that was silent.
   */
  open(signal: AbortSignal, touch: Touch, touchOfLog: Touch, lease: OwnSessionLease): Promise<Of>;
  /**
   * Feeds a session until the signal is aborted, and then until the batch in hand is handled.
   * @throws the error that ends the session
   */
  feed(member: CycleMember<Of>, signal: AbortSignal): Promise<void>;
  /** Called whenever something has moved: others may wait for this partition. */
  moved(): void;
  /** Whether the group has given the partition to this process, as far as it knows. */
  isMine(): boolean;
  isRetriable(error: unknown): boolean;
  /** Whether an error of the session says that a server was silent, besides the brokers' silence. */
  isSilence(error: unknown): boolean;
  onFatal(error: Error): void;
}

export interface PartitionLoop {
  readonly partition: number;
  state(): PartitionStatus;
  /** Stops after the batch in hand. */
  stop(): Promise<void>;
}

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

export function startPartitionLoop<Of extends Session>(options: PartitionLoopOptions<Of>): PartitionLoop {
  return new SessionLoop(options);
}

class SessionLoop<Of extends Session> implements PartitionLoop {
  readonly partition: number;
  readonly #logger: Logger;
  readonly #liveness: Liveness;
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;
  #state: 'opening' | 'running' | 'waiting' = 'opening';
  #lastError: string | undefined;
  #halted: string | undefined;
  /** Whether the state's server was silent when it was asked last. */
  #isStateSilent = false;
  /** Sessions in a row that have failed. */
  #failures = 0;
  /** Those of them that have failed for no passing cause. */
  #unexplained = 0;
  /** The group must have confirmed this member after this moment before the next session; milliseconds since 1970. */
  #confirmedSince = 0;

  constructor(private readonly options: PartitionLoopOptions<Of>) {
    this.partition = options.partition;
    this.#logger = options.log[internals].logger.child({ partition: options.partition });
    this.#liveness = watchLiveness((quietMs) => this.#stalled(quietMs));
    this.#running = this.#run().catch((error: unknown) => options.onFatal(asError(error)));
  }

  state(): PartitionStatus {
    return {
      state: this.#liveness.quietMs() < quietUntilUnreadyMs ? this.#state : 'stalled',
      ...(this.#lastError !== undefined && { error: this.#lastError }),
      ...(this.#halted !== undefined && { halted: this.#halted }),
    };
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#liveness.stop();
    await this.#running;
    this.options.metrics.release(this.partition);
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    while (!this.#isStopped()) {
      try {
        await this.options.membership().confirmedSince(this.#confirmedSince, signal, this.#touchOfLog);
        if (this.#isStopped()) return;
        await this.#work();
      } catch (error) {
        if (this.#isStopped()) return;
        this.#hear(error);
        if (error instanceof OpenAnew) {
          if (error.wasLate) this.#confirmedSince = Date.now();
          continue;
        }
        this.#noteFailure(error);
        if (this.#unexplained >= failuresUntilFatal) {
          const message = `partition ${this.partition} fails again and again: ${this.#lastError ?? ''}`;
          this.options.onFatal(new Error(message, { cause: error }));
          return;
        }
        // A session that was fenced must hear from the group before the next one fences in turn.
        this.#confirmedSince = mayBeOthers(error) ? Date.now() : Date.now() - confirmationMs;
        this.#state = 'waiting';
        await pause(Math.min(50 * 2 ** this.#failures, longestPauseMs), signal);
      }
    }
  }

  /** One session, from its opening to its close. */
  async #work(): Promise<void> {
    const { options } = this;
    const begun = performance.now();
    const lease = createSessionLease(() =>
      options.isMine() ? options.membership().heldUntil(begun) : -Infinity,
    );
    try {
      this.#state = 'opening';
      const session = await options.open(this.#stopping.signal, this.#touchAll, this.#touchOfLog, lease);
      this.#opened();
      await this.#feed(session, lease);
    } finally {
      lease.end(new EventLogError('closed', 'the session is over', { retriable: true }));
    }
  }

  async #feed(session: Of, lease: OwnSessionLease): Promise<void> {
    const { partition, options } = this;
    const succeeded = () => {
      this.#failures = 0;
      this.#unexplained = 0;
    };
    try {
      const { touch } = this.#liveness;
      await options.feed({ partition, session, lease, touch, succeeded }, this.#stopping.signal);
      // What was not stored is folded anew by another owner.
      if (options.isMine()) await session.settle?.(true);
      await session.release?.();
    } finally {
      await session.close().catch((error: unknown) => {
        this.#logger.warn({ err: error }, 'a partition was not closed in order');
      });
    }
  }

  #opened(): void {
    this.#isStateSilent = false;
    this.#liveness.touch();
    this.#state = 'running';
    this.#lastError = undefined;
    this.#halted = undefined;
  }

  /**
   * A server that refuses connections answers at once and is waited for. A server that takes a request and never answers
   * cannot be told from a connection that leads nowhere, which a new process may not have.
   */
  #hear(error: unknown): void {
    this.#isStateSilent = this.options.isSilence(error);
    if (!this.#isStateSilent && !isSilence(error)) this.#liveness.touch();
  }

  #noteFailure(error: unknown): void {
    this.options.metrics.restart();
    this.#failures += 1;
    if (!this.#isPassing(error)) this.#unexplained += 1;
    this.#lastError = asError(error).message;
    this.#halted = error instanceof PartitionHalted ? error.message : undefined;
    if (this.#halted === undefined)
      this.#logger.warn({ err: error, failures: this.#failures }, 'the partition is opened anew');
    else
      this.#logger.error({ err: error }, 'the partition stands still until an operator has done something');
  }

  #isPassing(error: unknown): boolean {
    return (
      protocolErrorType(error) !== undefined ||
      isConnectionError(error) ||
      isRetriable(error) ||
      this.options.isRetriable(error)
    );
  }

  #stalled(quietMs: number): void {
    const why = this.#lastError === undefined ? '' : `; the last error: ${this.#lastError}`;
    const seconds = Math.round(quietMs / 1_000);
    this.options.onFatal(
      new Error(
        `nothing has moved on partition ${this.partition} for ${seconds} s while ${this.#state}${why}`,
      ),
    );
  }

  readonly #touchAll: Touch = () => {
    this.#liveness.touch();
    this.options.moved();
  };

  readonly #touchOfLog: Touch = () => {
    if (!this.#isStateSilent) this.#touchAll();
  };

  #isStopped(): boolean {
    return this.#stopping.signal.aborted;
  }
}

/** Whether an error says that another process may own the partition by now. */
function mayBeOthers(error: unknown): boolean {
  const type = protocolErrorType(error);
  return isLoss(error) || (type !== undefined && fenced.has(type));
}
