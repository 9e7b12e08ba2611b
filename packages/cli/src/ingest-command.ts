// `lead-scoring ingest`: sends a file of events.
import { readFile } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { createClient, type EventToSend } from '@lead-scoring/client';
import { z } from 'zod';
import { csvMapping, type CsvMapping } from './csv-mapping.js';
import { CommandFailed, exitCodes } from './errors.js';
import { openEvents, type EventFormat } from './event-source.js';
import { duration, plain, progressBar, type Output } from './output.js';
import type { Settings } from './settings.js';

export interface IngestFlags {
  format?: EventFormat;
  mapping?: string;
  aliasKind?: string;
  aliasColumn?: string;
  eventType?: string;
  eventTypeColumn?: string;
  timestampColumn?: string;
  eventIdColumn?: string;
  repeatColumn?: string;
  metadataColumns?: string;
  history?: boolean;
  batch?: string;
  concurrency?: string;
  run?: string;
  dryRun?: boolean;
  json?: boolean;
}

/** @returns the exit code */
export async function ingest(
  file: string,
  flags: IngestFlags,
  settings: Settings,
  output: Output,
  stdin: Readable,
): Promise<number> {
  const mapping = await mappingOf(flags);
  const source = await openEvents(file, {
    ...(flags.format && { format: flags.format }),
    ...(mapping && { mapping }),
    stdin,
  });
  if (mapping && source.format !== 'csv')
    throw new CommandFailed(
      `A mapping is for CSV, and this is ${source.format}. Leave the mapping out, or say --format csv.`,
      exitCodes.usage,
    );
  if (flags.dryRun === true) return show(source.events, source.problems, output);
  const started = Date.now();
  const bar = progressBar(output, source.bytes, 'events');
  let retries = 0;
  const stop = new AbortController();
  const interrupt = () => {
    stop.abort(
      new CommandFailed(
        'Interrupted. What was acknowledged is in; give events an event_id, or --run a name, to be able to send the file again.',
        exitCodes.incomplete,
      ),
    );
  };
  process.once('SIGINT', interrupt);
  const { run } = flags;
  const result = await createClient({
    baseUrl: settings.apiUrl,
    ...(settings.token !== undefined && { token: settings.token }),
    ...(settings.ouId !== undefined && { ouId: settings.ouId }),
  })
    .ingest(source.events, {
      partial: true,
      batchSize: wholeNumber('--batch', flags.batch ?? '1000', 1, 5_000),
      concurrency: wholeNumber('--concurrency', flags.concurrency ?? '2', 1, 32),
      history: flags.history === true,
      signal: stop.signal,
      ...(run !== undefined && { idempotencyKey: (batch: number) => `${run}-${batch}` }),
      onBatch: ({ accepted, rejected }) => {
        bar.update(source.bytesRead(), accepted + rejected);
      },
      onRetry: () => (retries += 1),
    })
    .finally(() => {
      bar.stop();
      process.off('SIGINT', interrupt);
    });
  const seconds = (Date.now() - started) / 1_000;
  if (flags.json === true)
    output.write(`${JSON.stringify({ ...result, unreadable: source.problems, retries, seconds })}\n`);
  else {
    const rate = Math.round(result.accepted / Math.max(seconds, 0.001));
    output.write(
      `${result.accepted.toLocaleString('en')} events accepted in ${duration(seconds)} (${rate.toLocaleString('en')}/s)\n`,
    );
    if (retries > 0) output.note(`${retries} requests had to be sent again.\n`);
    for (const { line, message } of source.problems.slice(0, 20))
      output.note(`line ${line}: ${plain(message)}\n`);
    for (const { index, errors } of result.rejected.slice(0, 20))
      output.note(
        `event ${index + 1}: ${errors.map(({ path, message }) => `${plain(path)} ${plain(message)}`).join('; ')}\n`,
      );
    const refused = result.rejected.length + source.problems.length;
    if (refused > 0)
      output.note(`${refused} not taken${refused > 20 ? '; the first are above, --json lists all' : ''}.\n`);
  }
  return result.rejected.length + source.problems.length > 0 ? exitCodes.incomplete : exitCodes.done;
}

async function show(
  events: AsyncIterable<EventToSend>,
  problems: { line: number; message: string }[],
  output: Output,
): Promise<number> {
  for await (const event of events) output.write(`${JSON.stringify(event)}\n`);
  for (const { line, message } of problems) output.note(`line ${line}: ${plain(message)}\n`);
  return problems.length > 0 ? exitCodes.incomplete : exitCodes.done;
}

const columnFlags = [
  'aliasColumn',
  'aliasKind',
  'eventType',
  'eventTypeColumn',
  'timestampColumn',
  'eventIdColumn',
  'repeatColumn',
  'metadataColumns',
] as const;

async function mappingOf(flags: IngestFlags): Promise<CsvMapping | null> {
  const given = columnFlags.filter((flag) => flags[flag] !== undefined);
  if (flags.mapping !== undefined) {
    if (given.length > 0)
      throw new CommandFailed('Give a mapping file or flags for the columns, not both.', exitCodes.usage);
    const text = await readFile(flags.mapping, 'utf8');
    let content: unknown;
    try {
      content = JSON.parse(text) as unknown;
    } catch (error) {
      throw new CommandFailed(`${flags.mapping} is not JSON.`, exitCodes.data, { cause: error });
    }
    const mapping = csvMapping.safeParse(content);
    if (!mapping.success)
      throw new CommandFailed(
        `${flags.mapping} is not a mapping:\n${z.prettifyError(mapping.error)}`,
        exitCodes.data,
      );
    return mapping.data;
  }
  if (given.length === 0) return null;
  const { aliasColumn, eventType, eventTypeColumn } = flags;
  if (aliasColumn === undefined)
    throw new CommandFailed('--alias-column must name the column that names the lead.', exitCodes.usage);
  if ((eventType === undefined) === (eventTypeColumn === undefined))
    throw new CommandFailed('Give either --event-type or --event-type-column.', exitCodes.usage);
  const column = (name: string | undefined) => (name === undefined ? undefined : { column: name });
  return csvMapping.parse({
    alias: { kind: flags.aliasKind ?? 'email', column: aliasColumn },
    events: [
      {
        event_type: eventType !== undefined ? { fixed: eventType } : { column: eventTypeColumn },
        timestamp: column(flags.timestampColumn),
        event_id: column(flags.eventIdColumn),
        repeat: column(flags.repeatColumn),
      },
    ],
    metadata:
      flags.metadataColumns === undefined
        ? {}
        : {
            columns: flags.metadataColumns
              .split(',')
              .map((name) => name.trim())
              .filter(Boolean),
          },
  });
}

/** A flag's whole number, or a refusal that says what is allowed. */
export function wholeNumber(flag: string, text: string, minimum: number, maximum: number): number {
  const value = Number(text);
  if (/^\d{1,9}$/.test(text) && value >= minimum && value <= maximum) return value;
  throw new CommandFailed(
    `${flag} must be a whole number from ${minimum} to ${maximum}, not "${text}".`,
    exitCodes.usage,
  );
}
