// Reads events from the segments of a queue on disk, in order.
import { open, type FileHandle } from 'node:fs/promises';
import type { BatchLimits } from './queue.js';
import { segmentPath, type Segment } from './segments.js';

export interface LineReader {
  /** The bytes of the next lines of a segment, from a place in the queue on: at least one line, of any size. */
  next(place: number, limits: BatchLimits): Promise<Buffer>;
  /** Closes the segment, if it is the one that is open. */
  release(segment: Segment): Promise<void>;
  close(): Promise<void>;
}

export function lineReader(folder: string, segments: readonly Segment[]): LineReader {
  let reading: { segment: Segment; handle: FileHandle } | null = null;
  const close = async () => {
    const { handle } = reading ?? {};
    reading = null;
    await handle?.close();
  };
  return {
    async next(place, limits) {
      const segment = segments.find(({ start, length }) => place < start + length);
      if (!segment) throw new Error(`${folder}: no segment has the place ${place}`);
      if (reading?.segment !== segment) {
        await close();
        reading = { segment, handle: await open(segmentPath(folder, segment.number), 'r') };
      }
      return nextLines(reading.handle, place - segment.start, segment.start + segment.length - place, limits);
    },
    async release(segment) {
      if (reading?.segment === segment) await close();
    },
    close,
  };
}

const lineEnd = 10;

async function nextLines(
  handle: FileHandle,
  position: number,
  available: number,
  limits: BatchLimits,
): Promise<Buffer> {
  let size = Math.min(available, limits.bytes);
  let content = await readAt(handle, position, size);
  while (!content.includes(lineEnd) && size < available) {
    size = Math.min(available, size * 2);
    content = await readAt(handle, position, size);
  }
  // A larger event is a batch of its own.
  const wanted = size > limits.bytes ? 1 : limits.events;
  let end = 0;
  for (let count = 0; count < wanted; count += 1) {
    const found = content.indexOf(lineEnd, end);
    if (found < 0) break;
    end = found + 1;
  }
  // Without an end of a line, what is left of a damaged segment.
  return end === 0 ? content : content.subarray(0, end);
}

async function readAt(handle: FileHandle, position: number, size: number): Promise<Buffer> {
  const content = Buffer.allocUnsafe(size);
  let read = 0;
  while (read < size) {
    const { bytesRead } = await handle.read(content, read, size - read, position + read);
    if (bytesRead === 0) throw new Error(`a segment ends ${size - read} bytes before its events do`);
    read += bytesRead;
  }
  return content;
}
