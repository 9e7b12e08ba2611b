// Reads the events of a body in any of the declared media types.
import {
  eventsOfCsvRows,
  eventsOfJson,
  eventsOfNdjson,
  routeDeclarations,
  type SentEvent,
} from '@lead-scoring/contracts';
import { decodeUtf8, parseJson, ProblemError, type Body } from '@lead-scoring/service';
import { parse } from 'csv-parse/sync';

/** @throws ProblemError 400 when the body cannot be read as a batch of events */
export function eventsOf({ type, bytes }: Body): SentEvent[] {
  const text = decodeUtf8(bytes);
  const read = eventsIn(type, text);
  if (Array.isArray(read)) return read;
  const errors = read.errors.map(({ path, message }) => ({
    path: path === '' ? 'body' : `body.${path}`,
    message,
  }));
  const [first] = errors;
  throw new ProblemError(400, read.code, `${first?.path ?? 'body'} ${first?.message ?? 'is not valid'}.`, {
    errors,
  });
}

function eventsIn(type: string, text: string): ReturnType<typeof eventsOfJson> {
  switch (type) {
    case 'application/x-ndjson':
      return eventsOfNdjson(text);
    case 'text/csv':
      return eventsOfCsvRows(rowsOf(text));
    default:
      // The nesting depth is checked later for each event, where the error can name the event.
      return eventsOfJson(parseJson(text, { maximumDepth: Infinity }));
  }
}

function rowsOf(text: string): string[][] {
  try {
    return parse(text, {
      relax_column_count: true,
      skip_empty_lines: true,
      // The header and one row more than allowed, so that too many rows are noticed.
      to: routeDeclarations.intakeLimits.events + 2,
    });
  } catch (error) {
    const line = error instanceof Error && 'lines' in error ? ` in line ${String(error.lines)}` : '';
    throw new ProblemError(
      400,
      'invalid_request',
      `The body is not valid CSV${line}: quotes must enclose a whole cell, and be doubled within one.`,
      { cause: error },
    );
  }
}
