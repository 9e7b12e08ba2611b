// The identity of a process. A pid alone is not enough: the system reuses it, so a pid read from a file may
// belong to another process by now. Together with its start time and the machine's boot id it is unique.
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

/** The identity of a living process, or undefined when no living process has that pid; a zombie counts as dead. */
export function identityOf(pid: number): ProcessIdentity | undefined {
  try {
    const startTime = parseStartTime(readFileSync(`/proc/${pid}/stat`, 'utf8'));
    const bootId = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return startTime === undefined ? undefined : { pid, startTime, bootId };
  } catch {
    return undefined;
  }
}

/** Whether the recorded process still lives, and its pid does not belong to another process. */
export function isAlive(recorded: ProcessIdentity): boolean {
  const now = identityOf(recorded.pid);
  return now?.startTime === recorded.startTime && now.bootId === recorded.bootId;
}
