// PostgreSQL with the DocumentDB extension, for FerretDB. It runs inside a Debian sid root, which the cache holds and all
// runs share; the data of each run is mounted into it in a mount namespace of the run's own.
import { chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand } from '../commands.js';
import { disownLockFile, endLeftovers } from './crashed-postgresql.js';
import { makeDebianRoot, runInRoot } from './debian-root.js';
import type { NativeContext } from './native-server.js';

const POSTGRESQL_VERSION = '18';
const BIN = `/usr/lib/postgresql/${POSTGRESQL_VERSION}/bin`;
/** Where the root expects the data of a run to be mounted. */
const MOUNT_POINT = '/data';

/** The versions that the system was tested with. */
export const POSTGRESQL_PACKAGES: Readonly<Record<string, string>> = {
  [`postgresql-${POSTGRESQL_VERSION}-documentdb`]: '1.0-0-1',
  [`postgresql-${POSTGRESQL_VERSION}`]: '18.6-3',
  [`postgresql-client-${POSTGRESQL_VERSION}`]: '18.6-3',
  [`postgresql-${POSTGRESQL_VERSION}-cron`]: '1.6.8-1',
  [`postgresql-${POSTGRESQL_VERSION}-pgvector`]: '0.8.7-1',
  [`postgresql-${POSTGRESQL_VERSION}-postgis-3`]: '3.7.0+dfsg-1',
  [`postgresql-${POSTGRESQL_VERSION}-rum`]: '1.3.15-1',
};

/** The longest pause before a restart. It is short because everything waits for the database; a failing start costs less. */
export const longestRestartDelayMs = 2_000;

/** Resolves with the Debian root that holds PostgreSQL. */
export async function installPostgresql(context: NativeContext): Promise<string> {
  const { cache, progress } = context;
  return cache.part(`documentdb-postgresql-${POSTGRESQL_VERSION}`, async (root) => {
    await progress.step(`MongoDB: installing PostgreSQL ${POSTGRESQL_VERSION} with DocumentDB`, async () => {
      await makeDebianRoot(root, POSTGRESQL_PACKAGES, context);
      mkdirSync(join(root, MOUNT_POINT));
      const extension = `usr/share/postgresql/${POSTGRESQL_VERSION}/extension/documentdb.control`;
      if (!existsSync(join(root, BIN, 'postgres')) || !existsSync(join(root, extension))) {
        throw new Error(`the installed packages do not contain ${BIN}/postgres and ${extension}`);
      }
      if (userIdOf('postgres', root) === undefined) {
        await runInRoot(root, ['useradd', '--system', '--user-group', 'postgres'], context);
      }
    });
  });
}

/** User and group id of a user inside a root. */
function userIdOf(name: string, root: string): { user: number; group: number } | undefined {
  const passwd = readFileSync(join(root, 'etc/passwd'), 'utf8');
  const fields = passwd
    .split('\n')
    .map((line) => line.split(':'))
    .find(([user]) => user === name);
  return fields ? { user: Number(fields[2]), group: Number(fields[3]) } : undefined;
}

/** The command that runs a program of the root as user postgres, with a run's data in its place. */
function insideRoot(root: string, data: string, command: readonly string[]): string[] {
  const script =
    'mount --bind "$1" "$2$3" && root="$2" && shift 3 && exec chroot --userspec=postgres:postgres "$root" "$@"';
  return [
    '--mount',
    '--propagation',
    'private',
    'sh',
    '-c',
    script,
    'sh',
    data,
    root,
    MOUNT_POINT,
    ...command,
  ];
}

