// Failures of the command line: a sentence for a person and an exit code for a script.
import { IngestFailed, RequestFailed, ServiceUnreachable } from '@lead-scoring/client';
import { EventLogError } from '@lead-scoring/event-log';
import { ReadModelError } from '@lead-scoring/read-model';
import { CommanderError } from 'commander';

/** Exit codes of sysexits.h, for scripts. */
export const exitCodes = {
  done: 0,
  /** Only partly done: events were rejected, or doctor found a problem. */
  incomplete: 1,
  usage: 64,
  /** The input is not valid. */
  data: 65,
  unavailable: 69,
  internal: 70,
  /** The credential is missing, not valid, or may not do this. */
  permission: 77,
} as const;

export class CommandFailed extends Error {
  override readonly name = 'CommandFailed';

  constructor(
    message: string,
    readonly exitCode: number,
    options: { cause?: unknown } = {},
  ) {
    super(message, options);
  }
}

/** The message and exit code for a thrown error. The message is null when commander has printed it already. */
export function failureOf(error: unknown): { message: string | null; exitCode: number } {
  if (error instanceof CommanderError)
    return { message: null, exitCode: error.exitCode === 0 ? exitCodes.done : exitCodes.usage };
  if (error instanceof CommandFailed) return { message: error.message, exitCode: error.exitCode };
  if (error instanceof IngestFailed)
    return {
      message: `${failureOf(error.cause).message ?? error.message}\n${error.accepted} events were accepted before; the first event that was not accepted is number ${error.firstIndex + 1}.`,
      exitCode: failureOf(error.cause).exitCode,
    };
  if (error instanceof ServiceUnreachable)
    return {
      message: `${capitalise(error.message)}.\nIs the system running? Start it with \`npm start\`, or name the address of another with --url or LEAD_SCORING_URL.`,
      exitCode: exitCodes.unavailable,
    };
  if (error instanceof RequestFailed)
    return {
      message:
        error.status === 401
          ? `${error.message}\nGive a valid token with --token or LEAD_SCORING_TOKEN.`
          : error.message,
      exitCode: exitCodeOf(error.status),
    };
  if (error instanceof EventLogError)
    return {
      message: `${capitalise(error.message)}.${error.retriable ? '\nIs Kafka running? `lead-scoring doctor` shows the state of the servers.' : ''}`,
      exitCode: error.retriable ? exitCodes.unavailable : exitCodes.data,
    };
  if (error instanceof ReadModelError)
    return { message: `${capitalise(error.message)}.`, exitCode: exitCodes.unavailable };
  if (error instanceof Error && error.name.startsWith('KafkaJS'))
    return {
      message: `Kafka: ${error.message}.\nIs it running? \`lead-scoring doctor\` shows the state of the servers.`,
      exitCode: exitCodes.unavailable,
    };
  if (isOfMissingFile(error)) return { message: `There is no file ${error.path}.`, exitCode: exitCodes.data };
  return {
    message: error instanceof Error ? (error.stack ?? error.message) : String(error),
    exitCode: exitCodes.internal,
  };
}

/**
 * Adds to an error about the organizational unit the flag, variable or file that named the unit: the service knows only the header.
 */
export function withOrgUnitSource(
  error: unknown,
  { ouId, ouIdFrom }: { ouId: string | undefined; ouIdFrom: string | undefined },
): unknown {
  const refused = error instanceof IngestFailed ? error.cause : error;
  if (!(refused instanceof RequestFailed)) return error;
  const advice = adviceOn(refused.problem?.code, ouId, ouIdFrom);
  if (advice === null) return error;
  const { message, exitCode } = failureOf(error);
  return new CommandFailed(`${message ?? ''}\n${advice}`, exitCode, { cause: error });
}

function adviceOn(
  code: string | undefined,
  ouId: string | undefined,
  from: string | undefined,
): string | null {
  if (code === 'org_unit_not_selected') return 'Name one with --ou or LEAD_SCORING_OU.';
  if (code !== 'org_unit_not_allowed' || ouId === undefined || from === undefined) return null;
  return `The organizational unit ${ouId} comes from ${from}; name another one with --ou.`;
}

function isOfMissingFile(error: unknown): error is { path: string } {
  return (
    typeof error === 'object' &&
    error !== null &&
    'code' in error &&
    error.code === 'ENOENT' &&
    'path' in error
  );
}

function exitCodeOf(status: number): number {
  if (status === 401 || status === 403) return exitCodes.permission;
  return status === 429 || status >= 500 ? exitCodes.unavailable : exitCodes.data;
}

function capitalise(sentence: string): string {
  return sentence.charAt(0).toUpperCase() + sentence.slice(1);
}
