// `lead-scoring import FILE`: uploads a table of leads, shows what its columns were taken for, and imports it when that is right.
import { createReadStream } from 'node:fs';
import { open, readFile, stat, unlink } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { CallAnswer, Client } from '@lead-scoring/client';
import {
  routeDeclarations,
  suggestedLeadImportMapping,
  type LeadImportMapping,
  type SuggestedLeadImportMapping,
} from '@lead-scoring/contracts';
import { z } from 'zod';
import { clientOf, promptRetries } from './api-client.js';
import { CommandFailed, exitCodes } from './errors.js';
import { endOfJob } from './job-progress.js';
import { mappedIn, meaningForms, meaningIn, withMeaning, wordsFor } from './lead-import-mapping.js';
import { ensureNew, writeNew } from './new-file.js';
import { plain, progressBar, table, type Output } from './output.js';
import type { Settings } from './settings.js';

export interface LeadImportFlags {
  mapping?: string;
  map?: string[];
  saveMapping?: string;
  errors?: string;
  dryRun?: boolean;
  yes?: boolean;
  json?: boolean;
}

type Preview = routeDeclarations.LeadImportPreview;
type Mapping = SuggestedLeadImportMapping;

interface Surroundings {
  settings: Settings;
  output: Output;
  stdin: Readable & { isTTY?: boolean };
}

/**
 * @param file a path, or `-` for standard input
 * @returns the exit code
 */
export async function importLeads(
  file: string,
  flags: LeadImportFlags,
  { settings, output, stdin }: Surroundings,
): Promise<number> {
  for (const made of [flags.saveMapping, flags.errors]) if (made !== undefined) await ensureNew(made);
  const given = flags.mapping === undefined ? null : await mappingIn(flags.mapping);
  const client = clientOf(settings, promptRetries);
  const preview = await upload(file, client, { output, stdin });
  const proposed = withFlags(given ?? preview.suggested_mapping, flags.map ?? [], preview.headers);
  const isAsked = flags.yes !== true && flags.dryRun !== true && stdin.isTTY === true && file !== '-';
  if (flags.json === true) output.write(`${JSON.stringify({ ...preview, mapping: proposed }, null, 2)}\n`);
  else show(preview, proposed, output);
  const mapping = isAsked ? await asked(preview, proposed, { output, stdin }) : proposed;
  if (!mapping) {
    output.note('Nothing was imported.\n');
    return exitCodes.done;
  }
  if (flags.saveMapping !== undefined)
    await writeNew(flags.saveMapping, `${JSON.stringify(mapping, null, 2)}\n`);
  if (flags.dryRun === true) return exitCodes.done;
  if (!isAsked && flags.yes !== true)
    throw new CommandFailed(
      'Nothing was imported. Say --yes to import the table by this mapping, and correct it with --map "COLUMN=MEANING".',
      exitCodes.usage,
    );
  return run(client, { fileId: preview.file_id, mapping: whole(mapping) }, flags, output);
}

const workbook = /\.xlsx$/i;

async function upload(
  file: string,
  client: Client,
  { output, stdin }: Pick<Surroundings, 'output' | 'stdin'>,
): Promise<Preview> {
  const total = file === '-' ? 0 : (await stat(file)).size;
  const bar = progressBar(output, total, 'bytes');
  let sent = 0;
  const parts = async function* () {
    const source: AsyncIterable<Uint8Array> = file === '-' ? stdin : createReadStream(file);
    for await (const part of source) {
      yield part;
      sent += part.length;
      bar.update(sent, sent);
    }
  };
  try {
    return await client.previewLeads(parts(), {
      type: workbook.test(file) ? routeDeclarations.leadFileTypes.workbook : 'text/csv',
    });
  } finally {
    bar.stop();
  }
}

async function mappingIn(file: string): Promise<Mapping> {
  let content: unknown;
  try {
    content = JSON.parse(await readFile(file, 'utf8')) as unknown;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new CommandFailed(`${file} is not JSON.`, exitCodes.data, { cause: error });
  }
  const mapping = suggestedLeadImportMapping.safeParse(content);
  if (mapping.success) return mapping.data;
  throw new CommandFailed(`${file} is not a mapping:\n${z.prettifyError(mapping.error)}`, exitCodes.data);
}

function withFlags(mapping: Mapping, flags: readonly string[], headers: readonly string[]): Mapping {
  return flags.reduce((changed, flag) => {
    const mapped = mappedIn(flag);
    if (!mapped)
      throw new CommandFailed(
        `--map "${flag}" must be COLUMN=MEANING, the meaning one of: ${meaningForms}.`,
        exitCodes.usage,
      );
    if (!headers.includes(mapped.column))
      throw new CommandFailed(
        `The table has no column "${mapped.column}". Its columns are: ${headers.map(plain).join(', ')}.`,
        exitCodes.data,
      );
    return withMeaning(changed, mapped.column, mapped.meaning);
  }, mapping);
}

