// HTTP requests to addresses that users name: checked, connected to the checked address only, limited in time and size.
import { Agent } from 'undici';
import { acceptedEncoding } from './body.js';
import { createConnector } from './connect.js';
import { OutboundFailed, OutboundRefused } from './errors.js';
import { exchange, type Hop } from './exchange.js';
import { toFailure } from './failures.js';
import type { PrivateTarget } from './private-targets.js';
import { createResolver, type Resolve } from './resolve.js';
import { createRules, parseUrl, type Rules } from './rules.js';

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
    request: (url, request) => followRedirects({ rules, agent, userAgent }, url, request),
    close: () => agent.destroy(),
  };
}

interface RequestDependencies {
  rules: Rules;
  agent: Agent;
  userAgent: string;
}

/** Makes a request and those of its redirects, each to an address that passed the checks. */
async function followRedirects(
  { rules, agent, userAgent }: RequestDependencies,
  address: URL,
  options: OutboundRequest,
): Promise<OutboundResponse> {
  const { signal, maxBytes, maxRedirects = 0 } = options;
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
      const exchanged = exchange(agent, hop, { signal, maxBytes, reportsRedirects: maxRedirects > 0 });
      const answer = await rejectOnAbort(signal, exchanged);
      if ('body' in answer) return { url: hop.url, ...answer, redirects };
      isRedirected = true;
      const next = rules.checkUrl(locationOf(answer.location, hop.url));
      if (redirects.length === maxRedirects)
        throw new OutboundFailed('too_many_redirects', `${host} redirects more than ${maxRedirects} times.`);
      requireAllowed(options, hop.url, next);
      redirects.push(next);
      hop = nextHop(hop, answer.status, next);
    }
  } catch (error) {
    if (isRedirected && error instanceof OutboundRefused)
      throw new OutboundRefused(error.code, `${host} redirects: ${error.message}`);
    throw toFailure(error, hop.url, signal);
  }
}

/** @throws OutboundFailed when the caller does not allow the redirect */
function requireAllowed({ allowRedirect = () => true }: OutboundRequest, from: URL, to: URL): void {
  if (!allowRedirect(from, to))
    throw new OutboundFailed(
      'redirect_refused',
      `${from.host} redirects to ${to.host}, where it is not followed.`,
    );
}

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
