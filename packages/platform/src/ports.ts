// Free TCP ports on the loopback address. Programs that pick ports at the same time, as test runs do, do not get the same one:
// a picked port is claimed by a file of its own for as long as the server that is to listen on it may take to start.
import { mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';

// Below the range that Linux hands to outgoing connections (32768 and up): a port picked from that
// range may be taken by a client's connection between the check here and the server's bind.
const FIRST_PORT = 15_000;
const LAST_PORT = 32_000;
const ATTEMPTS = 200;
/** After this time a claimed port is free, or its server listens on it. */
const CLAIM_LASTS_MS = 10 * 60_000;
const claimsFolder = join(tmpdir(), `lead-scoring-ports-${userInfo().uid}`);
let preparation: Promise<void> | undefined;

/** Whether 127.0.0.1:port can be listened on at this moment. */
export async function isPortFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      server.close(() => resolve(true));
    });
  });
}

/**
 * Picks a port that is free on 127.0.0.1 now and that no program of this user picked by this function within the last ten
 * minutes.
 *
 * @throws Error when no free port is found after many tries
 */
export async function freePort(): Promise<number> {
  preparation ??= prepareClaims();
  await preparation;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const port = FIRST_PORT + Math.floor(Math.random() * (LAST_PORT - FIRST_PORT));
    if ((await claim(port)) && (await isPortFree(port))) return port;
  }
  throw new Error(`found no free port between ${FIRST_PORT} and ${LAST_PORT} on 127.0.0.1`);
}

async function prepareClaims(): Promise<void> {
  await mkdir(claimsFolder, { recursive: true });
  for (const name of await readdir(claimsFolder)) await removeOldClaim(join(claimsFolder, name));
}

/** Creates the file that claims a port; false when another call has claimed it. */
async function claim(port: number): Promise<boolean> {
  const file = join(claimsFolder, String(port));
  await removeOldClaim(file);
  try {
    await (await open(file, 'wx')).close();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

async function removeOldClaim(file: string): Promise<void> {
  const age = Date.now() - ((await stat(file).catch(() => undefined))?.mtimeMs ?? Infinity);
  if (age > CLAIM_LASTS_MS) await rm(file, { force: true });
}