function show(preview: Preview, mapping: Mapping, output: Output): void {
  const columns = preview.headers.map((name, at) => ({
    number: at + 1,
    name,
    meaning: wordsFor(mapping, name),
    examples: [...new Set(preview.sample_rows.map((row) => row[at] ?? ''))]
      .filter((cell) => cell !== '')
      .slice(0, 3)
      .join(', '),
  }));
  output.write(
    `${table(columns, [
      { title: '#', value: ({ number }) => number, align: 'right' },
      { title: 'COLUMN', value: ({ name }) => name, maximum: 32 },
      { title: 'BECOMES', value: ({ meaning }) => meaning, maximum: 40 },
      { title: 'EXAMPLES', value: ({ examples }) => examples, maximum: 50 },
    ])}\n`,
  );
  const { row_count, encoding, delimiter, problems } = preview;
  const form = encoding === null ? '' : `, ${encoding}, columns divided by ${nameOf(delimiter)}`;
  output.note(`${row_count.toLocaleString('en')} rows${form}.\n`);
  if (mapping.ignore_values.length > 0)
    output.note(`These cells count as empty: ${mapping.ignore_values.map(plain).join(', ')}.\n`);
  for (const { message, column, row } of problems) {
    const place = column ?? (row === undefined ? undefined : `row ${String(row)}`);
    output.note(`! ${place === undefined ? '' : `${plain(place)}: `}${plain(message)}\n`);
  }
}

function nameOf(delimiter: string | null): string {
  return delimiter === '\t' ? 'tabs' : `"${delimiter ?? ''}"`;
}

/** Asks a person, who may change what columns become. @returns null: they do not want the import */
async function asked(
  preview: Preview,
  proposed: Mapping,
  { output, stdin }: Pick<Surroundings, 'output' | 'stdin'>,
): Promise<Mapping | null> {
  const reader = createInterface({ input: stdin });
  const lines = reader[Symbol.asyncIterator]();
  try {
    return await corrected(preview, proposed, output, async (question) => {
      output.note(question);
      const next = await lines.next();
      return next.done === true ? null : next.value.trim();
    });
  } finally {
    reader.close();
  }
}

/** @param ask resolves with null at the end of the input */
async function corrected(
  { headers, row_count }: Preview,
  proposed: Mapping,
  output: Output,
  ask: (question: string) => Promise<string | null>,
): Promise<Mapping | null> {
  for (let mapping = proposed; ;) {
    const answer = await ask(
      `Import ${row_count.toLocaleString('en')} rows? yes, no, or the number of a column to change: `,
    );
    if (answer === null || /^no?$/i.test(answer)) return null;
    if (/^y(?:es)?$/i.test(answer)) {
      if (mapping.primary_identifier) return mapping;
      output.note('No column names the leads yet: one must become primary KIND, such as primary email.\n');
      continue;
    }
    const column = headers[Number(answer) - 1];
    if (column === undefined) continue;
    const said = await ask(
      `${plain(column)} becomes ${wordsFor(mapping, column)}. What instead? (${meaningForms}) `,
    );
    const meaning = said === null ? null : meaningIn(said);
    if (meaning) mapping = withMeaning(mapping, column, meaning);
    output.note(`${plain(column)} becomes ${wordsFor(mapping, column)}.\n`);
  }
}

/** @throws CommandFailed for a mapping without a primary identifier */
function whole(mapping: Mapping): LeadImportMapping {
  const { primary_identifier } = mapping;
  if (primary_identifier) return { ...mapping, primary_identifier };
  throw new CommandFailed(
    'No column names the leads. Say which with --map "COLUMN=primary KIND", such as --map "Login=primary user_id".',
    exitCodes.data,
  );
}

async function run(
  client: Client,
  { fileId, mapping }: { fileId: string; mapping: LeadImportMapping },
  flags: LeadImportFlags,
  output: Output,
): Promise<number> {
  const { job_id } = await client.call('startLeadImport', { body: { file_id: fileId, ...mapping } });
  output.note(`Job ${job_id} imports the rows. It goes on if this command is interrupted.\n`);
  const job = await endOfJob(client, job_id, output, 'rows');
  if (flags.json === true) output.write(`${JSON.stringify(job, null, 2)}\n`);
  else summarise(job, output);
  if (flags.errors !== undefined && job.failed > 0) {
    await download(client, job_id, flags.errors);
    output.note(`${flags.errors} has the rows that failed, with the reasons.\n`);
  }
  return job.status === 'completed' && job.failed === 0 ? exitCodes.done : exitCodes.incomplete;
}

function summarise(job: CallAnswer<'getJob'>, output: Output): void {
  const { id, status, done, failed, created = 0, updated = 0, skipped = 0, errors } = job;
  const counts = { created, updated, skipped, failed };
  const words = Object.entries(counts).map(([what, count]) => `${count.toLocaleString('en')} ${what}`);
  output.write(`${done.toLocaleString('en')} rows: ${words.join(', ')}.\n`);
  for (const { row, message } of errors.slice(0, 5))
    output.note(`! ${row === undefined ? '' : `row ${String(row)}: `}${plain(message)}\n`);
  if (failed > 0)
    output.note(`GET /jobs/${id}/errors has the rows that failed; --errors FILE writes them.\n`);
  if (status !== 'completed') output.note(`The import is ${status}. The rows up to there are in.\n`);
}

async function download(client: Client, id: string, file: string): Promise<void> {
  const parts = await client.open('listJobErrors', { parameters: { id }, accept: 'text/csv' });
  const sink = await open(file, 'wx');
  try {
    for await (const part of parts) await sink.appendFile(part);
  } catch (error) {
    await unlink(file);
    throw error;
  } finally {
    await sink.close();
  }
}