/** PostgreSQL's settings as options of its command line, so that each start has the current ones. */
export function postgresqlOptions(port: number, temporary: boolean): string[] {
  const settings: Record<string, string> = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
    shared_preload_libraries: 'pg_cron,pg_documentdb_core,pg_documentdb',
    'cron.database_name': 'postgres',
    // FerretDB shares its connections (pool_max_conns in mongodb.ts) among all clients; a few are for pg_cron.
    max_connections: '130',
    shared_buffers: '512MB',
    // Acknowledged writes are on disk: the data of `npm start` has no second copy.
    synchronous_commit: 'on',
    // Without it no crash is survived, not even of one backend: RUM, the type of all secondary indices, logs the new page of a
    // split as a difference from an empty page, and recovery skips that record (github.com/postgrespro/rum/issues/179).
    full_page_writes: 'on',
    wal_writer_delay: '50ms',
    max_wal_size: '2GB',
    checkpoint_timeout: '15min',
    // At full speed, vacuuming a table of leads takes most of one of two cores for seconds: it may take longer.
    autovacuum_vacuum_cost_delay: '20ms',
    // After the crash of a backend the server ends and the supervisor starts it again: clients see a new start time, and so can
    // tell a run that may have lost writes from the one before.
    restart_after_crash: 'off',
    // The default, /dev/shm, would need another mount inside the root.
    dynamic_shared_memory_type: 'sysv',
    // Short statements on two cores: planning for parallel or compiled execution costs more than it gives.
    jit: 'off',
    max_parallel_workers_per_gather: '0',
    log_min_messages: 'warning',
  };
  if (temporary) {
    // Temporary data need not survive a power cut. A crash may lose the writes of the last 3 × wal_writer_delay, and keeps the
    // order of those before. Services restore them from the log (docs/decisions/0015).
    Object.assign(settings, { fsync: 'off', synchronous_commit: 'off' });
  }
  return Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`]);
}

/** Makes the run's database cluster if there is none, and starts PostgreSQL on it. */
export async function startPostgresql(
  context: NativeContext,
  root: string,
  port: number,
): Promise<{ stop: () => Promise<void> }> {
  const { temporary, path } = context.directory;
  const home = join(path, 'postgresql');
  const cluster = await provideCluster(context, root, home);
  const run = (statements: string) =>
    runCommand('chroot', [
      root,
      `${BIN}/psql`,
      `postgresql://postgres@127.0.0.1:${port}/postgres?connect_timeout=5`,
      ...['--no-psqlrc', '--quiet', '--set=ON_ERROR_STOP=1', `--command=${statements}`],
    ]);
  const server = await context.supervise({
    name: 'postgresql',
    longestRestartDelayMs,
    command: 'unshare',
    args: insideRoot(root, home, [
      `${BIN}/postgres`,
      '-D',
      `${MOUNT_POINT}/cluster`,
      ...postgresqlOptions(port, temporary),
    ]),
    // Both end the server without waiting for its clients; SIGQUIT also skips the shutdown checkpoint.
    stopSignal: temporary ? 'SIGQUIT' : 'SIGINT',
    async beforeStart() {
      await endLeftovers(cluster);
      disownLockFile(cluster);
    },
    ready: () => run('SET client_min_messages=warning; CREATE EXTENSION IF NOT EXISTS documentdb CASCADE'),
  });
  return {
    async stop() {
      await server.stop();
      // A backend in an endless loop does not end with its postmaster.
      await endLeftovers(cluster);
    },
  };
}

/** The folder of the run's database cluster, owned by PostgreSQL's user; created if there is none. */
async function provideCluster({ guardian }: NativeContext, root: string, home: string): Promise<string> {
  mkdirSync(home, { recursive: true });
  const owner = userIdOf('postgres', root);
  if (!owner) {
    throw new Error(`${root} has no user postgres; remove the folder to rebuild it`);
  }
  chownSync(home, owner.user, owner.group);
  const cluster = join(home, 'cluster');
  if (!existsSync(cluster)) {
    // Under another name until it is complete, so that an interrupted start is not taken for a database.
    const unfinished = `${cluster}.initialising`;
    rmSync(unfinished, { recursive: true, force: true });
    await runCommand(
      'unshare',
      insideRoot(root, home, [
        `${BIN}/initdb`,
        `--pgdata=${MOUNT_POINT}/cluster.initialising`,
        '--username=postgres',
        '--auth=trust',
        '--encoding=UTF8',
        '--locale=C.UTF-8',
        '--no-sync',
      ]),
      { guardian },
    );
    renameSync(unfinished, cluster);
  }
  return cluster;
}
