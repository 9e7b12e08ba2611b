// Appends events to the last segment of a queue on disk: those that come while others are written are written together.
import { open, type FileHandle } from 'node:fs/promises';
import { sizeOf } from './queue.js';
import { segmentPath, type Segment } from './segments.js';

export interface Appender {
  /** The place behind the last event, whether it is written or not. */
  readonly end: number;
  /** The place behind the last event that is in a file. */
  readonly written: number;
  readonly unwrittenBytes: number;
  /** Resolves when the event is in a file. @throws Error when it is not, as on a full disk */
  add(line: string): Promise<void>;
  close(): Promise<void>;
}

interface Waiting {
  text: string;
  size: number;
  resolve: () => void;
  reject: (error: unknown) => void;
}

interface FoundEnd {
  /** Further ones are added. */
  segments: Segment[];
  nextNumber: number;
  /** The place behind the last event. */
  end: number;
}

interface AppendOptions {
  folder: string;
  sync: boolean;
  segmentBytes: number;
}

export function appender(options: AppendOptions, found: FoundEnd): Appender {
  const files = segmentWriter(options, found);
  let unwrittenBytes = 0;
  let waiting: Waiting[] = [];
  let writing: Promise<void> | null = null;

  const writeAll = async (): Promise<void> => {
    while (waiting.length > 0) {
      const group = waiting;
      waiting = [];
      const size = group.reduce((sum, one) => sum + one.size, 0);
      try {
        await files.append(group.map(({ text }) => text).join(''), size);
        for (const { resolve } of group) resolve();
      } catch (error) {
        for (const { reject } of group) reject(error);
      } finally {
        unwrittenBytes -= size;
      }
    }
    writing = null;
  };

  return {
    get end() {
      return files.written + unwrittenBytes;
    },
    get written() {
      return files.written;
    },
    get unwrittenBytes() {
      return unwrittenBytes;
    },
    add(line) {
      const size = sizeOf(line);
      unwrittenBytes += size;
      return new Promise((resolve, reject) => {
        waiting.push({ text: `${line}\n`, size, resolve, reject });
        writing ??= Promise.resolve().then(writeAll);
      });
    },
    async close() {
      await writing;
      await files.close();
    },
  };
}

/** Writes to the last segment, and begins another when it is long enough. */
function segmentWriter({ folder, sync, segmentBytes }: AppendOptions, { segments, ...found }: FoundEnd) {
  let { nextNumber, end: written } = found;
  let current: { segment: Segment; handle: FileHandle } | null = null;
  const close = async () => {
    const { handle } = current ?? {};
    current = null;
    await handle?.close();
  };
  const segmentForNext = async (): Promise<{ segment: Segment; handle: FileHandle }> => {
    if (current && current.segment.length < segmentBytes) return current;
    await close();
    const segment = { number: nextNumber, start: written, length: 0 };
    const handle = await open(segmentPath(folder, segment.number), 'ax', 0o600);
    nextNumber += 1;
    segments.push(segment);
    current = { segment, handle };
    if (sync) await syncFolder(folder);
    return current;
  };
  return {
    get written() {
      return written;
    },
    async append(text: string, size: number): Promise<void> {
      const { segment, handle } = await segmentForNext();
      try {
        await handle.appendFile(text);
        if (sync) await handle.datasync();
      } catch (error) {
        // What was written of it must not be sent: its senders are told that it failed.
        await handle.truncate(segment.length).catch(() => undefined);
        throw error;
      }
      segment.length += size;
      written += size;
    },
    close,
  };
}

/** So that a new file outlives a loss of power as well. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
