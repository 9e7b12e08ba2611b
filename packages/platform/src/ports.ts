// Free TCP ports on the loopback address.
import { createServer } from 'node:net';

// Below the range that Linux hands to outgoing connections (32768 and up): a port picked from that
// range may be taken by a client's connection between the check here and the server's bind.
const FIRST_PORT = 15_000;
const LAST_PORT = 32_000;
const ATTEMPTS = 200;
/** So many of the last picked ports are not picked again: the program that asked for one may not listen on it yet. */
const REMEMBERED = 1_000;
const picked = new Set<number>();

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
 * Picks a port that is free on 127.0.0.1 now and not among the last 1,000 that this process picked.
 *
 * @throws Error when no free port is found after many tries
 */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const port = FIRST_PORT + Math.floor(Math.random() * (LAST_PORT - FIRST_PORT));
    if (picked.has(port)) continue;
    picked.add(port);
    for (const oldest of picked) {
      if (picked.size <= REMEMBERED) break;
      picked.delete(oldest);
    }
    if (await isPortFree(port)) return port;
  }
  throw new Error(`found no free port between ${FIRST_PORT} and ${LAST_PORT} on 127.0.0.1`);
}
