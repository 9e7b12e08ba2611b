// The errors of the event log: each has a stable code and says whether a retry can succeed.

export type EventLogErrorCode =
  | 'log_unavailable'
  | 'log_overloaded'
  | 'reply_timeout'
  | 'invalid_record'
  | 'unknown_record_type'
  | 'undecodable_record'
  | 'record_too_large'
  | 'incompatible_schema'
  | 'topic_mismatch'
  | 'too_few_brokers'
  | 'invalid_settings'
  | 'not_prepared'
  | 'position_beyond_end'
  | 'unreadable_record'
  | 'lease_ended'
  | 'log_in_use'
  | 'erasure_unfinished'
  | 'erasure_failed'
  | 'backup_refused'
  | 'backup_damaged'
  | 'restore_unfinished'
  | 'restore_failed'
  | 'closed';

/** Codes of errors that last until an operator changes a setting. */
const settingsFaults: ReadonlySet<EventLogErrorCode> = new Set(['topic_mismatch', 'invalid_settings']);

/** An error of the event log. `retriable`: the same call may succeed later, because its input is valid. */
export class EventLogError extends Error {
  readonly code: EventLogErrorCode;
  readonly retriable: boolean;
  /** Whether every start fails until an operator changes a setting: a process that starts then exits with 78. */
  readonly isSettingsFault: boolean;

  constructor(
    code: EventLogErrorCode,
    message: string,
    options: { retriable?: boolean; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'EventLogError';
    this.code = code;
    this.retriable = options.retriable ?? false;
    this.isSettingsFault = settingsFaults.has(code);
  }
}

/**
 * The brokers did not acknowledge in time. The records may have been written nevertheless: send them again with the
 * same ids.
 */
export class EventLogUnavailable extends EventLogError {
  /**
   * The server answered and refused the credentials of this process. A running process retries, because an operator may
   * restore the access; a process that starts ends, because its settings are wrong and waiting does not change them.
   */
  readonly isAccessRefused: boolean;

  constructor(message: string, cause?: unknown, { isAccessRefused = false } = {}) {
    super('log_unavailable', message, { retriable: true, cause });
    this.name = 'EventLogUnavailable';
    this.isAccessRefused = isAccessRefused;
  }
}

/**
 * A partition is halted until an operator acts. The processor retries it, and the message says what to do. No record is
 * skipped, and no state is dropped automatically.
 */
export class PartitionHalted extends EventLogError {
  constructor(code: 'position_beyond_end' | 'unreadable_record', message: string, cause?: unknown) {
    super(code, message, { retriable: true, cause });
    this.name = 'PartitionHalted';
  }
}

/** The next position to read is beyond the end of the topic. */
export class PositionBeyondEnd extends PartitionHalted {
  constructor(
    readonly place: { topic: string; partition: number; position: bigint; end: bigint },
    cause?: unknown,
  ) {
    const { topic, partition, position, end } = place;
    super(
      'position_beyond_end',
      `${topic} ${partition} ends at ${end}, before the next position to read, ${position}: it was truncated, recreated or restored ` +
        'from an older backup. The partition is halted until an operator states where to continue: docs/runbooks/positions.md',
      cause,
    );
    this.name = 'PositionBeyondEnd';
  }
}

/** A record of the history cannot be decoded, so the records after it must not be folded. */
export class UnreadableRecord extends PartitionHalted {
  constructor(
    { topic, partition, offset }: { topic: string; partition: number; offset: bigint },
    problem: string,
  ) {
    const name = `${topic}:${partition}:${offset}`;
    super(
      'unreadable_record',
      `the record ${name} cannot be read: ${problem}. No record after it is folded. Run a version that knows its type; if nobody needs ` +
        `it, set SKIP_RECORDS=${name}: docs/runbooks/stuck-partition.md`,
    );
    this.name = 'UnreadableRecord';
  }
}

/** No reply arrived in time. The command may still take effect: send it again with the same id to learn its outcome. */
export class ReplyTimeout extends EventLogError {
  constructor(message: string) {
    super('reply_timeout', message, { retriable: true });
    this.name = 'ReplyTimeout';
  }
}

/** Thrown by a state when it cannot decide on these records together; its memory is unchanged. */
export class BatchTooLarge extends Error {
  override readonly name = 'BatchTooLarge';
}

/** Whether an error of this package or of a database is marked `retriable`. */
export function isRetriable(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'retriable' in error && error.retriable === true;
}

/** The thrown error, or an Error that describes a thrown value of another kind. */
export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(`thrown: ${String(thrown)}`);
}
