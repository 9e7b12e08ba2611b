// The file of a partition in a backup: record batches as a broker stores them (Kafka's message format 2), each with the offset of its first
// record, one after the other, compressed with gzip. Where Kafka had no record, the marker of a transaction say, the next batch begins later.
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { EventLogError } from '../errors.js';
import { readBatches, sizeBatch, type RawRecord } from '../kafka/record-batch.js';

/** The contents of a file, as the manifest states them. */
export interface FileSummary {
  /** Bytes of the file. */
  bytes: number;
  /** SHA-256 of the file, in hexadecimal. */
  sha256: string;
}

/** Bytes of a batch before what its length field counts. */
const beforeCounted = 12;
const lengthAt = 8;
const chunkBytes = 256 * 1024;
const noProducer = { producerId: -1, producerEpoch: -1, firstSequence: -1, transactional: false };

/**
 * Writes records, in the order of their offsets, to a new file.
 * @throws Error with the code of the operating system: ENOSPC where the disk is full, EEXIST where there is such a file
 */
export async function writePartitionFile(
  file: string,
  records: AsyncIterable<readonly RawRecord[]>,
): Promise<FileSummary & { records: number }> {
  let count = 0;
  const batches = async function* () {
    for await (const some of records)
      for (const run of runsOf(some)) {
        count += run.length;
        yield batchOf(run);
      }
  };
  const summary = new SummaryStream();
  await pipeline(
    Readable.from(batches()),
    createGzip({ chunkSize: chunkBytes }),
    summary,
    createWriteStream(file, { flags: 'wx', mode: 0o600, flush: true }),
  );
  return { ...summary.done(), records: count };
}

/** The parts of a list in which each record follows the one before. */
export function runsOf(records: readonly RawRecord[]): RawRecord[][] {
  const runs: RawRecord[][] = [];
  for (const record of records) {
    const last = runs.at(-1);
    if (last?.at(-1)?.offset === record.offset - 1n) last.push(record);
    else runs.push([record]);
  }
  return runs;
}

function batchOf(run: readonly RawRecord[]): Buffer {
  const batch = sizeBatch(run, noProducer);
  const buffer = Buffer.allocUnsafe(batch.bytes);
  batch.writeTo(buffer, 0);
  // The checksum does not cover the offset.
  buffer.writeBigInt64BE(run[0]?.offset ?? 0n, 0);
  return buffer;
}

/**
 * The records of a file, a batch at a time.
 * @throws EventLogError `backup_damaged` when the file ends within a batch
 */
export async function* readPartitionFile(file: string): AsyncGenerator<RawRecord[], void> {
  const content = createReadStream(file).pipe(createGunzip({ chunkSize: chunkBytes }));
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of content) {
    rest = rest.length === 0 ? (chunk as Buffer) : Buffer.concat([rest, chunk as Buffer]);
    for (let end = firstEnd(rest); end !== undefined; end = firstEnd(rest)) {
      for (const { records } of readBatches(rest.subarray(0, end))) yield records;
      rest = rest.subarray(end);
    }
  }
  if (rest.length > 0) throw new EventLogError('backup_damaged', `${file} ends within a batch of records`);
}

/** Where the first batch ends; undefined where it is not all there. */
function firstEnd(buffer: Buffer): number | undefined {
  if (buffer.length < beforeCounted) return undefined;
  const end = beforeCounted + buffer.readInt32BE(lengthAt);
  return end <= buffer.length ? end : undefined;
}

/** Reads a whole file. */
export async function summaryOf(file: string): Promise<FileSummary> {
  const summary = new SummaryStream();
  summary.resume();
  await pipeline(createReadStream(file, { highWaterMark: chunkBytes }), summary);
  return summary.done();
}

/** Passes bytes on, and sums them up. */
class SummaryStream extends Transform {
  readonly #hash = createHash('sha256');
  #bytes = 0;

  override _transform(
    chunk: Buffer,
    _encoding: string,
    done: (error: Error | null, chunk: Buffer) => void,
  ): void {
    this.#hash.update(chunk);
    this.#bytes += chunk.length;
    done(null, chunk);
  }

  done(): FileSummary {
    return { bytes: this.#bytes, sha256: this.#hash.digest('hex') };
  }
}
