// Paints pictures in a separate thread. A picture takes up to a second of computing, which would block the service.
import { Piscina } from 'piscina';

export interface Painter<Input> {
  /** @throws PainterBusy when too many pictures wait, or when this one takes too long */
  paint(input: Input): Promise<Uint8Array>;
  stop(): Promise<void>;
}

/** The painter has no capacity for the picture now. */
export class PainterBusy extends Error {}

export interface PainterOptions {
  /** The module that paints, and the name of its function. */
  module: URL;
  name: string;
  /** Maximum number of pictures waiting while one is drawn. */
  maximumWaiting?: number;
  /** Maximum time from the request to the picture; then drawing is stopped. */
  timeoutMs?: number;
}

/** The thread starts with the first picture, and ends after a minute without one. */
export function createPainter<Input>({
  module,
  name,
  maximumWaiting = 16,
  timeoutMs = 10_000,
}: PainterOptions): Painter<Input> {
  const pool = new Piscina({
    filename: module.href,
    name,
    minThreads: 0,
    maxThreads: 1,
    maxQueue: maximumWaiting,
    idleTimeout: 60_000,
    // The thread needs neither the service's telemetry nor its secrets.
    execArgv: [],
    env: {},
  });
  // The error of a thread that could not start. Its picture times out, and the error becomes the cause of that.
  let startError: unknown;
  pool.on('error', (error) => {
    startError = error;
  });
  return {
    async paint(input) {
      if (pool.queueSize >= maximumWaiting)
        throw new PainterBusy(`${String(maximumWaiting)} pictures wait already`);
      const signal = AbortSignal.timeout(timeoutMs);
      try {
        return (await pool.run(input, { signal })) as Uint8Array;
      } catch (error) {
        if (signal.aborted)
          throw new PainterBusy(`no picture within ${String(timeoutMs)} ms`, { cause: startError ?? error });
        throw error;
      }
    },
    stop: () => pool.destroy(),
  };
}
