// `lead-scoring rules export`, `diff` and `apply`: the scoring configuration as a file that people review and keep in Git.
import type { CallAnswer, CallInput } from '@lead-scoring/client';
import { stringify } from 'yaml';
import { clientOf, promptRetries } from './api-client.js';
import { CommandFailed, exitCodes } from './errors.js';
import { plain, type Output } from './output.js';
import { readRequestFile, type FileCommandContext, type RequestFile } from './request-file.js';
import type { Settings } from './settings.js';

export type Changes = CallAnswer<'putConfiguration'>;
type Change = Changes['changes'][number];
type ConfigurationDocument = NonNullable<CallInput<'putConfiguration'>['body']>;

export interface RulesExportFlags {
  json?: boolean;
  ofVersion?: string;
}

export interface ApplyFlags {
  json?: boolean;
  ifVersion?: string;
}

/** @returns the exit code */
export async function exportRules(
  flags: RulesExportFlags,
  settings: Settings,
  output: Output,
): Promise<number> {
  const document = await clientOf(settings, promptRetries).call('getConfiguration', {
    ...(flags.ofVersion !== undefined && { query: { version: versionIn(flags.ofVersion, '--of-version') } }),
  });
  // A line per value, however long: so a change is one line in Git.
  output.write(
    flags.json === true ? `${JSON.stringify(document, null, 2)}\n` : stringify(document, { lineWidth: 0 }),
  );
  return exitCodes.done;
}

/** @returns the exit code: 1 when the file would change anything */
export async function diffRules(
  file: string,
  flags: { json?: boolean },
  { settings, output, stdin }: FileCommandContext,
): Promise<number> {
  const changes = await planned(await readRequestFile<ConfigurationDocument>(file, stdin), settings);
  showChanges(changes, flags, output);
  if (changes.total === 0) return exitCodes.done;
  if (flags.json !== true)
    output.note(
      `Compared with version ${String(changes.version)} of the configuration. To apply this and nothing else: rules apply --if-version ${String(changes.version)}\n`,
    );
  return exitCodes.incomplete;
}

/**
 * Applies the file to the version of `--if-version`, or to the one that it finds; a change by another person in between is refused (412).
 * @returns the exit code
 */
export async function applyRules(
  file: string,
  flags: ApplyFlags,
  { settings, output, stdin }: FileCommandContext,
): Promise<number> {
  const expected = flags.ifVersion === undefined ? undefined : versionIn(flags.ifVersion, '--if-version');
  const rules = await readRequestFile<ConfigurationDocument>(file, stdin);
  const version = expected ?? (await planned(rules, settings)).version;
  const changes = await clientOf(settings, promptRetries)
    .call('putConfiguration', { body: rules.body, ifMatch: `"${String(version)}"` })
    .catch((error: unknown) => {
      throw rules.explain(error);
    });
  showChanges(changes, flags, output);
  if (flags.json !== true && changes.total > 0)
    output.note(
      `Applied as one change: the configuration has version ${String(changes.version)} now.\n${whatStays(changes)}`,
    );
  return exitCodes.done;
}

/** What the change of rules leaves as it is, and how to see what it would come to; empty where no rule of leads was changed. */
function whatStays({ sections }: Changes): string {
  const isChanged = (name: string) =>
    sections.some(
      ({ section, added, changed, removed }) => section === name && added + changed + removed > 0,
    );
  const rescored = [
    ...(isChanged('engagement_rulesets') ? ['scores'] : []),
    ...(isChanged('profile_rulesets') || isChanged('profile_mappings') ? ['profiles'] : []),
  ].map((what) => `lead-scoring rescore ${what} --dry-run`);
  if (rescored.length === 0) return '';
  return `What is recorded of the leads keeps its points. What it would come to by the new rules: ${rescored.join(', and ')}\n`;
}

function planned(
  { body, explain }: RequestFile<ConfigurationDocument>,
  settings: Settings,
): Promise<Changes> {
  return clientOf(settings, promptRetries)
    .call('putConfiguration', { query: { dry_run: 'true' }, body })
    .catch((error: unknown) => {
      throw explain(error);
    });
}

/**
 * @param place where the version was given, for the message
 * @throws CommandFailed for what is no version
 */
export function versionIn(text: string, place: string): number {
  if (!/^\d{1,9}$/.test(text))
    throw new CommandFailed(
      `${place} must be the version of a configuration, such as 12, which rules versions lists; it is "${text}".`,
      exitCodes.usage,
    );
  return Number(text);
}

/** @param subject what the configuration is compared with */
export function showChanges(
  changes: Changes,
  flags: { json?: boolean },
  output: Output,
  subject = 'the file',
): void {
  if (flags.json === true) {
    output.write(`${JSON.stringify(changes, null, 2)}\n`);
    return;
  }
  if (changes.total === 0) {
    output.note(`The configuration equals ${subject}: nothing to change.\n`);
    return;
  }
  for (const { section, added, changed, removed } of changes.sections) {
    const counts = [
      ...(added > 0 ? [`${String(added)} added`] : []),
      ...(changed > 0 ? [`${String(changed)} changed`] : []),
      ...(removed > 0 ? [`${String(removed)} removed`] : []),
    ];
    if (counts.length === 0) continue;
    output.write(`${section}: ${counts.join(', ')}\n`);
    for (const change of changes.changes) if (change.section === section) output.write(linesOf(change));
  }
  const more = changes.total - changes.changes.length;
  if (more > 0) output.write(`and ${String(more)} more\n`);
}

const signs = { add: '+', change: '~', remove: '-' } as const;

function linesOf({ action, kind, name, ruleset, fields = [] }: Change): string {
  const what = kind === 'levels' || kind === 'roll_up' || kind === 'grid' ? name : `${kind} ${name}`;
  const where = ruleset === undefined ? '' : ` in ${ruleset}`;
  const lines = [
    `  ${signs[action]} ${what}${where}`,
    ...fields.map(
      ({ field, before, after }) => `      ${field}: ${before ?? '(none)'} → ${after ?? '(none)'}`,
    ),
  ];
  return lines.map((line) => `${plain(line)}\n`).join('');
}
