// Draws preview pictures in a thread of its own: a picture takes up to a quarter of a second, in which a service could do
// nothing else, and whoever has a link may ask for it.
import { Piscina } from 'piscina';
import type { SharedExplanation } from './shared-explanation.js';

export interface PreviewPainter {
  /** @throws PainterBusy when too many pictures wait, or when this one takes too long */
  paint(shared: SharedExplanation): Promise<Uint8Array>;
  stop(): Promise<void>;
}

/** The picture cannot be drawn within moments. */
export class PainterBusy extends Error {}

export interface PreviewPainterOptions {
  /** The module whose `renderPreviewImage` draws. */
  module?: URL;
  /** Pictures that wait while one is drawn. */
  maximumWaiting?: number;
  /** From the asking to the picture; who takes longer is stopped. */
  timeoutMs?: number;
}

/** The thread starts with the first picture, and ends when none was asked for in a minute. */
export function createPreviewPainter({
  module = new URL('./render-preview-image.js', import.meta.url),
  maximumWaiting = 16,
  timeoutMs = 10_000,
}: PreviewPainterOptions = {}): PreviewPainter {
  const pool = new Piscina({
    filename: module.href,
    name: 'renderPreviewImage',
    minThreads: 0,
    maxThreads: 1,
    maxQueue: maximumWaiting,
    idleTimeout: 60_000,
    // The thread has no use for the service's telemetry, nor for its secrets.
    execArgv: [],
    env: {},
  });
  // Of a thread that could not start; the picture that it was for waits until its time is over, and says so then.
  let startError: unknown;
  pool.on('error', (error) => {
    startError = error;
  });
  return {
    async paint(shared) {
      if (pool.queueSize >= maximumWaiting)
        throw new PainterBusy(`${String(maximumWaiting)} pictures wait already`);
      const signal = AbortSignal.timeout(timeoutMs);
      try {
        return (await pool.run(shared, { signal })) as Uint8Array;
      } catch (error) {
        if (signal.aborted)
          throw new PainterBusy(`no picture within ${String(timeoutMs)} ms`, { cause: startError ?? error });
        throw error;
      }
    },
    stop: () => pool.destroy(),
  };
}
