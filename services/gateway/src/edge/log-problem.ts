// Converts errors of the log to problem answers.
import { EventLogError } from '@lead-scoring/event-log';
import { problem, tryAgain } from '../problem.js';

/** The problem answer for an error of the log; other errors are returned as they are. */
export function asLogProblem(error: unknown, commandId: string): unknown {
  if (!(error instanceof EventLogError)) return error;
  switch (error.code) {
    case 'log_unavailable':
    case 'closed':
      return tryAgain(
        'log_unavailable',
        'The log did not acknowledge in time. Send the request again in a moment.',
        2,
        error,
      );
    case 'log_overloaded':
      return tryAgain(
        'log_overloaded',
        'More events are coming in than the log can write. Send the request again in a moment.',
        1,
        error,
      );
    case 'reply_timeout':
      return problem(
        'reply_timeout',
        `The command ${commandId} was written, and its outcome is not known yet. Send the request again with the same Idempotency-Key to get it: the command takes effect once.`,
        { cause: error, headers: { 'Retry-After': '2' } },
      );
    default:
      return error;
  }
}
