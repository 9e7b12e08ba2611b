// `lead-scoring ingest`: sends a file of events.
import type { Readable } from 'node:stream';
import { IngestFailed, RequestFailed, type Client, type IngestResult } from '@lead-scoring/client';
import { clientOf } from './api-client.js';
import { CommandFailed, exitCodes, failureOf } from './errors.js';
import { openEvents, type EventFormat, type EventSource } from './event-source.js';
import { remedyOf, sendHistory, type HistoryToSend, type SentHistory } from './import-history.js';
import { countRepeats, report } from './ingest-report.js';
import { initMapping } from './init-mapping.js';
import { mappingOf, type MappingFlags } from './mapping-flags.js';
import { plain, progressBar, type Output } from './output.js';
import type { Settings } from './settings.js';
import { eventsIn, waitingNotes } from './waiting-notes.js';

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
  const reading = {
    ...(flags.format && { format: flags.format }),
    ...(mapping && { mapping }),
    allowsEmptyTimestamp: flags.emptyTimestamp === 'now',
  };
  const open = () => openEvents(file, { ...reading, stdin });
  const source = await open();
  if (mapping && source.format !== 'csv')
    throw new CommandFailed(
      `A mapping is for CSV, and this is ${source.format}. Leave the mapping out, or add --format csv.`,
      exitCodes.usage,
    );
  if (flags.dryRun === true) return show(source, output);
  const client = clientOf(settings);
  const started = Date.now();
  let retries = 0;
  const onRetry = () => (retries += 1);
  const sent =
    flags.history === true
      ? await sendAsHistory(
          client,
          { file, source, reopen: open, run: flags.run, reading: [settings.ouId, reading] },
          flags,
          { output, onRetry },
        )
      : { source, result: await sendInBatches(client, source, flags, { output, onRetry }) };
  const seconds = (Date.now() - started) / 1_000;
  const repeats = await countRepeats(client, sent.result);
  return report({ ...sent, repeats, retries, seconds }, output, flags.json === true);
}

interface Sending {
  output: Output;
  onRetry: () => void;
}

async function sendAsHistory(
  client: Client,
  history: HistoryToSend,
  { batch, concurrency }: IngestFlags,
  sending: Sending,
): Promise<SentHistory> {
  if (batch !== undefined || concurrency !== undefined)
    throw new CommandFailed('--history is one upload: leave out --batch and --concurrency.', exitCodes.usage);
  const remedy = remedyOf(history.file !== '-' || history.run !== undefined);
  return untilInterrupted(
    () => remedy,
    (signal) => sendHistory(client, history, { ...sending, signal }),
  );
}

async function sendInBatches(
  client: Client,
  source: EventSource,
  { batch, concurrency, run }: IngestFlags,
  { output, onRetry }: Sending,
): Promise<IngestResult> {
  const bar = progressBar(output, source.bytes, 'events');
  let accepted = 0;
  const noteWait = waitingNotes(output, () => accepted);
  const remedy =
    'The file can be sent again without counting them twice if the events have an event_id, or the run had a name (--run).';
  try {
    return await untilInterrupted(
      () => `${eventsIn(accepted)} ${remedy}`,
      (signal) =>
        client.ingest(source.events, {
          partial: true,
          batchSize: wholeNumber('--batch', batch ?? '1000', 1, 5_000),
          concurrency: wholeNumber('--concurrency', concurrency ?? '2', 1, 32),
          signal,
          ...(run !== undefined && { idempotencyKey: (number: number) => `${run}-${number}` }),
          onBatch: (counts) => {
            accepted = counts.accepted;
            bar.update(source.bytesRead(), counts.accepted + counts.rejected);
          },
          onRetry: (why, waitMs) => {
            noteWait(why, waitMs);
            onRetry();
          },
        }),
    );
  } catch (error) {
    const line = isAboutEvents(error) ? source.lineOf(error.firstIndex) : null;
    if (line === null) throw error;
    const { message, exitCode } = failureOf(error);
    throw new CommandFailed(`${message ?? ''}\nIt is in line ${line} of the file.`, exitCode, {
      cause: error,
    });
  } finally {
    bar.stop();
  }
}

/** @throws CommandFailed with the remedy, when the command is interrupted (Ctrl-C) */
async function untilInterrupted<Result>(
  remedy: () => string,
  send: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const stop = new AbortController();
  const interrupt = () => {
    stop.abort(new CommandFailed(`Interrupted. ${remedy()}`, exitCodes.incomplete));
  };
  process.once('SIGINT', interrupt);
  try {
    return await send(stop.signal);
  } finally {
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
