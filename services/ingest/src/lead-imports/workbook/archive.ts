// The files within a workbook, which is a ZIP archive, read from the parts in which it is stored. What comes out of it is limited, however
// small it is.
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { fromRandomAccessReader, RandomAccessReader, type Entry, type ZipFile } from 'yauzl';
import { unreadable } from '../table-rows.js';

/** Gives a part of the stored bytes; all parts but the last have the same size. */
export interface StoredBytes {
  size: number;
  partBytes: number;
  part(number: number): Promise<Buffer>;
}

/** Files in the archive, and bytes that they have together; and how many times as large as the archive that may be. */
const limits = { entries: 10_000, bytes: 2_000_000_000, freeBytes: 10_000_000, expansion: 200 };

export class Archive {
  #bytes = 0;

  private constructor(
    private readonly zip: ZipFile,
    private readonly entries: ReadonlyMap<string, Entry>,
    private readonly size: number,
  ) {}

  /** @throws ProblemError 400 when the bytes are no archive */
  static async open(stored: StoredBytes): Promise<Archive> {
    try {
      const zip = await openZip(new StoredReader(stored), stored.size);
      return new Archive(zip, await entriesOf(zip), stored.size);
    } catch (error) {
      throw asUnreadable(error);
    }
  }

  has(name: string): boolean {
    return this.entries.has(name);
  }

  /**
   * The bytes of a file that is there.
   * @throws ProblemError 400 when the archive is damaged, encrypted, or expands too much
   */
  async *read(name: string): AsyncGenerator<Buffer> {
    const entry = this.entries.get(name);
    if (!entry) throw new Error(`the archive has no ${name}`);
    try {
      const stream = await new Promise<Readable>((resolve, reject) => {
        this.zip.openReadStream(entry, (error, opened) => {
          if (error) reject(error);
          else resolve(opened);
        });
      });
      for await (const bytes of stream as AsyncIterable<Buffer>) {
        this.#bytes += bytes.length;
        const most = Math.max(limits.freeBytes, Math.min(limits.bytes, this.size * limits.expansion));
        if (this.#bytes > most)
          throw unreadable(
            `The workbook is more than ${String(limits.expansion)} times as large inside as it was sent, or has more than ${String(limits.bytes)} bytes inside. Save its first sheet as CSV.`,
          );
        yield bytes;
      }
    } catch (error) {
      throw asUnreadable(error);
    }
  }
}

class StoredReader extends RandomAccessReader {
  constructor(private readonly stored: StoredBytes) {
    super();
  }

  override _readStreamForRange(start: number, end: number): Readable {
    return Readable.from(this.#range(start, end), { objectMode: false });
  }

  async *#range(start: number, end: number): AsyncGenerator<Buffer> {
    const { partBytes } = this.stored;
    for (let at = start; at < end;) {
      const number = Math.floor(at / partBytes);
      const from = at - number * partBytes;
      const part = await this.stored.part(number);
      const bytes = part.subarray(from, Math.min(part.length, end - number * partBytes));
      if (bytes.length === 0) throw unreadable('The workbook ends too early. Send it again.');
      yield bytes;
      at += bytes.length;
    }
  }
}

const openZip = promisify(
  (reader: RandomAccessReader, size: number, done: (error: Error | null, zip: ZipFile) => void) => {
    fromRandomAccessReader(reader, size, { lazyEntries: true, autoClose: false }, done);
  },
);

function entriesOf(zip: ZipFile): Promise<Map<string, Entry>> {
  return new Promise((resolve, reject) => {
    const entries = new Map<string, Entry>();
    zip.on('error', reject);
    zip.on('end', () => {
      resolve(entries);
    });
    zip.on('entry', (entry: Entry) => {
      entries.set(entry.fileName, entry);
      if (entries.size > limits.entries) reject(unreadable('The archive has too many files for a workbook.'));
      else zip.readEntry();
    });
    zip.readEntry();
  });
}

/** Errors of yauzl are plain; those of the database and problems of ours stay as they are. */
function asUnreadable(error: unknown): unknown {
  if (!(error instanceof Error) || error.name !== 'Error') return error;
  return unreadable(
    `The workbook cannot be read: ${error.message.slice(0, 200)}. Save it anew as XLSX without a password, or its first sheet as CSV.`,
    error,
  );
}
