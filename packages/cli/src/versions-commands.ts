// `lead-scoring rules versions` and `restore`: the versions of the scoring configuration, and the way back to one of them.
import { clientOf, promptRetries } from './api-client.js';
import { exitCodes } from './errors.js';
import { shortTime } from './explanation.js';
import { table, type Output } from './output.js';
import { showChanges, versionIn } from './rules-commands.js';
import type { Settings } from './settings.js';

export interface RestoreFlags {
  json?: boolean;
  dryRun?: boolean;
}

const shownVersions = 50;

/** @returns the exit code */
export async function listVersions(
  flags: { json?: boolean },
  settings: Settings,
  output: Output,
): Promise<number> {
  const versions = await clientOf(settings, promptRetries).call('listConfigurationVersions', {
    query: { limit: shownVersions },
  });
  if (flags.json === true) {
    output.write(`${JSON.stringify(versions, null, 2)}\n`);
    return exitCodes.done;
  }
  if (versions.data.length > 0)
    output.write(
      `${table(versions.data, [
        { title: 'VERSION', value: ({ version }) => version, align: 'right' },
        { title: 'CHANGED AT', value: ({ changed_at }) => shortTime(changed_at) },
        { title: 'CHANGE', value: ({ change }) => change.replaceAll('_', ' ') },
        { title: 'NAME', value: ({ name }) => name ?? '', maximum: 40 },
        { title: 'BY', value: ({ changed_by }) => changed_by?.name ?? changed_by?.kind ?? '', maximum: 24 },
      ])}\n`,
    );
  if (versions.total === 0) output.note('The configuration has never been changed.\n');
  else if (versions.total > versions.data.length)
    output.note(`The ${String(versions.data.length)} latest of ${String(versions.total)} versions.\n`);
  return exitCodes.done;
}

/** @returns the exit code: with --dry-run 1 when going back would change anything */
export async function restoreVersion(
  word: string,
  flags: RestoreFlags,
  settings: Settings,
  output: Output,
): Promise<number> {
  const version = versionIn(word, 'The version');
  const isDryRun = flags.dryRun === true;
  const changes = await clientOf(settings, promptRetries).call('restoreConfiguration', {
    query: { dry_run: isDryRun ? 'true' : 'false' },
    body: { version },
  });
  showChanges(changes, flags, output, `version ${String(version)}`);
  if (isDryRun) return changes.total === 0 ? exitCodes.done : exitCodes.incomplete;
  if (flags.json !== true && changes.total > 0)
    output.note(`Restored as one change: the configuration has version ${String(changes.version)} now.\n`);
  return exitCodes.done;
}
