// One producer at a time has a folder: two would send the events of each other.
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import process from 'node:process';

/** Folders of producers in this process. */
const taken = new Set<string>();

/**
 * Takes the folder for this process. What a killed process has left does not hold it.
 *
 * @returns gives it back
 * @throws Error when another producer has it
 */
export async function lockFolder(folder: string): Promise<() => Promise<void>> {
  const path = resolve(folder);
  if (taken.has(path)) throw new Error(`${path} is the queue of another producer of this process`);
  taken.add(path);
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
    const file = join(path, 'lock');
    const holder = await readFile(file, 'utf8').catch(() => null);
    const [pid = 0, started = ''] = holder?.trim().split(' ') ?? [];
    if (holder !== null && Number(pid) !== process.pid && (await startOf(Number(pid))) === started)
      throw new Error(
        `${path} is the queue of process ${pid}, which runs: give each process a folder of its own`,
      );
    await writeFile(file, `${process.pid} ${await startOf(process.pid)}\n`, { mode: 0o600 });
    return async () => {
      await rm(file, { force: true });
      taken.delete(path);
    };
  } catch (error) {
    taken.delete(path);
    throw error;
  }
}

/** When the process started, in the form of its system; `alive` where that cannot be read, `none` when there is no such process. */
async function startOf(pid: number): Promise<string> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return 'none';
  }
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The fields behind the name, which may have spaces: the 20th is the start in clock ticks.
  return text.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? 'alive';
}
