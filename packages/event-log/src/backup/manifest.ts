// `manifest.json` of a backup: what the folder has. It is written last, so a folder without it was not finished.
import { open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { serviceNames, topics, type TopicName } from '@lead-scoring/contracts';
import { EventLogError } from '../errors.js';
import { summaryOf, type FileSummary } from './partition-file.js';

/** The version of the folder's form: a program refuses a later one. */
export const backupFormat = 1;

/** A partition of a topic in a backup. */
export interface SavedPartition extends FileSummary {
  topic: TopicName;
  partition: number;
  /** The offset from which records are kept: 0 for events, and for commands the first that was not decided. */
  first: number;
  /** The end of the partition: the next offset that was to be written. */
  end: number;
  records: number;
}

/** How far a consumer of somebody else has read a topic. */
export interface SavedGroupOffset {
  group: string;
  topic: TopicName;
  partition: number;
  offset: number;
}

/** A schema of the registry, under which records of the backup were written. */
export interface SavedSchema {
  /** The registry's id, which the records have in their first bytes. */
  id: number;
  schema: string;
  /** Subjects without the namespace: `ingest.events-EventsIngested`. */
  subjects: string[];
}

export interface BackupManifest {
  format: typeof backupFormat;
  /** ISO 8601 UTC: when it was settled up to where records are copied. */
  taken_at: string;
  namespace: string;
  /** The number of partitions of each topic. */
  partitions: number;
  topics: SavedPartition[];
  schemas: SavedSchema[];
  groups: SavedGroupOffset[];
}

/** Topics in a backup. Replies are left out: nobody waits for them. */
export const savedTopics: readonly TopicName[] = [
  ...serviceNames.map((service): TopicName => `${service}.events`),
  ...serviceNames.map((service): TopicName => `${service}.commands`),
  ...serviceNames.map((service): TopicName => `${service}.dead-letters`),
];

/** Derived, so that no manifest can name a file outside of the folder. */
export function fileOf(
  folder: string,
  { topic, partition }: { topic: TopicName; partition: number },
): string {
  return join(folder, `${topic}-${partition}.gz`);
}

function manifestFile(folder: string): string {
  return join(folder, 'manifest.json');
}

export async function writeManifest(folder: string, manifest: BackupManifest): Promise<void> {
  const unfinished = `${manifestFile(folder)}.unfinished`;
  const handle = await open(unfinished, 'wx', 0o600);
  try {
    await handle.writeFile(`${JSON.stringify(manifest, null, 1)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(unfinished, manifestFile(folder));
}

/**
 * Reads a manifest.
 * @throws EventLogError `backup_damaged` when the folder is no whole backup, or one of a later version
 */
export async function readManifest(folder: string): Promise<BackupManifest> {
  const text = await readFile(manifestFile(folder), 'utf8').catch((error: unknown) => {
    throw new EventLogError(
      'backup_damaged',
      `${folder} has no manifest.json that can be read: it is no backup, or one that was interrupted. Name the folder of a whole backup`,
      { cause: error },
    );
  });
  let manifest: FoundManifest;
  try {
    manifest = JSON.parse(text) as FoundManifest;
  } catch {
    throw damaged(manifestFile(folder));
  }
  if (typeof manifest.format === 'number' && manifest.format > backupFormat)
    throw new EventLogError(
      'backup_damaged',
      `${folder} was made by a later version (format ${manifest.format}; this one reads ${backupFormat}): restore it with that version`,
    );
  if (!isManifest(manifest)) throw damaged(manifestFile(folder));
  return manifest;
}

/** A manifest of any version. */
type FoundManifest = Partial<Omit<BackupManifest, 'format'>> & { format?: number };

function isManifest(found: FoundManifest): found is BackupManifest {
  const { format, partitions, topics: saved, schemas, groups } = found;
  if (format !== backupFormat || !isCount(partitions)) return false;
  if (!Array.isArray(saved) || !Array.isArray(schemas) || !Array.isArray(groups)) return false;
  const places = new Set(saved.map(({ topic, partition }) => `${topic}/${partition}`));
  return (
    places.size === saved.length &&
    saved.length === savedTopics.length * partitions &&
    saved.every(
      ({ topic, partition, first, end }) =>
        topics.some(({ name }) => name === topic) &&
        isCount(partition) &&
        partition < partitions &&
        isCount(first) &&
        isCount(end) &&
        first <= end,
    )
  );
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/**
 * Reads every file of a backup.
 * @param checked called with each file that is as it was written
 * @throws EventLogError `backup_damaged` that names the file which is not
 */
export async function checkFiles(
  folder: string,
  manifest: BackupManifest,
  checked: (saved: SavedPartition) => void,
): Promise<void> {
  for (const saved of manifest.topics) {
    const file = fileOf(folder, saved);
    const { bytes, sha256 } = await summaryOf(file).catch((error: unknown) => {
      throw damaged(file, error);
    });
    if (bytes !== saved.bytes || sha256 !== saved.sha256) throw damaged(file);
    checked(saved);
  }
}

function damaged(file: string, cause?: unknown): EventLogError {
  return new EventLogError(
    'backup_damaged',
    `${file} is missing or not as it was written: take the folder from another copy, or another backup. Nothing was restored`,
    { cause },
  );
}
