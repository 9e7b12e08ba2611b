// A queue in files, for events that must outlive the process: segments of lines, to which events are appended, and a file with the place up to
// which they are settled. A segment goes when all of it is settled. A crash leaves at most one line without an end, whose `add` has not
// resolved: it is cut off. Events that were answered just before a crash are sent again, under the ids that they have in the file.
import { mkdir } from 'node:fs/promises';
import { appender } from './append.js';
import { lineReader } from './line-reader.js';
import { settledPlaces, sizeOf, type EventQueue } from './queue.js';
import { foundSegments, removeSettled } from './segments.js';

export interface DiskQueueOptions {
  folder: string;
  /** Bytes of events that are not settled; a single larger one is let in alone. */
  maximumBytes: number;
  /** Whether `add` waits until the disk has the event, so that it outlives a loss of power as well. */
  sync: boolean;
  /** Bytes after which a segment is followed by another. */
  segmentBytes: number;
  /** Called for lines that are damaged. */
  onUnreadable: (lines: readonly string[]) => void;
}

/** Bytes of events that wait in memory for the disk, at most. */
const maximumUnwrittenBytes = 16_000_000;

/** @throws Error when the folder cannot be made, read or written */
export async function openDiskQueue(options: DiskQueueOptions): Promise<EventQueue> {
  const { folder, maximumBytes } = options;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { segments, nextNumber, end: foundEnd } = await foundSegments(folder);
  const appends = appender(options, { segments, nextNumber, end: foundEnd });
  const reader = lineReader(folder, segments);
  const settled = settledPlaces();
  let taken = 0;
  let bytes = foundEnd;
  let storing: Promise<void> = Promise.resolve();
  const store = () => removeSettled(folder, segments, settled.place, reader);

  const isFull = (size: number) =>
    (bytes > 0 && bytes + size > maximumBytes) ||
    (appends.unwrittenBytes > 0 && appends.unwrittenBytes + size > maximumUnwrittenBytes);
  const add = async (line: string) => {
    const size = sizeOf(line);
    bytes += size;
    await appends.add(line).catch((error: unknown) => {
      bytes -= size;
      throw error;
    });
  };
  const take: EventQueue['take'] = async (limits) => {
    if (taken >= appends.written) return null;
    const content = await reader.next(taken, limits);
    const isFound = taken < foundEnd;
    taken += content.length;
    const lines = isFound ? soundLines(linesOf(content), options.onUnreadable) : linesOf(content);
    return { lines, bytes: content.length, end: taken };
  };

  return {
    get end() {
      return appends.end;
    },
    get taken() {
      return taken;
    },
    get settled() {
      return settled.place;
    },
    get bytes() {
      return bytes;
    },
    isFull,
    add,
    take,
    settle(batch) {
      bytes -= batch.bytes;
      settled.settle(batch);
      storing = storing.then(store, store);
      return storing;
    },
    async close() {
      await appends.close();
      await storing.catch(() => undefined);
      await reader.close();
      return [];
    },
  };
}

function linesOf(content: Buffer): string[] {
  const lines = content.toString().split('\n');
  // Behind the last end of a line there is nothing, or the rest of a damaged segment.
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

/** The lines that are events; the others are reported. */
function soundLines(lines: string[], onUnreadable: (lines: readonly string[]) => void): string[] {
  const damaged = lines.filter((line) => !isObject(line));
  if (damaged.length === 0) return lines;
  onUnreadable(damaged);
  return lines.filter(isObject);
}

function isObject(line: string): boolean {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
