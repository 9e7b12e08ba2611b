// Uploads a body of any size in one request, as fast as the service reads it. By node:http: fetch gives up a request whose answer has not
// begun after five minutes.
import { request as requestHttp, type ClientRequest, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createGzip } from 'node:zlib';
import { ServiceUnreachable } from './errors.js';
import {
  contentOf,
  notJson,
  reasonOf,
  refusal,
  settingsOf,
  type ClientOptions,
  type WireAnswer,
} from './send.js';

export interface StreamedRequest {
  path: string;
  headers: Record<string, string>;
  parts: AsyncIterable<string | Uint8Array>;
  signal: AbortSignal | undefined;
}

/** Sends the parts gzipped, with one try. Resolves with the 2xx answer. */
export type Upload = (request: StreamedRequest) => Promise<WireAnswer>;

/** Milliseconds without a byte in either direction after which a connection counts as broken. */
const idleMs = 5 * 60_000;

export function uploader(options: ClientOptions): Upload {
  const { base, headers } = settingsOf(options);
  return async (request) => {
    request.signal?.throwIfAborted();
    const req = (base.startsWith('https:') ? requestHttps : requestHttp)(base + request.path, {
      method: 'POST',
      headers: { ...headers, ...request.headers, 'content-encoding': 'gzip' },
    });
    req.setTimeout(idleMs, () => req.destroy(new Error(`nothing for ${idleMs / 60_000} minutes`)));
    const answer = await exchange(req, request).catch((error: unknown) => {
      if (error instanceof ConnectionFailed)
        throw new ServiceUnreachable(`the upload to ${base} broke off: ${reasonOf(error.cause)}`, error);
      throw error;
    });
    const { status, isReplayed, type } = answer;
    const body = contentOf({ status, type }, answer.text);
    if (status >= 200 && status < 300 && body !== notJson) return { body, isReplayed };
    throw refusal(base, request, { status }, body);
  };
}

/** The connection failed, in difference to the parts. */
class ConnectionFailed extends Error {}

/** The parts, and what they threw. A generator around them would also catch what a broken connection throws into it. */
class WatchedParts implements AsyncIterable<string | Uint8Array> {
  failure: { error: unknown } | null = null;

  constructor(private readonly parts: AsyncIterable<string | Uint8Array>) {}

  [Symbol.asyncIterator](): AsyncIterator<string | Uint8Array> {
    const iterator = this.parts[Symbol.asyncIterator]();
    return {
      next: () =>
        iterator.next().catch((error: unknown) => {
          this.failure = { error };
          throw error;
        }),
      return: async () => {
        await iterator.return?.();
        return { done: true, value: undefined };
      },
    };
  }
}

interface RawAnswer {
  status: number;
  type: string;
  isReplayed: boolean;
  text: string;
}

/** The answer ends the upload, also when it comes before the end of the parts. */
async function exchange(req: ClientRequest, { parts, signal }: StreamedRequest): Promise<RawAnswer> {
  const stop = new AbortController();
  const source = new WatchedParts(parts);
  const sent = pipeline(Readable.from(source), createGzip({ level: constants.Z_BEST_SPEED }), req, {
    signal: signal ? AbortSignal.any([signal, stop.signal]) : stop.signal,
  });
  sent.catch(() => undefined);
  try {
    return await answerTo(req);
  } catch (error) {
    signal?.throwIfAborted();
    await sent.catch(() => undefined);
    if (source.failure) throw source.failure.error as Error;
    throw new ConnectionFailed('', { cause: error });
  } finally {
    stop.abort();
  }
}

async function answerTo(req: ClientRequest): Promise<RawAnswer> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    req.once('response', resolve);
    // Also after the answer: a service that has refused does not read on.
    req.on('error', reject);
    req.once('close', () => {
      reject(new Error('the connection was closed'));
    });
  });
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return {
    status: response.statusCode ?? 0,
    type: response.headers['content-type'] ?? '',
    isReplayed: response.headers['idempotent-replayed'] === 'true',
    text: Buffer.concat(chunks).toString(),
  };
}
