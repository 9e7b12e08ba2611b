// Faults of the PostgreSQL under a test's own database: statements of an administrator, signals, a full disk.
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { programEnvironment } from '@lead-scoring/platform';
import { eventually } from '@lead-scoring/platform/waiting';
import { startOwnDatabase, type OwnDatabase } from './own-servers.js';

const run = promisify(execFile);

export interface OwnPostgresql {
  /** Runs statements on their own connection; returns the output of psql. */
  sql(...statements: string[]): Promise<string>;
  /** Ends every connection of FerretDB, as an administrator may. */
  endConnections(): Promise<void>;
  /** Sends SIGKILL; resolves when its successor answers. */
  kill(): Promise<void>;
}

export function postgresqlOf(database: OwnDatabase): OwnPostgresql {
  const pid = () => database.processes().find(({ name }) => name === 'postgresql')?.pid;

  async function sql(...statements: string[]): Promise<string> {
    const own = pid();
    if (own === undefined) throw new Error('PostgreSQL does not run');
    const options = readFileSync(`/proc/${own}/cmdline`, 'utf8').split('\0');
    const port = options.find((option) => option.startsWith('port='))?.slice('port='.length) ?? '';
    const psql = options[0]?.replace(/postgres$/, 'psql') ?? '';
    const { stdout } = await run(
      'chroot',
      [
        `/proc/${own}/root`,
        psql,
        `postgresql://postgres@127.0.0.1:${port}/postgres`,
        ...['--no-psqlrc', '--quiet', '--tuples-only', '--no-align', '--set=ON_ERROR_STOP=1'],
        ...statements.map((statement) => `--command=${statement}`),
      ],
      // Set at connection time: a statement that switches the timeout off could time out itself.
      { env: programEnvironment({ PGOPTIONS: '-c statement_timeout=0' }) },
    );
    return stdout.trim();
  }

  return {
    sql,
    endConnections: async () => {
      await sql(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`,
      );
    },
    kill: async () => {
      const before = pid();
      if (before === undefined) throw new Error('PostgreSQL does not run');
      process.kill(before, 'SIGKILL');
      await eventually('another PostgreSQL runs', () => pid() !== undefined && pid() !== before, 60_000);
      await eventually(
        'it answers',
        () =>
          sql('SELECT 1').then(
            () => true,
            () => false,
          ),
        60_000,
      );
    },
  };
}

export interface SmallDisk {
  database: OwnDatabase;
  /** Fills the file system. */
  fill(): Promise<void>;
  /** Frees the space again. */
  free(): void;
  stop(): Promise<void>;
}

/** A database whose PostgreSQL has its own file system in memory. @throws Error if `mount` is not permitted */
export async function startDatabaseOnSmallDisk(megabytes: number): Promise<SmallDisk> {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'lead-scoring-disk-'));
  const disk = join(dataDirectory, 'postgresql');
  mkdirSync(disk);
  await run('mount', ['-t', 'tmpfs', '-o', `size=${String(megabytes)}m,mode=755`, 'tmpfs', disk]);
  const unmount = async () => {
    await run('umount', ['--lazy', disk]);
    rmSync(dataDirectory, { recursive: true, force: true });
  };
  try {
    const database = await startOwnDatabase({ dataDirectory });
    const filler = join(disk, 'filler');
    return {
      database,
      fill: async () => {
        // Always fails with "No space left on device".
        await run('dd', ['if=/dev/zero', `of=${filler}`, 'bs=64k']).catch(() => undefined);
      },
      free: () => {
        truncateSync(filler, 0);
      },
      stop: async () => {
        await database.stop();
        await unmount();
      },
    };
  } catch (error) {
    await unmount();
    throw error;
  }
}
