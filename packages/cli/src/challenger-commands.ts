// `lead-scoring challenger`: drafts of changed rules that run in shadow beside the live rules.
import type { CallInput } from '@lead-scoring/client';
import { clientOf, promptRetries } from './api-client.js';
import { exitCodes } from './errors.js';
import { table, type Output } from './output.js';
import { readRequestFile, type FileCommandContext } from './request-file.js';
import { showChanges } from './rules-commands.js';
import type { Settings } from './settings.js';
import { whatIfSummary } from './what-if-commands.js';

type ChallengerForm = CallInput<'startChallenger'>['body'];

export interface ChallengerFlags {
  json?: boolean;
  name?: string;
  dryRun?: boolean;
}

/** @param file the body of POST /scoring/challengers as YAML or JSON; `-` for standard input */
export async function startChallenger(
  file: string,
  flags: ChallengerFlags,
  { settings, output, stdin }: FileCommandContext,
): Promise<number> {
  const { body, explain } = await readRequestFile<ChallengerForm>(file, stdin);
  const named = flags.name === undefined ? body : { ...body, name: flags.name };
  const started = await clientOf(settings, promptRetries)
    .call('startChallenger', { body: named })
    .catch((error: unknown) => {
      throw explain(error);
    });
  output.write(
    flags.json === true
      ? asJson(started)
      : `It runs on what comes in from now on. To see its figures: challenger show ${started.id}\n`,
  );
  return exitCodes.done;
}

/** Writes the challengers that run. */
export async function listChallengers(
  flags: ChallengerFlags,
  settings: Settings,
  output: Output,
): Promise<number> {
  const found = await clientOf(settings, promptRetries).call('listChallengers', {});
  if (flags.json === true) output.write(asJson(found));
  else if (found.data.length === 0) output.note('No challenger runs.\n');
  else
    output.write(
      `${table(found.data, [
        { title: 'ID', value: ({ id }) => id },
        { title: 'NAME', value: ({ name }) => name },
        { title: 'STARTED', value: ({ started_at }) => started_at },
        { title: 'AS OF', value: ({ as_of }) => as_of ?? 'not yet' },
        { title: 'RULES', value: ({ overtaken }) => (overtaken ? 'changed since' : 'as they were') },
      ])}\n`,
    );
  return exitCodes.done;
}

/** Writes the figures of a challenger. */
export async function showChallenger(
  id: string,
  flags: ChallengerFlags,
  settings: Settings,
  output: Output,
): Promise<number> {
  const found = await clientOf(settings, promptRetries).call('getChallenger', { parameters: { id } });
  if (flags.json === true) output.write(asJson(found));
  else if (!found.figures) output.note('There are no figures yet: they come within seconds.\n');
  else {
    output.note(`${found.name}, from ${found.started_at} up to ${String(found.as_of)}\n`);
    output.write(whatIfSummary(found.figures));
    if (!found.overtaken) output.note(`To make the draft live: challenger apply ${id}\n`);
  }
  return exitCodes.done;
}

/** @returns the exit code: with --dry-run 1 when applying would change anything */
export async function applyChallenger(
  id: string,
  flags: ChallengerFlags,
  settings: Settings,
  output: Output,
): Promise<number> {
  const isDryRun = flags.dryRun === true;
  const changes = await clientOf(settings, promptRetries).call('applyChallenger', {
    parameters: { id },
    query: { dry_run: isDryRun ? 'true' : 'false' },
  });
  showChanges(changes, flags, output, 'the draft');
  if (isDryRun) return changes.total === 0 ? exitCodes.done : exitCodes.incomplete;
  if (flags.json !== true)
    output.note(
      `The draft is live, for what comes from now on: the configuration has version ${String(changes.version)}.\n`,
    );
  return exitCodes.done;
}

/** Ends a challenger. */
export async function endChallenger(id: string, settings: Settings, output: Output): Promise<number> {
  await clientOf(settings, promptRetries).call('endChallenger', { parameters: { id } });
  output.note('The challenger has ended.\n');
  return exitCodes.done;
}

function asJson(answer: object): string {
  return `${JSON.stringify(answer, null, 2)}\n`;
}
