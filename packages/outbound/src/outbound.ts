// Requests to addresses that users name: checked, pinned, bounded.
import { context } from '@opentelemetry/api';
import { suppressTracing } from '@opentelemetry/core';
import { Agent, type Dispatcher } from 'undici';
import { acceptedEncoding, readBody } from './body.js';
import { createConnector } from './connect.js';
import { OutboundFailed, OutboundRefused } from './errors.js';
import { isBrokenConnection, toFailure } from './failures.js';
import type { PrivateTarget } from './private-targets.js';
import { createResolver, type Resolve } from './resolve.js';
import { createRules, parseUrl } from './rules.js';

export interface OutboundOptions {
  /** Sent with every request: who asks, and where to complain. */
  userAgent: string;
  /** What may be reached although it is not public. */
  allowedPrivateTargets: readonly PrivateTarget[];
  /** Of public addresses; 80 and 443 unless told. A private target's ports are allowed by naming them. */
  allowedPorts?: readonly number[];
  /** All addresses of a name; DNS unless told. */
  resolve?: Resolve;
  /** Certificates (PEM) that are trusted besides the usual ones. */
  certificateAuthorities?: string[];
}

export interface Outbound {
  /**
   * Everything that can be said without looking the name up: scheme, credentials, port, IP addresses in every spelling,
   * local names. The answer is the URL as it will be requested.
   * @throws OutboundRefused
   */
  check(url: string | URL): URL;
  /**
   * One request. Redirects are followed up to `maxRedirects`, each checked anew; the addresses that were checked are the
   * ones that are connected.
   * @throws OutboundRefused | OutboundFailed
   */
  request(url: URL, options: OutboundRequest): Promise<OutboundResponse>;
  /** Breaks off what is under way and closes the kept connections. */
  close(): Promise<void>;
}

export interface OutboundRequest {
  method?: 'GET' | 'POST';
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  /** Bounds the whole: name, connection, redirects and the last byte of the body. */
  signal: AbortSignal;
  /** Of the decoded body. What is beyond is not read, and `truncated` is true. */
  maxBytes: number;
  /** 0 unless told: a redirect is then answered as it came. */
  maxRedirects?: number;
  /** Asked about redirects whose address may be requested. False ends with `redirect_refused`. */
  allowRedirect?: (from: URL, to: URL) => boolean;
}

export interface OutboundResponse {
  /** Where the answer came from, after redirects. */
  url: URL;
  status: number;
  /** Names in lower case; what came several times is joined by commas. */
  headers: Record<string, string>;
  body: Buffer;
  truncated: boolean;
  /** The addresses that were redirected to, in order. */
  redirects: URL[];
}

/** Of an answer, all together. Real sites' policies and cookies pass 16 KiB. */
const maximumHeaderBytes = 64 * 1_024;

/** A redirect's own body is read this far to keep the connection, no further. */
const redirectBodyBytes = 16 * 1_024;

/** Fallbacks: a caller's signal ends earlier. */
const silenceTimeoutMs = 60_000;

/** Unused connections. A server may ask for less, and for no more than the second. */
const keepAliveTimeoutMs = 4_000;
const maximumKeepAliveTimeoutMs = 10_000;

