// The guardian process: reads from its standard input which processes to end (one JSON message a line), and ends them
// when the input closes without a `dismiss` message, as it does when the parent is killed.
// Plain JavaScript, so that it runs the same from the sources and from a build. See src/guardian.ts.
import { readFileSync, rmSync } from 'node:fs';
import { createInterface } from 'node:readline';

const KILL_AFTER_MS = 10_000;
const POLL_MS = 100;

const guarded = new Map();
const directories = new Set();
let dismissed = false;

function isAlive({ pid, startTime }) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] !== 'Z' && fields[0] !== 'X' && fields[19] === startTime;
  } catch {
    return false;
  }
}

function signalGroup(pid, signal) {
  try {
    process.kill(-pid, signal);
  } catch {
    // It has ended meanwhile.
  }
}

function living() {
  return [...guarded.values()].filter(({ identity }) => isAlive(identity));
}

async function endAll() {
  for (const { identity, signal } of living()) {
    // A stopped process takes no signal but SIGKILL until it is continued.
    signalGroup(identity.pid, 'SIGCONT');
    signalGroup(identity.pid, signal);
  }
  const deadline = Date.now() + KILL_AFTER_MS;
  while (living().length > 0) {
    if (Date.now() > deadline) {
      for (const { identity } of living()) {
        signalGroup(identity.pid, 'SIGKILL');
      }
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  for (const directory of directories) {
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  if (message.guard) {
    guarded.set(message.guard.pid, { identity: message.guard, signal: message.signal });
  } else if (message.release) {
    guarded.delete(message.release);
  } else if (message.removeAfterwards) {
    directories.add(message.removeAfterwards);
  } else if (message.dismiss) {
    dismissed = true;
  }
}
if (!dismissed) {
  await endAll();
}
