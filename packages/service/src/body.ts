// Reads request bodies: limited before and after decompression, checked for UTF-8, parsed with the place of every
// error. It replaces express.json, which is slower and reports less.
import type { IncomingMessage } from 'node:http';
import { createGunzip } from 'node:zlib';
import { depthExceededAt, duplicateKeyIn, syntaxErrorAt } from './json-text.js';
import { ProblemError } from './problems.js';

/** The minimum rate of an upload; a slower upload is ended. */
export interface LeastRate {
  bytes: number;
  periodMs: number;
}

/** 500 bytes a second, averaged over ten seconds. */
export const leastUploadRate: LeastRate = { bytes: 5_000, periodMs: 10_000 };

export interface BodyOptions {
  /** Maximum size of the body, applied both to the sent and to the decompressed bytes. */
  maximumBytes: number;
  /** Accepted media types, lower case. */
  types: readonly string[];
  /** Default `leastUploadRate`. */
  leastRate?: LeastRate;
  /**
   * Called with the number of bytes newly held in memory: as they arrive, and again as they are decompressed. An error
   * that it throws ends the reading.
   */
  onHeld?: (bytes: number) => void;
}

export interface Body {
  /** Media type, lower case, without parameters. */
  type: string;
  /** Decompressed. */
  bytes: Buffer;
}

/**
 * Reads the body, and decompresses it when it is gzip.
 * @throws ProblemError 415 for an unsupported media type, charset or encoding, 413 when it is too large (decompression
 *   stops at the limit), 408 when it arrives too slowly, 400 for broken gzip or a body that ends early
 */
export async function readBody(req: IncomingMessage, options: BodyOptions): Promise<Body> {
  const { type, isGzip } = formOf(req, options.types);
  const sent = await receive(req, options);
  return { type, bytes: isGzip ? await unpack(sent, options) : sent };
}

/**
 * The media type of a body, lower case, and whether it is compressed.
 * @throws ProblemError 415 for an unsupported media type, charset or encoding
 */
export function formOf(
  req: IncomingMessage,
  types: readonly string[],
  takesAnyCharset = false,
): { type: string; isGzip: boolean } {
  const type = mediaTypeOf(req, types, takesAnyCharset);
  const encoding = (req.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  if (encoding !== 'identity' && encoding !== 'gzip' && encoding !== 'x-gzip')
    throw new ProblemError(
      415,
      'unsupported_content_encoding',
      'Content-Encoding must be gzip, or be left out for a body that is not compressed.',
      { headers: { 'Accept-Encoding': 'gzip, identity' } },
    );
  return { type, isGzip: encoding !== 'identity' };
}

/** Decompresses in parts, so that `onHeld` sees the memory grow. */
async function unpack(sent: Buffer, options: BodyOptions): Promise<Buffer> {
  const gunzip = createGunzip();
  gunzip.end(sent);
  const held = new HeldBytes(options);
  try {
    for await (const part of gunzip as AsyncIterable<Buffer>) held.add(part);
  } catch (error) {
    throw error instanceof ProblemError ? error : notGzip(error);
  }
  return held.whole();
}

export function notGzip(cause: unknown): ProblemError {
  return new ProblemError(
    400,
    'malformed_gzip',
    'The body is not valid gzip data. Send it again, or without Content-Encoding.',
    { cause },
  );
}

/** The parts of a body that are in memory so far. */
class HeldBytes {
  readonly #parts: Buffer[] = [];
  #length = 0;

  constructor(private readonly limits: Pick<BodyOptions, 'maximumBytes' | 'onHeld'>) {}

  get bytes(): number {
    return this.#length;
  }

  /** @throws ProblemError 413 above the maximum size, or the error of `onHeld` */
  add(part: Buffer): void {
    this.#length += part.length;
    if (this.#length > this.limits.maximumBytes) throw tooLarge(this.limits.maximumBytes);
    this.limits.onHeld?.(part.length);
    this.#parts.push(part);
  }

  whole(): Buffer {
    const [first] = this.#parts;
    return this.#parts.length === 1 && first ? first : Buffer.concat(this.#parts, this.#length);
  }
}

function mediaTypeOf(req: IncomingMessage, types: readonly string[], takesAnyCharset: boolean): string {
  const [type = '', ...parameters] = (req.headers['content-type'] ?? '')
    .split(';')
    .map((part) => part.trim().toLowerCase());
  if (!types.includes(type))
    throw new ProblemError(
      415,
      'unsupported_media_type',
      `Content-Type must be ${types.join(' or ')}${type === '' ? '; it is missing' : ''}.`,
      { headers: { Accept: types.join(', ') } },
    );
  const charset = parameters
    .find((parameter) => parameter.startsWith('charset='))
    ?.slice('charset='.length)
    .replaceAll('"', '');
  if (
    !takesAnyCharset &&
    charset !== undefined &&
    charset !== 'utf-8' &&
    charset !== 'utf8' &&
    charset !== 'us-ascii'
  )
    throw new ProblemError(415, 'unsupported_charset', 'The body must be UTF-8.');
  return type;
}

function receive(req: IncomingMessage, options: BodyOptions): Promise<Buffer> {
  const { maximumBytes, leastRate = leastUploadRate } = options;
  const announced = Number(req.headers['content-length'] ?? 0);
  if (announced > maximumBytes) return Promise.reject(tooLarge(maximumBytes));
  // The connection may have ended while authentication waited for a server; its events do not come again.
  if (req.destroyed && !req.readableEnded) return Promise.reject(incomplete(undefined));
  return new Promise((resolve, reject) => {
    const held = new HeldBytes(options);
    const stopWatching = watchRate(
      () => held.bytes,
      leastRate,
      () => {
        refuse(tooSlow(leastRate));
      },
    );
    const finish = (settle: () => void) => {
      stopWatching();
      req.off('data', onData).off('end', onEnd).off('error', onBroken).off('close', onBroken);
      settle();
    };
    const refuse = (error: Error) => {
      finish(() => {
        req.pause();
        reject(error);
      });
    };
    const onData = (chunk: Buffer) => {
      try {
        held.add(chunk);
      } catch (error) {
        refuse(error as Error);
      }
    };
    const onEnd = () => {
      finish(() => {
        resolve(held.whole());
      });
    };
    const onBroken = (cause?: unknown) => {
      finish(() => {
        reject(incomplete(cause));
      });
    };
    req.on('data', onData).on('end', onEnd).on('error', onBroken).on('close', onBroken);
  });
}

/** Calls `onSlow` at the end of the first period that received fewer bytes than the minimum rate. */
function watchRate(received: () => number, { bytes, periodMs }: LeastRate, onSlow: () => void): () => void {
  let before = 0;
  let stopped = false;
  const timer = setInterval(() => {
    // After a pause of this process the timer fires before the bytes that have arrived meanwhile are read.
    setImmediate(() => {
      if (stopped) return;
      if (received() - before < bytes) onSlow();
      before = received();
    });
  }, periodMs);
  return () => {
    stopped = true;
    clearInterval(timer);
  };
}

export function incomplete(cause: unknown): ProblemError {
  return new ProblemError(
    400,
    'incomplete_body',
    'The connection ended before the body was whole. Send it again.',
    { cause },
  );
}

export function tooSlow({ bytes, periodMs }: LeastRate): ProblemError {
  const seconds = String(periodMs / 1_000);
  return new ProblemError(
    408,
    'request_timeout',
    `The body came too slowly: less than ${String(bytes)} bytes in ${seconds} s. Send it again over a faster connection, or in smaller requests.`,
    { headers: { Connection: 'close' } },
  );
}

function tooLarge(maximumBytes: number): ProblemError {
  return new ProblemError(
    413,
    'body_too_large',
    `The body must be at most ${String(maximumBytes)} bytes, also after decompression. Send it in several requests.`,
  );
}

/**
 * Decodes UTF-8; a byte order mark at the start is dropped.
 * @throws ProblemError 400 `malformed_utf8`
 */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new ProblemError(400, 'malformed_utf8', 'The body is not valid UTF-8. Encode it as UTF-8.', {
      cause: error,
    });
  }
}

