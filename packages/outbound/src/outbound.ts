// HTTP requests to addresses that users name: checked, connected to the checked address only, limited in time and size.
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
  /** Sent with every request: names the sender and an address for complaints. */
  userAgent: string;
  /** Private addresses that may be reached. */
  allowedPrivateTargets: readonly PrivateTarget[];
  /** Ports allowed on public addresses; default 80 and 443. The ports of a private target are part of its name. */
  allowedPorts?: readonly number[];
  /** Looks up all addresses of a name; default DNS. */
  resolve?: Resolve;
  /** Certificates (PEM) that are trusted besides Node's own list. */
  certificateAuthorities?: string[];
}

export interface Outbound {
  /**
   * Checks that need no look-up: scheme, credentials, port, IP addresses in every spelling, local names. Returns the
   * URL as it will be requested.
   * @throws OutboundRefused
   */
  check(url: string | URL): URL;
  /**
   * Makes one request. It follows up to `maxRedirects` redirects and checks the address of each. Connections go to
   * checked addresses only.
   * @throws OutboundRefused | OutboundFailed
   */
  request(url: URL, options: OutboundRequest): Promise<OutboundResponse>;
  /** Aborts the requests in progress and closes the kept connections. */
  close(): Promise<void>;
}

export interface OutboundRequest {
  method?: 'GET' | 'POST';
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  /** Ends the request at any stage: name, connection, redirects, body. */
  signal: AbortSignal;
  /** Maximum size of the decoded body. A longer body is cut there, and `truncated` is true. */
  maxBytes: number;
  /** Default 0: a redirect is then returned as the answer. */
  maxRedirects?: number;
  /** Decides on each redirect whose address passed the checks. False fails the request with `redirect_refused`. */
  allowRedirect?: (from: URL, to: URL) => boolean;
}

export interface OutboundResponse {
  /** The URL that answered, after redirects. */
  url: URL;
  status: number;
  /** Header names are in lower case; repeated headers are joined by commas. */
  headers: Record<string, string>;
  body: Buffer;
  truncated: boolean;
  /** The addresses of the redirects, in order. */
  redirects: URL[];
}

/** Maximum size of all headers of an answer. Policies and cookies of real sites exceed 16 KiB. */
const maximumHeaderBytes = 64 * 1_024;

/** The body of a redirect is read up to this size, to keep the connection usable. */
const redirectBodyBytes = 16 * 1_024;

/** For servers that send nothing. A caller's signal usually ends the request earlier. */
const silenceTimeoutMs = 60_000;

/**
 * How long unused connections are kept. A server may ask for a shorter time, or for a longer one up to the second
 * limit.
 */
const keepAliveTimeoutMs = 4_000;
const maximumKeepAliveTimeoutMs = 10_000;

/** Creates the only client of the system for addresses that users name. */
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
        const answer = await rejectOnAbort(signal, exchange(hop, options));
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
        hop = nextHop(hop, answer.status, next);
      }
    } catch (error) {
      if (isRedirected && error instanceof OutboundRefused)
        throw new OutboundRefused(error.code, `${host} redirects: ${error.message}`);
      throw toFailure(error, hop.url, signal);
    }
  }

  /** One request and its answer: a redirect to follow, or the final answer. */
  async function exchange(hop: Hop, options: OutboundRequest): Promise<Redirect | Answer> {
    const answer = await send(hop, options.signal).catch((error: unknown) => {
      if (hop.method !== 'GET' || options.signal.aborted || !isBrokenConnection(error)) throw error;
      return send(hop, options.signal);
    });
    const headers = joinHeaders(answer.headers);
    const { location } = headers;
    if (location !== undefined && isRedirect(answer.statusCode) && (options.maxRedirects ?? 0) > 0) {
      await answer.body.dump({ limit: redirectBodyBytes, signal: options.signal }).catch(() => undefined);
      return { status: answer.statusCode, location };
    }
    const read = await readBody(answer.body, headers['content-encoding'], options.maxBytes);
    return { status: answer.statusCode, headers, ...read };
  }

  function send({ url, method, headers, body }: Hop, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    // Tracing is off: foreign servers must not get trace ids, and traces must not get addresses, which may hold
    // secrets.
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

/** Rejects as soon as the signal aborts: undici does not look at the signal before it has a connection. */
function rejectOnAbort<Value>(signal: AbortSignal, work: Promise<Value>): Promise<Value> {
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

function locationOf(location: string, from: URL): URL {
  const url = parseUrl(location, from);
  if (url !== undefined) return url;
  throw new OutboundFailed(
    'malformed',
    `${from.host} redirects to "${location.slice(0, 100)}", which is not an address.`,
  );
}

/** Headers that only the first origin may get. */
const personalHeaders = ['authorization', 'cookie', 'proxy-authorization'];

/**
 * The request after a redirect, as browsers make it: 307 and 308 repeat the request, other statuses use GET. Personal
 * headers are sent to the same origin only.
 */
function nextHop(hop: Hop, status: number, url: URL): Hop {
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
