// Who a process is. A pid alone is not enough: the system reuses it, so a pid read from a file may by
// now belong to a stranger. Together with the moment it started and the machine's boot it is unique.
import { readFileSync } from 'node:fs';

export interface ProcessIdentity {
  pid: number;
  /** Clock ticks since boot at which the process started, as Linux reports it. */
  startTime: string;
  bootId: string;
}

/** Field 22 of `/proc/PID/stat`; the name before it may hold spaces and brackets. */
export function parseStartTime(stat: string): string | undefined {
  // After the closing bracket of the name comes field 3, the state.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state] = fields;
  return state === 'Z' || state === 'X' ? undefined : fields[19];
}

/** The identity of a living process, or undefined when there is none by that pid (a zombie is dead). */
export function identityOf(pid: number): ProcessIdentity | undefined {
  try {
    const startTime = parseStartTime(readFileSync(`/proc/${pid}/stat`, 'utf8'));
    const bootId = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return startTime === undefined ? undefined : { pid, startTime, bootId };
  } catch {
    return undefined;
  }
}

/** Whether the very process that was recorded still lives, not another one with its pid. */
export function isAlive(recorded: ProcessIdentity): boolean {
  const now = identityOf(recorded.pid);
  return now?.startTime === recorded.startTime && now.bootId === recorded.bootId;
}
