// One request to a checked address and its answer. Redirects are reported, never followed here.
import { context } from '@opentelemetry/api';
import { suppressTracing } from '@opentelemetry/core';
import type { Dispatcher } from 'undici';
import { readBody } from './body.js';
import { isBrokenConnection } from './failures.js';

/** A request to one address, the first one or that of a redirect. */
export interface Hop {
  url: URL;
  method: 'GET' | 'POST';
  headers: Record<string, string>;
  body: string | Uint8Array | undefined;
}

export interface ExchangeOptions {
  signal: AbortSignal;
  /** Maximum size of the decoded body. A longer body is cut there, and `truncated` is true. */
  maxBytes: number;
  /** Whether an answer with a redirect status and a location is a `Redirect`. */
  reportsRedirects: boolean;
}

export interface Redirect {
  status: number;
  location: string;
}

export interface Answer {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
  truncated: boolean;
}

/** The body of a redirect is read up to this size, to keep the connection usable. */
const redirectBodyBytes = 16 * 1_024;

/** Sends one request and reads its answer. A GET is sent again once when a kept connection broke. */
export async function exchange(
  dispatcher: Dispatcher,
  hop: Hop,
  { signal, maxBytes, reportsRedirects }: ExchangeOptions,
): Promise<Redirect | Answer> {
  const answer = await send(dispatcher, hop, signal).catch((error: unknown) => {
    if (hop.method !== 'GET' || signal.aborted || !isBrokenConnection(error)) throw error;
    return send(dispatcher, hop, signal);
  });
  const headers = joinHeaders(answer.headers);
  const { location } = headers;
  if (location !== undefined && isRedirect(answer.statusCode) && reportsRedirects) {
    await answer.body.dump({ limit: redirectBodyBytes, signal }).catch(() => undefined);
    return { status: answer.statusCode, location };
  }
  const read = await readBody(answer.body, headers['content-encoding'], maxBytes);
  return { status: answer.statusCode, headers, ...read };
}

function send(
  dispatcher: Dispatcher,
  { url, method, headers, body }: Hop,
  signal: AbortSignal,
): Promise<Dispatcher.ResponseData> {
  // Tracing is off: foreign servers must not get trace ids, and traces must not get addresses, which may hold
  // secrets.
  return context.with(suppressTracing(context.active()), () =>
    dispatcher.request({
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      method,
      headers,
      body: body ?? null,
      signal,
    }),
  );
}

function joinHeaders(headers: Dispatcher.ResponseData['headers']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]): [string, string] => [
      name,
      typeof value === 'string' ? value : (value ?? []).join(', '),
    ]),
  );
}

function isRedirect(status: number): boolean {
  return [301, 302, 303, 307, 308].includes(status);
}
