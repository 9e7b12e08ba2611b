// MongoDB's protocol without MongoDB: FerretDB, on PostgreSQL with the DocumentDB extension.
import { copyFileSync, cpSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCommand } from '../commands.js';
import type { ProcessHandle } from '../processes.js';
import { verifyMongodb } from '../readiness.js';
import { makeDebianRoot, runInRoot } from './debian-root.js';
import type { NativeContext } from './native-server.js';
import { installPostgresql, longestRestartDelayMs, startPostgresql } from './postgresql.js';

const FERRETDB_VERSION = '2.7.0';

/** FerretDB's main program, and the version and checksum of every module in its build. The same path from src and from dist. */
const FERRETDB_SOURCES = fileURLToPath(new URL('../../ferretdb', import.meta.url));

async function installFerretdb(context: NativeContext): Promise<string> {
  const { cache, machine, guardian, progress } = context;
  const part = await cache.part(`ferretdb-${FERRETDB_VERSION}`, async (directory) => {
    const go = await machine.go();
    // Only the modules and versions in go.sum. Without C, so that the program runs outside the Debian root as well.
    const env = { CGO_ENABLED: '0', GOFLAGS: '-mod=readonly -buildvcs=false' };
    const writeSources = (sources: string): void => {
      cpSync(FERRETDB_SOURCES, sources, { recursive: true });
    };
    const sources = join(directory, 'sources');
    if (go !== undefined) {
      await progress.step(`MongoDB: building FerretDB ${FERRETDB_VERSION}`, async () => {
        writeSources(sources);
        await runCommand(go, ['build', '-o', join(directory, 'ferretdb'), '.'], {
          cwd: sources,
          env,
          guardian,
        });
      });
      return;
    }
    // Debian's own release has too old a Go; sid has one that is new enough. The root is removed after the build.
    const root = join(directory, 'root');
    await progress.step(`MongoDB: building FerretDB ${FERRETDB_VERSION}, with Debian sid's Go`, async () => {
      mkdirSync(root);
      await makeDebianRoot(root, { 'golang-go': null }, context);
      writeSources(join(root, 'build'));
      await runInRoot(root, ['sh', '-c', 'cd /build && go build -o ferretdb .'], { guardian, env });
      copyFileSync(join(root, 'build/ferretdb'), join(directory, 'ferretdb'));
      rmSync(root, { recursive: true, force: true });
    });
  });
  return join(part, 'ferretdb');
}

const FERRETDB_CONNECTIONS = 100;

export interface NativeMongodb {
  stop: () => Promise<void>;
}

/**
 * Starts PostgreSQL and FerretDB and waits until a MongoDB client gets an answer.
 *
 * @throws Error when they cannot be installed or do not come up
 */
export async function startMongodb(context: NativeContext): Promise<NativeMongodb> {
  const { directory, progress } = context;
  const [ferretdb, root] = await Promise.all([installFerretdb(context), installPostgresql(context)]);
  const ports = await directory.ports(['mongodb', 'postgresql']);
  context.announce({ mongodbUri: uriAt(ports.mongodb) });
  return progress.step(`MongoDB (FerretDB ${FERRETDB_VERSION}): starting`, async () => {
    const postgresql = await startPostgresql(context, root, ports.postgresql);
    const gateway = await startFerretdb(context, ferretdb, ports);
    return {
      async stop() {
        await gateway.stop(directory.temporary ? 'SIGKILL' : 'SIGTERM');
        await postgresql.stop();
      },
    };
  });
}

function uriAt(port: number): string {
  return `mongodb://127.0.0.1:${port}/`;
}

/** Starts FerretDB on a PostgreSQL that already runs. */
async function startFerretdb(
  context: NativeContext,
  program: string,
  ports: { mongodb: number; postgresql: number },
): Promise<ProcessHandle> {
  const state = join(context.directory.path, 'ferretdb');
  mkdirSync(state, { recursive: true });
  return context.supervise({
    name: 'ferretdb',
    longestRestartDelayMs,
    command: program,
    args: [
      `postgres://postgres@127.0.0.1:${ports.postgresql}/postgres?pool_max_conns=${FERRETDB_CONNECTIONS}`,
      `127.0.0.1:${ports.mongodb}`,
      state,
    ],
    // With Go's default, garbage collection takes a quarter of FerretDB's processor time. This costs a few hundred megabytes.
    env: { GOGC: '400' },
    ready: () => verifyMongodb(uriAt(ports.mongodb)),
  });
}
