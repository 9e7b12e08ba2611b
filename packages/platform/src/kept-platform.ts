// Uses a platform that a keeper process keeps running between runs, and starts the keeper when there is none.
import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { PlatformEndpoints } from './endpoints.js';
import { waitUntil } from './waiting.js';

/** The content of the state file. */
export interface KeeperFile {
  port: number;
  pid: number;
  /** Absent until the servers are up. */
  endpoints?: PlatformEndpoints;
}

/** A message of the keeper to its users: one line of JSON. */
export type KeeperMessage = { progress: string } | { endpoints: PlatformEndpoints } | { failed: string };

export interface KeptPlatform {
  endpoints: PlatformEndpoints;
  /** Says that this process no longer needs the servers. They stay up for the next one. */
  release(): void;
}

export interface KeptPlatformOptions {
  stateFile: string;
  onProgress?: (message: string) => void;
  /** Starts a keeper for the state file. Default: as a process of its own, which outlives this one. */
  startKeeper?: (stateFile: string) => Pick<ChildProcess, 'exitCode'>;
}

const KEEPER_STARTS_WITHIN_MS = 30_000;

/**
 * Resolves when the kept servers answer.
 *
 * @throws Error when the keeper cannot be started, or cannot bring up the servers
 */
export async function useKeptPlatform(options: KeptPlatformOptions): Promise<KeptPlatform> {
  const { stateFile, startKeeper = startKeeperProcess } = options;
  const socket = (await connectToKeeper(stateFile)) ?? (await connectToNewKeeper(stateFile, startKeeper));
  try {
    const endpoints = await endpointsFrom(socket, options.onProgress ?? (() => undefined));
    return { endpoints, release: () => socket.destroy() };
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/** Makes the keeper end its servers and itself. Resolves when they have ended; with false when no keeper runs. */
export async function stopKeptPlatform(stateFile: string): Promise<boolean> {
  const socket = await connectToKeeper(stateFile);
  if (!socket) return false;
  await new Promise<void>((resolve) => {
    socket.once('close', () => {
      resolve();
    });
    socket.resume();
    socket.write('stop\n');
  });
  return true;
}

/** A connection to the keeper that the state file names, or undefined when none answers there. */
export async function connectToKeeper(stateFile: string): Promise<Socket | undefined> {
  let port: number;
  try {
    ({ port } = JSON.parse(readFileSync(stateFile, 'utf8')) as KeeperFile);
  } catch {
    return undefined;
  }
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.once('connect', () => {
      socket.on('error', () => undefined);
      resolve(socket);
    });
    socket.once('error', () => {
      resolve(undefined);
    });
  });
}

async function connectToNewKeeper(
  stateFile: string,
  startKeeper: NonNullable<KeptPlatformOptions['startKeeper']>,
): Promise<Socket> {
  const keeper = startKeeper(stateFile);
  return waitUntil(
    async () => {
      const socket = await connectToKeeper(stateFile);
      if (!socket) throw new Error('it does not answer');
      return socket;
    },
    {
      description: `the keeper of the test platform did not start (its log: ${logOf(stateFile)})`,
      timeoutMs: KEEPER_STARTS_WITHIN_MS,
      // A keeper exits with 0 when another one was first.
      abortReason: () =>
        keeper.exitCode === null || keeper.exitCode === 0 ? undefined : `it ended with ${keeper.exitCode}`,
    },
  );
}

function startKeeperProcess(stateFile: string): ChildProcess {
  mkdirSync(dirname(stateFile), { recursive: true });
  const log = openSync(logOf(stateFile), 'a');
  const script = fileURLToPath(new URL('../scripts/platform-keeper.mjs', import.meta.url));
  // A session of its own, so that Ctrl-C in the terminal ends the test and not the servers.
  const keeper = spawn(process.execPath, [script, stateFile], {
    detached: true,
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  keeper.unref();
  return keeper;
}

function logOf(stateFile: string): string {
  return stateFile.replace(/(\.json)?$/, '.log');
}

function endpointsFrom(socket: Socket, onProgress: (message: string) => void): Promise<PlatformEndpoints> {
  return new Promise((resolve, reject) => {
    createInterface({ input: socket })
      .on('line', (line) => {
        const message = JSON.parse(line) as KeeperMessage;
        if ('progress' in message) onProgress(message.progress);
        else if ('endpoints' in message) resolve(message.endpoints);
        else reject(new Error(message.failed));
      })
      .on('error', () => undefined)
      .once('close', () => {
        reject(new Error('the keeper of the test platform ended before the servers were up'));
      });
  });
}
