// A partition loop works on one partition number until it is stopped: it opens a session, feeds it, and opens another
// one after an error. The state that an error left behind is discarded with the session.
import type { Logger } from 'pino';
import { asError, EventLogError, isRetriable, PartitionHalted } from './errors.js';
import { internals, type EventLog } from './event-log.js';
import { isConnectionError, isSilence, protocolErrorType } from './kafka/kafka-errors.js';
import type { Membership } from './kafka/membership.js';
import { quietUntilUnreadyMs, watchLiveness, type Liveness, type Touch } from './liveness.js';
import type { ProcessingMetrics } from './metrics.js';
import type { CycleMember } from './process-cycle.js';
import { ReopenSession, type PartitionStatus, type Session } from './session.js';
import { createSessionLease, isOwnershipLoss, type OwnSessionLease } from './session-lease.js';
import { pause } from './timing.js';

export interface PartitionLoopOptions<Of extends Session> {
  log: EventLog;
  partition: number;
  membership: () => Membership;
  metrics: ProcessingMetrics;
  /**
   * Opens a session. The session calls `touch` to report progress during long work, and `touchByBroker` when only the
   * brokers have answered: after the state's server was silent, answers of brokers are no progress.
   */
  open(signal: AbortSignal, touch: Touch, touchByBroker: Touch, lease: OwnSessionLease): Promise<Of>;
  /**
   * Feeds a session until the signal is aborted, and then until the current batch is handled.
   * @throws the error that ends the session
   */
  feed(member: CycleMember<Of>, signal: AbortSignal): Promise<void>;
  /** Called after progress: other partitions may wait for this one. */
  moved(): void;
  /** Whether the group has assigned the partition to this process, as far as the process knows. */
  isMine(): boolean;
  isRetriable(error: unknown): boolean;
  /** Whether an error of the session is a request timeout of a server other than the brokers. */
  isSilence(error: unknown): boolean;
  onFatal(error: Error): void;
}

export interface PartitionLoop {
  readonly partition: number;
  state(): PartitionStatus;
  /** Stops after the current batch. */
  stop(): Promise<void>;
}

const longestPauseMs = 5_000;
const failuresUntilFatal = 10;
/** Maximum age of a confirmation by the group that a session after an error accepts. */
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
  /** Whether the last request to the state's server timed out. */
  #isStateSilent = false;
  /** Consecutive sessions that have failed. */
  #failures = 0;
  /** Those of them that failed with an error that is not retriable. */
  #permanentFailures = 0;
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
        await this.options.membership().confirmedSince(this.#confirmedSince, signal, this.#touchByBroker);
        if (this.#isStopped()) return;
        await this.#work();
      } catch (error) {
        if (this.#isStopped()) return;
        this.#noteSilence(error);
        if (error instanceof ReopenSession) {
          if (error.needsConfirmation) this.#confirmedSince = Date.now();
          continue;
        }
        this.#noteFailure(error);
        if (this.#permanentFailures >= failuresUntilFatal) {
          const message = `partition ${this.partition} has failed ${failuresUntilFatal} times with permanent errors since its last batch: ${this.#lastError ?? ''}`;
          this.options.onFatal(new Error(message, { cause: error }));
          return;
        }
        // A fenced session needs a confirmation by the group before the next session fences another process.
        this.#confirmedSince = mayHaveLostPartition(error) ? Date.now() : Date.now() - confirmationMs;
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
      options.isMine() ? options.membership().leasedUntil(begun) : -Infinity,
    );
    try {
      this.#state = 'opening';
      const session = await options.open(this.#stopping.signal, this.#touchAll, this.#touchByBroker, lease);
      this.#opened();
      await this.#feed(session, lease);
    } finally {
      lease.end(new EventLogError('closed', 'the session has ended', { retriable: true }));
    }
  }

  async #feed(session: Of, lease: OwnSessionLease): Promise<void> {
    const { partition, options } = this;
    const succeeded = () => {
      this.#failures = 0;
      this.#permanentFailures = 0;
    };
    try {
      const { touch } = this.#liveness;
      await options.feed({ partition, session, lease, touch, succeeded }, this.#stopping.signal);
      // State that is not stored is folded again by the next owner.
      if (options.isMine()) await session.flush?.(true);
      await session.release?.();
    } finally {
      await session.close().catch((error: unknown) => {
        this.#logger.warn({ err: error }, 'a partition could not be closed in order');
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
   * A refused connection is an answer: the partition waits for the server. A request without an answer may mean that
   * this process' connection is broken, which a new process may not have; it is no progress.
   */
  #noteSilence(error: unknown): void {
    this.#isStateSilent = this.options.isSilence(error);
    if (!this.#isStateSilent && !isSilence(error)) this.#liveness.touch();
  }

  #noteFailure(error: unknown): void {
    this.options.metrics.restart();
    this.#failures += 1;
    if (!this.#isTransient(error)) this.#permanentFailures += 1;
    this.#lastError = asError(error).message;
    this.#halted = error instanceof PartitionHalted ? error.message : undefined;
    if (this.#halted === undefined)
      this.#logger.warn(
        { err: error, failures: this.#failures },
        'the session has failed; opening the partition again',
      );
    else this.#logger.error({ err: error }, 'the partition is halted until an operator acts');
  }

  #isTransient(error: unknown): boolean {
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
        `partition ${this.partition} has made no progress for ${seconds} s while ${this.#state}${why}`,
      ),
    );
  }

  readonly #touchAll: Touch = () => {
    this.#liveness.touch();
    this.options.moved();
  };

  readonly #touchByBroker: Touch = () => {
    if (!this.#isStateSilent) this.#touchAll();
  };

  #isStopped(): boolean {
    return this.#stopping.signal.aborted;
  }
}

/** Whether an error implies that another process may own the partition. */
function mayHaveLostPartition(error: unknown): boolean {
  const type = protocolErrorType(error);
  return isOwnershipLoss(error) || (type !== undefined && fenced.has(type));
}
