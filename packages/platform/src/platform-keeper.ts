// Keeps a platform running between runs of tests. Each user holds a connection to the keeper; when there has been none for a
// while, the keeper ends the servers and itself. kept-platform.ts is the user's side.
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import type { PlatformEndpoints } from './endpoints.js';
import { connectToKeeper, type KeeperFile, type KeeperMessage } from './kept-platform.js';
import type { RunningPlatform } from './platform.js';

export interface KeeperOptions {
  /** Holds the keeper's port and, once the servers are up, their addresses. It exists as long as the keeper runs. */
  stateFile: string;
  start: (onProgress: (message: string) => void) => Promise<Pick<RunningPlatform, 'endpoints' | 'stop'>>;
  /** The keeper ends after this time without a user. Default: 30 minutes. */
  idleMs?: number;
}

export interface PlatformKeeper {
  /** Ends the servers and the keeper; calling it twice is fine. */
  stop(): Promise<void>;
  /** Resolves when the keeper has ended, for whatever reason. */
  ended: Promise<void>;
}

const DEFAULT_IDLE_MS = 30 * 60_000;
/** The time for which a keeper without servers waits for the user that started it, to report the failure. */
const FAILURE_KEPT_MS = 10_000;

/**
 * Starts a platform and keeps it running. Resolves when users can connect, which is before the servers are up; with undefined
 * when another running keeper has the state file.
 *
 * @throws Error when the state file cannot be written
 */
export async function keepPlatform(options: KeeperOptions): Promise<PlatformKeeper | undefined> {
  const keeper = new Keeper(options);
  return (await keeper.open()) ? keeper : undefined;
}

class Keeper implements PlatformKeeper {
  readonly ended: Promise<void>;
  readonly #options: KeeperOptions;
  readonly #server: Server;
  readonly #users = new Set<Socket>();
  /** The messages for a user that connects now: the progress of the start while it lasts, afterwards only the addresses. */
  #greeting: KeeperMessage[] = [];
  /** True when the servers could not be started. The keeper then waits for a user to tell. */
  #failed = false;
  #state: KeeperFile = { port: 0, pid: process.pid };
  #idle: NodeJS.Timeout | undefined;
  #platform: Promise<Pick<RunningPlatform, 'endpoints' | 'stop'>> | undefined;
  #stopping: Promise<void> | undefined;
  #end: () => void = () => undefined;

  constructor(options: KeeperOptions) {
    this.#options = options;
    this.#server = createServer((socket) => {
      this.#welcome(socket);
    });
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  async open(): Promise<boolean> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    this.#state = { port: (this.#server.address() as AddressInfo).port, pid: process.pid };
    if (!(await this.#claimStateFile())) {
      this.#server.close();
      return false;
    }
    this.#waitForUsers();
    this.#platform = this.#options.start((message) => {
      this.#broadcast({ progress: message });
    });
    this.#platform.then(
      ({ endpoints }) => {
        this.#announce(endpoints);
      },
      (error: unknown) => {
        this.#failed = true;
        this.#broadcast({ failed: error instanceof Error ? error.message : String(error) });
        if (this.#users.size > 0) void this.stop();
        else this.#waitForUsers();
      },
    );
    return true;
  }

  stop(): Promise<void> {
    return (this.#stopping ??= this.#stop());
  }

  async #stop(): Promise<void> {
    clearTimeout(this.#idle);
    try {
      const platform = await this.#platform?.catch(() => undefined);
      await platform?.stop();
    } finally {
      if (readState(this.#options.stateFile)?.port === this.#state.port)
        rmSync(this.#options.stateFile, { force: true });
      for (const user of this.#users) user.end();
      this.#server.close();
      this.#end();
    }
  }

  /** Creates the state file atomically; of several keepers that try at the same time, one succeeds. */
  async #claimStateFile(): Promise<boolean> {
    const { stateFile } = this.#options;
    const own = `${stateFile}.${this.#state.pid}-${this.#state.port}`;
    mkdirSync(dirname(stateFile), { recursive: true });
    writeFileSync(own, `${JSON.stringify(this.#state)}\n`, { mode: 0o600 });
    try {
      for (;;) {
        try {
          linkSync(own, stateFile);
          return true;
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
        }
        const other = await connectToKeeper(stateFile);
        if (other) {
          other.destroy();
          return false;
        }
        // Left by a keeper that was killed.
        rmSync(stateFile, { force: true });
      }
    } finally {
      rmSync(own, { force: true });
    }
  }

  #announce(endpoints: PlatformEndpoints): void {
    const { stateFile } = this.#options;
    this.#state = { ...this.#state, endpoints };
    writeFileSync(`${stateFile}.new`, `${JSON.stringify(this.#state, null, 2)}\n`, { mode: 0o600 });
    renameSync(`${stateFile}.new`, stateFile);
    this.#greeting = [];
    this.#broadcast({ endpoints });
  }

  #broadcast(message: KeeperMessage): void {
    this.#greeting.push(message);
    for (const user of this.#users) user.write(`${JSON.stringify(message)}\n`);
  }

  #welcome(socket: Socket): void {
    clearTimeout(this.#idle);
    this.#users.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => {
      this.#users.delete(socket);
      this.#waitForUsers();
    });
    for (const message of this.#greeting) socket.write(`${JSON.stringify(message)}\n`);
    if (this.#failed) void this.stop();
    createInterface({ input: socket })
      .on('line', (line) => {
        if (line === 'stop') void this.stop();
      })
      .on('error', () => undefined);
  }

  #waitForUsers(): void {
    clearTimeout(this.#idle);
    if (this.#users.size > 0 || this.#stopping) return;
    const idleMs = this.#failed ? FAILURE_KEPT_MS : (this.#options.idleMs ?? DEFAULT_IDLE_MS);
    this.#idle = setTimeout(() => void this.stop(), idleMs);
  }
}

function readState(stateFile: string): KeeperFile | undefined {
  try {
    return JSON.parse(readFileSync(stateFile, 'utf8')) as KeeperFile;
  } catch {
    return undefined;
  }
}
