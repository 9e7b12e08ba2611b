// Archives of the classes that a Java server loads ("class data sharing"). A server that starts maps the archive in place of
// reading, checking and linking some ten thousand classes, which was more than half of the processor time of its start. An
// archive is made once per machine and Java, by a server that is started for it on data of its own, used, and ended.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, realpathSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { startProcess } from '../processes.js';
import type { NativeContext } from './native-server.js';

/** What a server needs to be started, besides its program. */
export type ServerHome = Pick<NativeContext, 'guardian' | 'supervise'> & { directory: { path: string } };

export interface ArchivedProgram {
  /** As its part of the cache: `kafka-4.1.0`. */
  name: string;
  /** The folder of its jars: an archive holds for these files only. */
  folder: string;
  java: string;
  /**
   * Starts the server in `home` with these further options of Java, does with it what the system does, and ends it with SIGTERM,
   * at which Java writes the archive.
   */
  train(home: ServerHome, options: readonly string[]): Promise<void>;
}

const archiveFile = 'classes.jsa';
/** Java writes the archive when it ends, which takes a few seconds of processor time. */
const endTimeoutMs = 120_000;

/**
 * The options with which Java uses the archive of a program, which is made first if there is none. None where it cannot be
 * made: the server then starts without. Java ignores an archive of another Java or of other jars.
 */
export async function classArchiveOptions(
  { cache, guardian, progress }: Pick<NativeContext, 'cache' | 'guardian' | 'progress'>,
  program: ArchivedProgram,
): Promise<string[]> {
  const part = await cache.part(`${program.name}-classes-${identityOf(program)}`, async (directory) => {
    await progress.step(`${program.name}: archiving its classes, for faster starts`, async () => {
      try {
        const home = trainingHome(directory, guardian);
        await program.train(home, [`-XX:ArchiveClassesAtExit=${join(directory, archiveFile)}`]);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        progress.say(`${program.name} starts without an archive of its classes: ${reason}`);
        rmSync(join(directory, archiveFile), { force: true });
      }
    });
    for (const name of readdirSync(directory))
      if (name !== archiveFile) rmSync(join(directory, name), { recursive: true, force: true });
  });
  const archive = join(part, archiveFile);
  return existsSync(archive) ? [`-XX:SharedArchiveFile=${archive}`] : [];
}

/** Changes with the Java and with the jars. */
function identityOf({ java, folder }: ArchivedProgram): string {
  const library = join(dirname(dirname(realpathSync(java))), 'lib/server/libjvm.so');
  const files = [existsSync(library) ? library : realpathSync(java), folder];
  const states = files.map((file) => {
    const { size, mtimeMs } = statSync(file);
    return `${file} ${size} ${mtimeMs}`;
  });
  return createHash('sha256').update(states.join('\n')).digest('hex').slice(0, 12);
}

function trainingHome(path: string, guardian: NativeContext['guardian']): ServerHome {
  return {
    guardian,
    directory: { path },
    supervise: (options) =>
      startProcess({
        ...options,
        logFile: join(path, 'logs', `${options.name}.log`),
        guardian,
        readyTimeoutMs: endTimeoutMs,
        stopTimeoutMs: endTimeoutMs,
      }),
  };
}
