// `lead-scoring rules export`, `diff` and `apply`: the scoring configuration as a file that people review and keep in Git.
import { readFile } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { CallAnswer, CallInput } from '@lead-scoring/client';
import { parse, stringify, YAMLParseError } from 'yaml';
import { clientOf, promptRetries } from './api-client.js';
import { CommandFailed, exitCodes } from './errors.js';
import { table, type Output } from './output.js';
import type { Settings } from './settings.js';

type Changes = CallAnswer<'putConfiguration'>;
type Document = NonNullable<CallInput<'putConfiguration'>['body']>;

interface Surroundings {
  settings: Settings;
  output: Output;
  stdin: Readable;
}

/** @returns the exit code */
export async function exportRules(
  flags: { json?: boolean },
  settings: Settings,
  output: Output,
): Promise<number> {
  const document = await clientOf(settings, promptRetries).call('getConfiguration', {});
  output.write(flags.json === true ? `${JSON.stringify(document, null, 2)}\n` : stringify(document));
  return exitCodes.done;
}

/** @returns the exit code: 1 when the file would change anything */
export async function diffRules(
  file: string,
  flags: { json?: boolean },
  { settings, output, stdin }: Surroundings,
): Promise<number> {
  const body = await documentIn(file, stdin);
  const changes = await clientOf(settings, promptRetries).call('putConfiguration', {
    query: { dry_run: 'true' },
    body,
  });
  show(changes, flags, output);
  return changes.total === 0 ? exitCodes.done : exitCodes.incomplete;
}

/** Applies the file to the version of the configuration that the dry run saw; a change by another person in between is refused (412). */
export async function applyRules(
  file: string,
  flags: { json?: boolean },
  { settings, output, stdin }: Surroundings,
): Promise<number> {
  const body = await documentIn(file, stdin);
  const client = clientOf(settings, promptRetries);
  const planned = await client.call('putConfiguration', { query: { dry_run: 'true' }, body });
  const changes = await client.call('putConfiguration', { body, ifMatch: `"${String(planned.version)}"` });
  show(changes, flags, output);
  if (flags.json !== true && changes.total > 0)
    output.note(`Applied: the configuration has version ${String(changes.version)} now.\n`);
  return exitCodes.done;
}

/** @throws CommandFailed for a file that cannot be read, or is neither YAML nor JSON */
async function documentIn(file: string, stdin: Readable): Promise<Document> {
  const content = await (file === '-' ? text(stdin) : readFile(file, 'utf8')).catch((error: unknown) => {
    throw new CommandFailed(`${file} cannot be read: ${(error as Error).message}.`, exitCodes.data, {
      cause: error,
    });
  });
  try {
    // JSON is YAML too. The API checks the content, and names the part that is wrong.
    return (parse(content, { maxAliasCount: 100 }) ?? {}) as Document;
  } catch (error) {
    if (!(error instanceof YAMLParseError) && !(error instanceof ReferenceError)) throw error;
    throw new CommandFailed(`${file} is neither YAML nor JSON: ${error.message}`, exitCodes.data, {
      cause: error,
    });
  }
}

function show(changes: Changes, flags: { json?: boolean }, output: Output): void {
  if (flags.json === true) {
    output.write(`${JSON.stringify(changes, null, 2)}\n`);
    return;
  }
  if (changes.total === 0) {
    output.note('The configuration equals the file: nothing to change.\n');
    return;
  }
  output.write(
    `${table(changes.changes, [
      { title: '', value: ({ action }) => signs[action] },
      { title: 'WHAT', value: ({ kind }) => kind.replace('_', ' ') },
      { title: 'RULESET', value: ({ ruleset }) => ruleset ?? '', maximum: 30 },
      { title: 'NAME', value: ({ name }) => name, maximum: 50 },
      { title: 'CHANGE', value: fieldsInWords, maximum: 120 },
    ])}\n`,
  );
  const more = changes.total - changes.changes.length;
  if (more > 0) output.write(`and ${String(more)} more\n`);
}

const signs = { add: '+', change: '~', remove: '-' } as const;

function fieldsInWords({ fields = [] }: Changes['changes'][number]): string {
  return fields
    .map(({ field, before, after }) => `${field}: ${before ?? '(none)'} → ${after ?? '(none)'}`)
    .join('; ');
}
