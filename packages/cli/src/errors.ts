// How the command line fails: with a sentence for a person and a code for a script.
import { IngestFailed, RequestFailed, ServiceUnreachable } from '@lead-scoring/client';
import { EventLogError } from '@lead-scoring/event-log';
import { ReadModelError } from '@lead-scoring/read-model';
import { CommanderError } from 'commander';

/** As sysexits.h has them, so that scripts can tell what happened. */
export const exitCodes = {
  done: 0,
  /** Not all of it could be done: events were rejected, doctor found something. */
  incomplete: 1,
  usage: 64,
  /** The input is not what it should be. */
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

/** The sentence and exit code of whatever a command threw; null when commander has already said it. */
export function failureOf(error: unknown): { message: string | null; exitCode: number } {
  if (error instanceof CommanderError)
    return { message: null, exitCode: error.exitCode === 0 ? exitCodes.done : exitCodes.usage };
  if (error instanceof CommandFailed) return { message: error.message, exitCode: error.exitCode };
  if (error instanceof IngestFailed)
    return {
      message: `${failureOf(error.cause).message ?? error.message}\n${error.accepted} events were accepted before; the first that was not is number ${error.firstIndex + 1}.`,
      exitCode: failureOf(error.cause).exitCode,
    };
  if (error instanceof ServiceUnreachable)
    return {
      message: `${capitalised(error.message)}.\nIs the system running? Start it with \`npm start\`, or name another with --url or LEAD_SCORING_URL.`,
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
      message: `${capitalised(error.message)}.${error.retriable ? '\nIs Kafka running? `lead-scoring doctor` tells what is up.' : ''}`,
      exitCode: error.retriable ? exitCodes.unavailable : exitCodes.data,
    };
  if (error instanceof ReadModelError)
    return { message: `${capitalised(error.message)}.`, exitCode: exitCodes.unavailable };
  if (error instanceof Error && error.name.startsWith('KafkaJS'))
    return {
      message: `Kafka: ${error.message}.\nIs it running? \`lead-scoring doctor\` tells what is up.`,
      exitCode: exitCodes.unavailable,
    };
  if (isOfMissingFile(error)) return { message: `There is no file ${error.path}.`, exitCode: exitCodes.data };
  return {
    message: error instanceof Error ? (error.stack ?? error.message) : String(error),
    exitCode: exitCodes.internal,
  };
}

/** An organizational unit is named by the service as its header; whoever sits here has named it in another way. */
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

function capitalised(sentence: string): string {
  return sentence.charAt(0).toUpperCase() + sentence.slice(1);
}
