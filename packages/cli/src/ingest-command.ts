// `lead-scoring ingest`: sends a file of events.
import type { Readable } from 'node:stream';
import { IngestFailed, RequestFailed, type Client } from '@lead-scoring/client';
import { clientOf } from './api-client.js';
import { CommandFailed, exitCodes, failureOf } from './errors.js';
import { openEvents, type EventFormat, type EventSource } from './event-source.js';
import { countRepeats, report } from './ingest-report.js';
import { initMapping } from './init-mapping.js';
import { mappingOf, type MappingFlags } from './mapping-flags.js';
import { plain, progressBar, type Output } from './output.js';
import type { Settings } from './settings.js';

export interface IngestFlags extends MappingFlags {
  format?: EventFormat;
  /** File for the proposed mapping, or true for standard output. */
  initMapping?: string | true;
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
  if (flags.initMapping !== undefined)
    return initMapping(file, flags.initMapping === true ? null : flags.initMapping, output, stdin);
  const mapping = await mappingOf(flags);
  const source = await openEvents(file, {
    ...(flags.format && { format: flags.format }),
    ...(mapping && { mapping }),
    allowsEmptyTimestamp: flags.emptyTimestamp === 'now',
    stdin,
  });
  if (mapping && source.format !== 'csv')
    throw new CommandFailed(
      `A mapping is for CSV, and this is ${source.format}. Leave the mapping out, or add --format csv.`,
      exitCodes.usage,
    );
  if (flags.dryRun === true) return show(source, output);
  const client = clientOf(settings);
  const started = Date.now();
  let retries = 0;
  const result = await send(client, source, flags, { output, onRetry: () => (retries += 1) });
  const seconds = (Date.now() - started) / 1_000;
  const repeats = await countRepeats(client, result);
  return report({ result, repeats, source, retries, seconds }, output, flags.json === true);
}

async function send(
  client: Client,
  source: EventSource,
  { batch, concurrency, history, run }: IngestFlags,
  { output, onRetry }: { output: Output; onRetry: () => void },
): ReturnType<Client['ingest']> {
  const bar = progressBar(output, source.bytes, 'events');
  const stop = new AbortController();
  const interrupt = () => {
    stop.abort(
      new CommandFailed(
        'Interrupted. The acknowledged events are stored. The file can be sent again without counting them twice if the events have an event_id, or the run had a name (--run).',
        exitCodes.incomplete,
      ),
    );
  };
  process.once('SIGINT', interrupt);
  try {
    return await client.ingest(source.events, {
      partial: true,
      batchSize: wholeNumber('--batch', batch ?? '1000', 1, 5_000),
      concurrency: wholeNumber('--concurrency', concurrency ?? '2', 1, 32),
      history: history === true,
      signal: stop.signal,
      ...(run !== undefined && { idempotencyKey: (number: number) => `${run}-${number}` }),
      onBatch: ({ accepted, rejected }) => {
        bar.update(source.bytesRead(), accepted + rejected);
      },
      onRetry,
    });
  } catch (error) {
    const line = isAboutEvents(error) ? source.lineOf(error.firstIndex) : null;
    if (line === null) throw error;
    const { message, exitCode } = failureOf(error);
    throw new CommandFailed(`${message ?? ''}\nIt is in line ${line} of the file.`, exitCode, {
      cause: error,
    });
  } finally {
    bar.stop();
    process.off('SIGINT', interrupt);
  }
}

/** Whether the events of a batch are the reason for its refusal, and not the credential or the address. */
function isAboutEvents(error: unknown): error is IngestFailed {
  if (!(error instanceof IngestFailed && error.cause instanceof RequestFailed)) return false;
  const { status, problem } = error.cause;
  return [400, 413, 422].includes(status) && problem?.code.startsWith('org_unit') !== true;
}

async function show({ events, problems, notices }: EventSource, output: Output): Promise<number> {
  for await (const event of events) output.write(`${JSON.stringify(event)}\n`);
  for (const notice of notices) output.note(`${plain(notice)}\n`);
  for (const { line, message } of problems) output.note(`line ${line}: ${plain(message)}\n`);
  return problems.length > 0 ? exitCodes.incomplete : exitCodes.done;
}

/**
 * The whole number in a flag.
 * @throws CommandFailed with the allowed range
 */
export function wholeNumber(flag: string, text: string, minimum: number, maximum: number): number {
  const value = Number(text);
  if (/^\d{1,9}$/.test(text) && value >= minimum && value <= maximum) return value;
  throw new CommandFailed(
    `${flag} must be a whole number from ${minimum} to ${maximum}, not "${text}".`,
    exitCodes.usage,
  );
}
