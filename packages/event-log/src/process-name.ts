// The name of this process, by which another process on the same machine knows that it has ended.
import { createHash } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';

/**
 * The machine's current run and this process's namespace of process ids, within which a process id names one process at a time.
 * Undefined where the system is not Linux.
 */
const processSpace = readProcessSpace();

function readProcessSpace(): string | undefined {
  try {
    const run = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const namespace = readlinkSync('/proc/self/ns/pid');
    return createHash('sha256').update(`${run} ${namespace}`).digest('hex').slice(0, 12);
  } catch {
    return undefined;
  }
}

/** `SPACE-PID`, or `PID` where no other process can know of this one. */
export const processName = [...(processSpace === undefined ? [] : [processSpace]), process.pid].join('-');

/**
 * Whether the process of this name was on this machine and has ended. False where that is not known, and where its process id was given
 * to another process.
 */
export function isOfDeadProcess(name: string): boolean {
  const [space, pid = ''] = name.split('-');
  if (space !== processSpace || !/^[1-9]\d{0,9}$/.test(pid)) return false;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
