// Processor time and memory of running processes, from /proc.
import { readFileSync } from 'node:fs';

/** Linux reports processor time in ticks of 10 ms on every platform that Node supports. */
const ticksPerSecond = 100;

/** Seconds of user and system time; 0 for a process that has ended, and where there is no /proc. */
export function cpuSecondsOf(pids: readonly (number | undefined)[]): number {
  let ticks = 0;
  for (const pid of pids) {
    if (pid === undefined) continue;
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      // The second field is the program's name in brackets, and may hold spaces.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      ticks += Number(fields[11]) + Number(fields[12]);
    } catch {
      // The process has ended, or the system is not Linux.
    }
  }
  return ticks / ticksPerSecond;
}

/** The memory that a process occupies, in MiB; 0 for a process that has ended, and where there is no /proc. */
export function memoryMiBOf(pid: number | undefined): number {
  if (pid === undefined) return 0;
  try {
    const [, kib = '0'] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return Number(kib) / 1_024;
  } catch {
    return 0;
  }
}
