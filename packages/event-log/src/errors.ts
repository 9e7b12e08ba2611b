// The errors of the event log: values with a stable code, and whether trying again can help.

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
  | 'closed';

/** An error of the event log. `retriable`: the same call may succeed later, nothing is wrong with its input. */
export class EventLogError extends Error {
  readonly code: EventLogErrorCode;
  readonly retriable: boolean;

  constructor(
    code: EventLogErrorCode,
    message: string,
    options: { retriable?: boolean; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'EventLogError';
    this.code = code;
    this.retriable = options.retriable ?? false;
  }
}

/** The brokers did not acknowledge in time. The records may have been written all the same: send them again with the same ids. */
export class EventLogUnavailable extends EventLogError {
  constructor(message: string, cause?: unknown) {
    super('log_unavailable', message, { retriable: true, cause });
    this.name = 'EventLogUnavailable';
  }
}

/**
 * A partition stands still until an operator has done something; it is tried again and again, and its message says what to do.
 * Nothing is passed over, and nothing is begun anew by itself.
 */
export class PartitionHalted extends EventLogError {
  constructor(code: 'position_beyond_end' | 'unreadable_record', message: string, cause?: unknown) {
    super(code, message, { retriable: true, cause });
    this.name = 'PartitionHalted';
  }
}

/** What is to be read next lies behind what the topic holds. */
export class PositionBeyondEnd extends PartitionHalted {
  constructor(
    readonly place: { topic: string; partition: number; position: bigint; end: bigint },
    cause?: unknown,
  ) {
    const { topic, partition, position, end } = place;
    super(
      'position_beyond_end',
      `${topic} ${partition} is to be read on at ${position} and ends at ${end}: it was cut short, made anew or restored ` +
        'from an older backup. Nothing is read until an operator says from where: docs/runbooks/positions.md',
      cause,
    );
    this.name = 'PositionBeyondEnd';
  }
}

/** A record that is to be folded cannot be read: what is behind it must not be folded without it. */
export class UnreadableRecord extends PartitionHalted {
  constructor(
    { topic, partition, offset }: { topic: string; partition: number; offset: bigint },
    problem: string,
  ) {
    const name = `${topic}:${partition}:${offset}`;
    super(
      'unreadable_record',
      `the record ${name} cannot be read: ${problem}. Nothing behind it is folded. Run a version that knows it; if nobody needs ` +
        `it, set SKIP_RECORDS=${name}: docs/runbooks/stuck-partition.md`,
    );
    this.name = 'UnreadableRecord';
  }
}

/** No reply came in time. The command may still take effect: send it again with the same id to learn its outcome. */
export class ReplyTimeout extends EventLogError {
  constructor(message: string) {
    super('reply_timeout', message, { retriable: true });
    this.name = 'ReplyTimeout';
  }
}

/** A state's word that these records are too many to be decided together; nothing in its memory has changed. */
export class BatchTooLarge extends Error {
  override readonly name = 'BatchTooLarge';
}

/** Whether an error, ours or a database's, says of itself that trying again can help. */
export function isRetriable(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'retriable' in error && error.retriable === true;
}

/** The error itself, or an Error that says what was thrown in place of one. */
export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(`thrown: ${String(thrown)}`);
}
