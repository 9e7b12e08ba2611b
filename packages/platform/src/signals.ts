// Signals to process groups. Every child process is started in a group of its own, with which its own children end.

/** Signals the group of a process; that it has ended meanwhile is no error. */
export function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // It has ended meanwhile.
  }
}
