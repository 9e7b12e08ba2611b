// Processor time of running processes, as Linux tells it.
import { readFileSync } from 'node:fs';

/** Linux counts in hundredths of a second wherever Node runs. */
const ticksPerSecond = 100;

/** Seconds of user and system time; 0 for a process that is gone, and where there is no /proc. */
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
      // Gone, or another system than Linux.
    }
  }
  return ticks / ticksPerSecond;
}
