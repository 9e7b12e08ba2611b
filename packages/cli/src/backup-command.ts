// `lead-scoring backup` and `restore`: the log, with the schemas of its records, in a folder. docs/runbooks/backup.md
import { backUpLog, restoreLog, type BackupManifest } from '@lead-scoring/event-log';
import { databasesOf } from '@lead-scoring/read-model';
import { CommandFailed, exitCodes } from './errors.js';
import { wholeNumber } from './ingest-command.js';
import { withEventLog } from './log-commands.js';
import { progressBar, type Output, type Progress } from './output.js';
import { saveSecrets } from './saved-secrets.js';
import type { Settings } from './settings.js';

export interface BackupFlags {
  json?: boolean;
  withSecrets?: string;
  wait?: string;
}

/** @returns the exit code */
export async function backup(
  folder: string,
  flags: BackupFlags,
  settings: Settings,
  output: Output,
): Promise<number> {
  const patienceMs = wholeNumber('--wait', flags.wait ?? '30', 0, 86_400) * 1_000;
  if (flags.withSecrets !== undefined) await saveSecrets(flags.withSecrets, folder, settings);
  output.note('Waiting until every service has stopped, and its transactions have ended …\n');
  const counter = new Counter(output);
  const manifest = await onDisk(folder, () =>
    withEventLog(settings, (log) =>
      backUpLog(log, folder, {
        patienceMs,
        onSettled: (offsets) => {
          output.note(
            'The place up to which records are copied is settled: the services may start again. Copying …\n',
          );
          counter.begin(offsets, 'offsets');
        },
        onProgress: (offsets) => counter.add(offsets),
      }).finally(() => counter.end()),
    ),
  );
  if (flags.json === true) output.write(`${JSON.stringify(summaryOf(manifest))}\n`);
  else output.write(`${folder} is whole: ${recordsOf(manifest)} of ${manifest.namespace}.\n`);
  if (flags.withSecrets === undefined && flags.json !== true)
    output.note(
      'It has no secrets. Keep SEALING_SECRET and TOKEN_SECRET, or .run/secrets.json of `npm start`, in another place: without them the secrets of notification channels must be entered again (--with-secrets FILE writes them).\n',
    );
  return exitCodes.done;
}

/** @returns the exit code */
export async function restore(
  folder: string,
  flags: { json?: boolean },
  settings: Settings,
  output: Output,
): Promise<number> {
  await assertNoDatabases(settings, output);
  const counter = new Counter(output);
  const { manifest, groupsLeft } = await withEventLog(settings, (log) =>
    restoreLog(log, folder, {
      onWork: (work, units) => {
        output.note(`${work.charAt(0).toUpperCase()}${work.slice(1)} …\n`);
        counter.begin(units, work === 'checking the files' ? 'bytes' : 'offsets');
      },
      onProgress: (units) => counter.add(units),
    }).finally(() => counter.end()),
  );
  if (flags.json === true)
    output.write(`${JSON.stringify({ ...summaryOf(manifest), groups_left: groupsLeft })}\n`);
  else {
    output.write(
      `Restored ${recordsOf(manifest)} as of ${manifest.taken_at}, each at its offset.\nNow start the services, with the same secrets: they fold their databases anew. \`lead-scoring doctor\` shows how far they are.\n`,
    );
    if (groupsLeft.length > 0)
      output.note(
        `These consumer groups have members, and were not set to where they were: ${groupsLeft.join(', ')}.\n`,
      );
  }
  return exitCodes.done;
}

/** A database of another log would halt its service, or mix two histories. */
async function assertNoDatabases(settings: Settings, output: Output): Promise<void> {
  if (settings.mongodbUri === undefined) {
    output.note(
      'MONGODB_URI is not set: make sure yourself that the databases of this namespace are empty.\n',
    );
    return;
  }
  const found = await databasesOf({ uri: settings.mongodbUri, access: settings.access }, settings.namespace);
  if (found.length > 0)
    throw new CommandFailed(
      `MongoDB has databases of the namespace "${settings.namespace}" (${found.join(', ')}), which are of another log: drop them, or restore under another NAMESPACE.`,
      exitCodes.data,
    );
}

const diskProblems: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full: make space, or name a folder on another disk',
  EDQUOT: 'the quota of the disk is used up: make space, or name a folder on another disk',
  EACCES: 'this user may not write there: name another folder, or change its rights',
  EROFS: 'the disk is read-only: name a folder on another disk',
  ENOENT: 'the folder that it is to be in does not exist: make that first',
  ENOTDIR: 'a part of its path is a file: name another folder',
  EEXIST: 'a file of that name exists: name a new folder',
};

/** Says what to do about a disk that takes no files. */
async function onDisk<Result>(folder: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
    const problem = diskProblems[code];
    if (problem === undefined) throw error;
    throw new CommandFailed(
      `The backup cannot be written to ${folder}, because ${problem}. What the folder has now is no backup.`,
      exitCodes.data,
      { cause: error },
    );
  }
}

function summaryOf({ taken_at, namespace, partitions, topics, schemas }: BackupManifest) {
  const records = topics.reduce((sum, one) => sum + one.records, 0);
  const bytes = topics.reduce((sum, one) => sum + one.bytes, 0);
  return { taken_at, namespace, partitions, records, bytes, schemas: schemas.length };
}

function recordsOf(manifest: BackupManifest): string {
  const { records, bytes, schemas } = summaryOf(manifest);
  const megabytes = (bytes / 1_000_000).toFixed(1);
  return `${records.toLocaleString('en')} records (${megabytes} MB) and ${schemas} schemas`;
}

/** A progress bar for one piece of work after the other. */
class Counter {
  #bar: Progress | undefined;
  #done = 0;

  constructor(private readonly output: Output) {}

  begin(total: number, unit: string): void {
    this.end();
    this.#done = 0;
    this.#bar = progressBar(this.output, total, unit);
  }

  add(units: number): void {
    this.#done += units;
    this.#bar?.update(this.#done, this.#done);
  }

  end(): void {
    this.#bar?.stop();
    this.#bar = undefined;
  }
}
