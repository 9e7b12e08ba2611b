// Holds a platform up between runs of tests. Who uses it is connected to the keeper; when nobody has been for a while, it ends
// the servers and itself. See kept-platform.ts for the other side.
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import type { PlatformEndpoints } from './endpoints.js';
import { connectToKeeper, type KeeperFile, type KeeperMessage } from './kept-platform.js';
import type { RunningPlatform } from './platform.js';

export interface KeeperOptions {
  /** Says where the keeper listens and, once they are up, where the servers are; it is there as long as the keeper is. */
  stateFile: string;
  start: (onProgress: (message: string) => void) => Promise<Pick<RunningPlatform, 'endpoints' | 'stop'>>;
  /** Without a user for so long, it ends. Default: 30 minutes. */
  idleMs?: number;
}

export interface PlatformKeeper {
  /** Ends the servers and the keeper; calling it twice is fine. */
  stop(): Promise<void>;
  /** Resolves when the keeper has ended, for whatever reason. */
  ended: Promise<void>;
}

const DEFAULT_IDLE_MS = 30 * 60_000;
const FAILURE_KEPT_MS = 10_000;

/**
 * Brings a platform up and keeps it. Resolves when users can connect, which is before the servers are up; with undefined
 * when a living keeper already has the state file.
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
  /** What a user who comes now is told first: the steps of the start while it lasts, then only where the servers are. */
  #told: KeeperMessage[] = [];
  /** The servers could not be brought up; whoever started the keeper is still to be told. */
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
      this.#tell({ progress: message });
    });
    this.#platform.then(
      ({ endpoints }) => {
        this.#announce(endpoints);
      },
      (error: unknown) => {
        this.#failed = true;
        this.#tell({ failed: error instanceof Error ? error.message : String(error) });
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

  /** Whole or not at all, and by one of those who try at the same time. */
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
        // A keeper that was killed left it.
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
    this.#told = [];
    this.#tell({ endpoints });
  }

  #tell(message: KeeperMessage): void {
    this.#told.push(message);
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
    for (const message of this.#told) socket.write(`${JSON.stringify(message)}\n`);
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
