// `lead-scoring export`: all events, or some of them, into a file that goes on where it was broken off.
import { createReadStream } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import type { Client } from '@lead-scoring/client';
import { clientOf, longTries, mayPass, promptRetries } from './api-client.js';
import { CommandFailed, exitCodes, failureOf } from './errors.js';
import { leadIdFrom } from './leads-commands.js';
import { progressBar, type Output, type Progress } from './output.js';
import type { Settings } from './settings.js';
import { cursorIn, WholeLines, type ExportFormat } from './whole-lines.js';

export interface ExportFlags {
  type?: string;
  from?: string;
  to?: string;
  lead?: string;
  alias?: string;
  columns?: string;
  as?: ExportFormat;
  resume?: boolean;
}

interface Filters {
  event_type?: string;
  from?: string;
  to?: string;
  lead_id?: string;
  alias?: string;
}

/** How far an export is. */
interface Exported {
  /** The cursor of the last line that was written; null: none was. */
  cursor: string | null;
  hasHeader: boolean;
  lines: number;
}

/**
 * @param file a path, or `-` for standard output
 * @returns the exit code
 */
export async function exportEvents(
  file: string,
  flags: ExportFlags,
  settings: Settings,
  output: Output,
): Promise<number> {
  const { columns, as: format = 'csv', resume = false } = flags;
  if (columns !== undefined && format === 'ndjson')
    throw new CommandFailed('--columns is for CSV: a line of NDJSON has all metadata.', exitCodes.usage);
  const client = clientOf(settings, promptRetries);
  const filters = await filtersOf(flags, settings, client);
  const sink = file === '-' ? null : await openFile(file, resume);
  const stop = new AbortController();
  const interrupt = () => {
    stop.abort(
      new CommandFailed(
        'Interrupted. The file ends with a whole line; the same command with --resume goes on after it.',
        exitCodes.incomplete,
      ),
    );
  };
  process.once('SIGINT', interrupt);
  let bar: Progress | null = null;
  try {
    const at =
      sink && resume ? await endOf(file, sink, format) : { cursor: null, hasHeader: false, lines: 0 };
    const { total } = await client.call('listEvents', {
      query: { ...filters, limit: 1 },
      signal: stop.signal,
    });
    const already = at.lines;
    bar = progressBar(output, Math.max(0, total - already), 'events');
    const shown = bar;
    const write = async (bytes: Buffer) => {
      if (sink) await sink.appendFile(bytes);
      else output.write(bytes.toString());
      shown.update(at.lines - already, at.lines - already);
    };
    const query = { ...filters, ...(columns !== undefined && { columns }) };
    await download(client, { query, format, signal: stop.signal }, at, write);
    bar.stop();
    if (sink) output.note(`${at.lines.toLocaleString('en')} events are in ${file}.\n`);
    return exitCodes.done;
  } finally {
    bar?.stop();
    process.off('SIGINT', interrupt);
    await sink?.close();
  }
}

async function filtersOf(
  { type, from, to, lead, alias }: ExportFlags,
  settings: Settings,
  client: Client,
): Promise<Filters> {
  return {
    ...(type !== undefined && { event_type: type }),
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
    ...(lead !== undefined && { lead_id: await leadIdFrom(lead, settings, client) }),
    ...(alias !== undefined && { alias }),
  };
}

/** @throws CommandFailed when the file is there and must not be changed */
async function openFile(file: string, resume: boolean): Promise<FileHandle> {
  try {
    return await open(file, resume ? 'a+' : 'ax');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw new CommandFailed(
      `There is a file ${file} already. Name another one, or go on after its last line with --resume.`,
      exitCodes.usage,
      { cause: error },
    );
  }
}

/** How far the file is; what follows its last whole line is cut off. */
async function endOf(file: string, sink: FileHandle, format: ExportFormat): Promise<Exported> {
  const whole = new WholeLines(format);
  const at: Exported = { cursor: null, hasHeader: false, lines: 0 };
  let end = 0;
  for await (const part of createReadStream(file)) {
    const { bytes, lines } = whole.take(part as Buffer);
    end += bytes.length;
    count(at, bytes, lines, format);
  }
  if (at.lines > 0 && at.cursor === null)
    throw new CommandFailed(`${file} is no export of this command as ${format}.`, exitCodes.data);
  await sink.truncate(end);
  return at;
}

function count(at: Exported, bytes: Buffer, lines: number, format: ExportFormat): void {
  if (lines === 0) return;
  at.lines += format === 'csv' && !at.hasHeader ? lines - 1 : lines;
  at.hasHeader = true;
  at.cursor = cursorIn(bytes, format) ?? at.cursor;
}

interface Download {
  query: Filters & { columns?: string };
  format: ExportFormat;
  signal: AbortSignal;
}

/** Writes whole lines until the end; an answer that breaks off is asked for again from the last line. */
async function download(
  client: Client,
  { query, format, signal }: Download,
  at: Exported,
  write: (bytes: Buffer) => Promise<void>,
): Promise<void> {
  for (let tried = 1; ; tried += 1) {
    const before = at.lines;
    try {
      const parts = await client.open('exportEvents', {
        query: { ...query, ...(at.cursor !== null && { cursor: at.cursor }) },
        accept: format === 'csv' ? 'text/csv' : 'application/x-ndjson',
        signal,
      });
      const whole = new WholeLines(format);
      // After a try that broke off behind the header, the header comes again.
      let isRepeated = format === 'csv' && at.cursor === null && at.hasHeader;
      for await (const part of parts) {
        const taken = whole.take(part);
        const from = isRepeated && taken.lines > 0 ? taken.bytes.indexOf('\n') + 1 : 0;
        const bytes = taken.bytes.subarray(from);
        count(at, bytes, from > 0 ? taken.lines - 1 : taken.lines, format);
        if (taken.lines > 0) isRepeated = false;
        if (bytes.length > 0) await write(bytes);
      }
      return;
    } catch (error) {
      signal.throwIfAborted();
      if (at.lines > before) tried = 0;
      if (tried >= longTries.most || !mayPass(error)) throw withAdvice(error);
      await wait(longTries.waitMs(tried), undefined, { signal });
    }
  }
}

function withAdvice(error: unknown): unknown {
  if (!mayPass(error)) return error;
  const { message, exitCode } = failureOf(error);
  return new CommandFailed(
    `${message ?? ''}\nThe same command with --resume goes on after the last line of the file.`,
    exitCode,
    { cause: error },
  );
}
