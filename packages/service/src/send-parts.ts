// Sends an answer part by part, as fast as its reader takes it. An answer that breaks off is never taken for a whole one.
import type { ServerResponse } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import { constants, createGzip } from 'node:zlib';

/**
 * Resolves when the answer is sent, or when its reader has gone or took nothing for `idleMs`, whose connection is closed. The parts
 * are then told that no more is wanted.
 * @throws the error of the parts; if the answer has begun, its connection is closed, by which the reader sees that it is incomplete
 */
export async function sendParts(
  res: ServerResponse,
  parts: AsyncIterable<string | Uint8Array>,
  { idleMs }: { idleMs: number },
): Promise<void> {
  try {
    for await (const part of parts) {
      if (res.destroyed) return;
      if (!res.write(part) && !(await taken(res, 'drain', idleMs))) {
        breakOff(res);
        return;
      }
    }
  } catch (error) {
    if (res.headersSent) breakOff(res);
    throw error;
  }
  res.end();
  if (!(await taken(res, 'finish', idleMs))) breakOff(res);
}

/** The same parts, of which the first is there. Rejects where it cannot be had, before anything is sent. */
export async function begun<Part>(parts: AsyncIterable<Part>): Promise<AsyncIterable<Part>> {
  const iterator = parts[Symbol.asyncIterator]();
  let first: IteratorResult<Part> | null = await iterator.next();
  const rest: AsyncIterator<Part> = {
    next: () => {
      const next = first ? Promise.resolve(first) : iterator.next();
      first = null;
      return next;
    },
    return: async () => (await iterator.return?.()) ?? { done: true, value: undefined },
  };
  return { [Symbol.asyncIterator]: () => rest };
}

/** The parts as gzip. Each is sent at once, and not kept for a better compression with the next. */
export function gzipped(parts: AsyncIterable<string | Uint8Array>): AsyncIterable<Uint8Array> {
  const gzip = createGzip({ flush: constants.Z_SYNC_FLUSH });
  pipeline(Readable.from(parts), gzip, () => {
    // An error of the parts is thrown to the reader of `gzip`, which it has ended.
  });
  return gzip;
}

/** Whether the event came within the time: the reader took what waited for it, or all. */
function taken(res: ServerResponse, event: 'drain' | 'finish', idleMs: number): Promise<boolean> {
  if (res.destroyed) return Promise.resolve(false);
  if (event === 'finish' && res.writableFinished) return Promise.resolve(true);
  return new Promise((resolve) => {
    const settle = (is: boolean) => {
      clearTimeout(timer);
      res.off(event, onTaken).off('close', onClose);
      resolve(is);
    };
    const onTaken = () => {
      settle(true);
    };
    const onClose = () => {
      settle(false);
    };
    const timer = setTimeout(onClose, idleMs);
    res.on(event, onTaken).on('close', onClose);
  });
}

/** Closes the connection. HTTP/1.0 ends an answer by that, so there it is reset. */
function breakOff(res: ServerResponse): void {
  if (res.req.httpVersion === '1.0') res.socket?.resetAndDestroy();
  res.destroy();
}