export interface JsonOptions {
  /**
   * Maximum nesting of arrays and objects; default 64. Infinity skips the check, for callers that check it themselves.
   */
  maximumDepth?: number;
  /** Name of the text in error messages: `The body`, `Line 3`. */
  what?: string;
}

/**
 * Parses a JSON text.
 * @throws ProblemError 400 `malformed_json` with the place, or `json_too_deep`
 */
export function parseJson(text: string, { maximumDepth = 64, what = 'The body' }: JsonOptions = {}): unknown {
  // Before parsing: validation and serialisation recurse, and deep nesting would overflow the stack.
  if (maximumDepth !== Infinity) {
    const at = depthExceededAt(text, maximumDepth);
    if (at !== null)
      throw new ProblemError(
        400,
        'json_too_deep',
        `${what} nests deeper than ${String(maximumDepth)} levels at character ${String(at + 1)}. Flatten it.`,
      );
  }
  const parsed = parsedOrProblem(text, what);
  // Skipped for callers that check the depth themselves: batches of events are large, and this reads every character.
  const twice = maximumDepth === Infinity ? null : duplicateKeyIn(text);
  if (twice === null) return parsed;
  const path = ['body', ...twice.map(String)].join('.').slice(0, longestPath);
  throw new ProblemError(
    400,
    'malformed_json',
    `${what} has a key twice in one object: ${path}. Send each key once; which of the two is meant cannot be told.`,
    { errors: [{ path, message: 'is there twice' }] },
  );
}

const longestPath = 500;

function parsedOrProblem(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const at = syntaxErrorAt(text) ?? text.length;
    const before = text.slice(0, at);
    const line = before.split('\n').length;
    const column = at - before.lastIndexOf('\n');
    throw new ProblemError(
      400,
      'malformed_json',
      text.trim() === ''
        ? `${what} is empty; it must be JSON.`
        : `${what} is not valid JSON: ${at >= text.length ? 'it ends too early' : 'unexpected character'} at line ${String(line)}, column ${String(column)}.`,
      { cause },
    );
  }
}

/** Whether the request announces a body that is not empty. */
export function hasBody(req: IncomingMessage): boolean {
  return req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > 0;
}

/**
 * Reads a JSON body: `readBody`, `decodeUtf8` and `parseJson` in one.
 * @param isOptional a request without a body gives an empty object
 * @param check gets the bytes before they are parsed
 */
export async function readJson(
  req: IncomingMessage,
  {
    maximumBytes,
    maximumDepth = 64,
    isOptional = false,
    check,
  }: {
    maximumBytes: number;
    maximumDepth?: number;
    isOptional?: boolean;
    check?: (bytes: Uint8Array) => void;
  },
): Promise<unknown> {
  if (isOptional && !hasBody(req)) {
    check?.(new Uint8Array());
    return {};
  }
  const { bytes } = await readBody(req, { maximumBytes, types: ['application/json'] });
  check?.(bytes);
  return parseJson(decodeUtf8(bytes), { maximumDepth });
}