/** The only way of the system to make requests to addresses that users name. */
export function createOutbound(options: OutboundOptions): Outbound {
  const { userAgent, allowedPrivateTargets, allowedPorts = [80, 443] } = options;
  const rules = createRules({ allowedPrivateTargets, allowedPorts });
  const isNamed = (hostname: string): boolean => allowedPrivateTargets.some(({ host }) => host === hostname);
  const agent = new Agent({
    connect: createConnector({
      rules,
      resolve: options.resolve ?? createResolver(isNamed),
      certificateAuthorities: options.certificateAuthorities ?? [],
    }),
    pipelining: 1,
    maxHeaderSize: maximumHeaderBytes,
    headersTimeout: silenceTimeoutMs,
    bodyTimeout: silenceTimeoutMs,
    keepAliveTimeout: keepAliveTimeoutMs,
    keepAliveMaxTimeout: maximumKeepAliveTimeoutMs,
  });
  return {
    check: (url) => rules.checkUrl(url),
    request,
    close: () => agent.destroy(),
  };

  async function request(address: URL, options: OutboundRequest): Promise<OutboundResponse> {
    const { signal, maxRedirects = 0, allowRedirect = () => true } = options;
    const redirects: URL[] = [];
    let hop: Hop = {
      url: rules.checkUrl(address),
      method: options.method ?? 'GET',
      headers: headersOf(options.headers ?? {}, userAgent),
      body: options.body,
    };
    const { host } = hop.url;
    let isRedirected = false;
    try {
      for (;;) {
        signal.throwIfAborted();
        const answer = await bounded(signal, exchange(hop, options));
        if ('body' in answer) return { url: hop.url, ...answer, redirects };
        isRedirected = true;
        const next = rules.checkUrl(locationOf(answer.location, hop.url));
        if (redirects.length === maxRedirects)
          throw new OutboundFailed(
            'too_many_redirects',
            `${host} redirects more than ${maxRedirects} times.`,
          );
        if (!allowRedirect(hop.url, next))
          throw new OutboundFailed(
            'redirect_refused',
            `${hop.url.host} redirects to ${next.host}, where it is not followed.`,
          );
        redirects.push(next);
        hop = redirected(hop, answer.status, next);
      }
    } catch (error) {
      if (isRedirected && error instanceof OutboundRefused)
        throw new OutboundRefused(error.code, `${host} redirects: ${error.message}`);
      throw toFailure(error, hop.url, signal);
    }
  }

  /** One request and its answer: a redirect that is to be followed, or all that was read. */
  async function exchange(hop: Hop, options: OutboundRequest): Promise<Redirect | Answer> {
    const answer = await send(hop, options.signal).catch((error: unknown) => {
      if (hop.method !== 'GET' || options.signal.aborted || !isBrokenConnection(error)) throw error;
      return send(hop, options.signal);
    });
    const headers = joined(answer.headers);
    const { location } = headers;
    if (location !== undefined && isRedirect(answer.statusCode) && (options.maxRedirects ?? 0) > 0) {
      await answer.body.dump({ limit: redirectBodyBytes, signal: options.signal }).catch(() => undefined);
      return { status: answer.statusCode, location };
    }
    const read = await readBody(answer.body, headers['content-encoding'], options.maxBytes);
    return { status: answer.statusCode, headers, ...read };
  }

  function send({ url, method, headers, body }: Hop, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    // Nobody else's server gets our trace ids, and no trace the addresses, which may hold secrets.
    return context.with(suppressTracing(context.active()), () =>
      agent.request({
        origin: url.origin,
        path: `${url.pathname}${url.search}`,
        method,
        headers,
        body: body ?? null,
        signal,
      }),
    );
  }
}

interface Hop {
  url: URL;
  method: 'GET' | 'POST';
  headers: Record<string, string>;
  body: string | Uint8Array | undefined;
}

interface Redirect {
  status: number;
  location: string;
}

type Answer = Pick<OutboundResponse, 'status' | 'headers' | 'body' | 'truncated'>;

/** Ends with the signal, whatever the work itself does: undici waits for a connection before it looks at a signal. */
function bounded<Value>(signal: AbortSignal, work: Promise<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => {
      reject(new Error('the signal ended the request', { cause: signal.reason }));
    };
    signal.addEventListener('abort', giveUp, { once: true });
    work.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', giveUp);
    });
  });
}

function headersOf(given: Record<string, string>, userAgent: string): Record<string, string> {
  const lowerCase = Object.entries(given).map(([name, value]): [string, string] => [
    name.toLowerCase(),
    value,
  ]);
  return {
    accept: '*/*',
    ...Object.fromEntries(lowerCase),
    'user-agent': userAgent,
    'accept-encoding': acceptedEncoding,
  };
}

function joined(headers: Dispatcher.ResponseData['headers']): Record<string, string> {
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

function locationOf(location: string, from: URL): URL {
  const url = parseUrl(location, from);
  if (url !== undefined) return url;
  throw new OutboundFailed(
    'malformed',
    `${from.host} redirects to "${location.slice(0, 100)}", which is not an address.`,
  );
}

/** What only the first host may see. */
const personalHeaders = ['authorization', 'cookie', 'proxy-authorization'];

/** As browsers do: 307 and 308 repeat the request, the others ask again with GET; secrets stay with their origin. */
function redirected(hop: Hop, status: number, url: URL): Hop {
  const repeats = hop.method === 'GET' || status === 307 || status === 308;
  const dropped = [
    ...(url.origin === hop.url.origin ? [] : personalHeaders),
    ...(repeats ? [] : ['content-type']),
  ];
  return {
    url,
    method: repeats ? hop.method : 'GET',
    headers: Object.fromEntries(Object.entries(hop.headers).filter(([name]) => !dropped.includes(name))),
    body: repeats ? hop.body : undefined,
  };
}
