// Reads a body of any size part by part, in memory that does not grow with it.
import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { formOf, incomplete, leastUploadRate, notGzip, tooSlow, type LeastRate } from './body.js';
import { ProblemError } from './problems.js';

export interface BodyPartsOptions {
  /** Accepted media types, lower case. */
  types: readonly string[];
  /** Of the time in which the reader waits for bytes. Default `leastUploadRate`. */
  leastRate?: LeastRate;
  /** Whether the charset that the request names is passed over. */
  takesAnyCharset?: boolean;
}

/** Decompressed bytes for each sent one, beyond which a body says nothing; lines of JSON have 50 at the most. */
const maximumExpansion = 200;
/** Decompressed bytes that are not held against that. */
const freeBytes = 10_000_000;

export interface BodyParts {
  /** Media type, lower case, without parameters. */
  type: string;
  /**
   * The decompressed bytes.
   * @throws ProblemError while it is read: 408 when it arrives too slowly, 400 for broken gzip or a body that ends early, 413 for one
   *   that is almost nothing before decompression
   */
  parts: AsyncIterable<Buffer>;
}

/** @throws ProblemError 415 for an unsupported media type, charset or encoding */
export function readBodyParts(
  req: IncomingMessage,
  { types, leastRate = leastUploadRate, takesAnyCharset = false }: BodyPartsOptions,
): BodyParts {
  const { type, isGzip } = formOf(req, types, takesAnyCharset);
  return { type, parts: isGzip ? decompressed(req, leastRate) : received(req, leastRate) };
}

async function* received(req: IncomingMessage, leastRate: LeastRate): AsyncGenerator<Buffer> {
  const pace = new Pace(leastRate);
  // The connection may have ended while authentication waited for a server; its events do not come again.
  if (req.destroyed && !req.readableEnded) throw incomplete(undefined);
  // The request is left as it is when this ends early: its connection has still to carry the answer.
  const parts = req.iterator({ destroyOnReturn: false }) as AsyncIterator<Buffer>;
  const next = () =>
    parts.next().catch((error: unknown) => {
      throw incomplete(error);
    });
  try {
    for (let part = await pace.timed(next); part.done !== true; part = await pace.timed(next)) {
      pace.count(part.value.length);
      yield part.value;
    }
    if (!req.complete) throw incomplete(undefined);
  } finally {
    // Not awaited: of an upload that is too slow a part is still to come. Without this, the rest could not be passed over.
    void parts.return?.().catch(() => undefined);
  }
}

/** The time that a reader waits for an upload, against the bytes that came in it. A reader that is busy does not count. */
class Pace {
  #waitedMs = 0;
  #bytes = 0;

  constructor(private readonly least: LeastRate) {}

  count(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes < this.least.bytes) return;
    this.#bytes = 0;
    this.#waitedMs = 0;
  }

  /** @throws ProblemError 408 when the upload is too slow */
  async timed<Result>(wait: () => Promise<Result>): Promise<Result> {
    const began = performance.now();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        // After a pause of this process the timer fires before the bytes that have arrived meanwhile are read.
        setImmediate(() => {
          reject(tooSlow(this.least));
        });
      }, this.least.periodMs - this.#waitedMs);
    });
    try {
      return await Promise.race([wait(), late]);
    } finally {
      clearTimeout(timer);
      late.catch(() => undefined);
      this.#waitedMs = Math.min(this.#waitedMs + performance.now() - began, this.least.periodMs);
    }
  }
}

async function* decompressed(req: IncomingMessage, leastRate: LeastRate): AsyncGenerator<Buffer> {
  let sent = 0;
  let unpacked = 0;
  const counted = async function* () {
    for await (const part of received(req, leastRate)) {
      sent += part.length;
      yield part;
    }
  };
  // Its errors come out of the iteration.
  const gunzip = pipeline(counted, createGunzip(), () => undefined);
  try {
    for await (const part of gunzip as AsyncIterable<Buffer>) {
      unpacked += part.length;
      if (unpacked > freeBytes && unpacked > sent * maximumExpansion) throw expandsTooMuch();
      yield part;
    }
  } catch (error) {
    throw error instanceof ProblemError ? error : notGzip(error);
  }
}

function expandsTooMuch(): ProblemError {
  return new ProblemError(
    413,
    'body_too_large',
    `The body is more than ${String(maximumExpansion)} times as large after decompression as it was sent. Send it without Content-Encoding.`,
  );
}
