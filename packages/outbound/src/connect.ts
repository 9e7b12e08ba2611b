// Opens connections to checked addresses only: the addresses that the rules have checked, and no others.
import { isIP, connect as connectTcp, type LookupFunction, type Socket } from 'node:net';
import { connect as connectTls, rootCertificates } from 'node:tls';
import type { buildConnector } from 'undici';
import { canonicalHost } from './addresses.js';
import { OutboundFailed } from './errors.js';
import { addressesOf, type HostAddress, type Resolve } from './resolve.js';
import { portOf, type Rules } from './rules.js';

export interface ConnectOptions {
  rules: Rules;
  resolve: Resolve;
  /** PEM certificates trusted besides Node's own list. */
  certificateAuthorities: readonly string[];
}

/**
 * For name, TCP and TLS together. The request's signal usually ends it earlier; this limits how long the socket
 * survives it.
 */
const connectTimeoutMs = 10_000;

/** With several addresses, how long each is tried before the next, so that broken IPv6 does not use up the time. */
const attemptTimeoutMs = 1_000;

/** Usual names have a few addresses; a hostile DNS server may list thousands. */
const maximumAddresses = 8;

/** The connector of undici: looks a name up, checks every address, and connects to one of the checked addresses. */
export function createConnector(options: ConnectOptions): buildConnector.connector {
  return (target, callback) => {
    connect(target, options).then(
      (socket) => {
        callback(null, socket);
      },
      (error: unknown) => {
        callback(error as Error, null);
      },
    );
  };
}

async function connect(
  target: buildConnector.Options,
  { rules, resolve, certificateAuthorities }: ConnectOptions,
): Promise<Socket> {
  const host = canonicalHost(target.hostname);
  const port = portOf(target);
  const deadline = AbortSignal.timeout(connectTimeoutMs);
  const addresses = await beforeDeadline(deadline, host, addressesOf(host, resolve));
  // One private address refuses the whole name: a name with private and public addresses could lead to either.
  for (const { address } of addresses) rules.checkAddress(host, address, port);
  return openSocket({
    host,
    port,
    secure: target.protocol === 'https:',
    addresses: addresses.slice(0, maximumAddresses),
    certificateAuthorities,
    deadline,
  });
}

interface Connection {
  host: string;
  port: number;
  secure: boolean;
  addresses: readonly HostAddress[];
  certificateAuthorities: readonly string[];
  deadline: AbortSignal;
}

function openSocket(connection: Connection): Promise<Socket> {
  const { host, port, secure, addresses, certificateAuthorities, deadline } = connection;
  return new Promise((resolve, reject) => {
    const options = {
      host,
      port,
      lookup: fixedLookup(addresses),
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: attemptTimeoutMs,
    };
    const socket = secure
      ? connectTls({
          ...options,
          servername: isIP(host) === 0 ? host : '',
          ALPNProtocols: ['http/1.1'],
          ...(certificateAuthorities.length > 0 && { ca: [...rootCertificates, ...certificateAuthorities] }),
        })
      : connectTcp(options);
    let reached = false;
    const giveUp = (): void => {
      socket.destroy(timeoutFailure(host, deadline.reason));
    };
    deadline.addEventListener('abort', giveUp, { once: true });
    socket
      .setNoDelay(true)
      .once('connect', () => {
        reached = true;
        const remote = canonicalHost(socket.remoteAddress ?? '');
        if (addresses.some(({ address }) => canonicalHost(address) === remote)) return;
        socket.destroy(
          new OutboundFailed('unreachable', `${host} was reached under an address that is not its own.`),
        );
      })
      .once(secure ? 'secureConnect' : 'connect', () => {
        deadline.removeEventListener('abort', giveUp);
        if (!socket.destroyed) resolve(socket);
      })
      // The listener stays: nobody else listens for errors until the first request.
      .on('error', (error: NodeJS.ErrnoException) => {
        deadline.removeEventListener('abort', giveUp);
        reject(reached && secure ? tlsFailure(host, error) : unreachable(host, port, error));
      });
  });
}

/** A lookup function that answers the checked addresses for any name. Node does not call it for IP addresses. */
function fixedLookup(addresses: readonly HostAddress[]): LookupFunction {
  return (_hostname, options, callback) => {
    const [first] = addresses;
    if (options.all === true) callback(null, [...addresses]);
    else callback(null, first?.address ?? '', first?.family);
  };
}

async function beforeDeadline<Value>(
  deadline: AbortSignal,
  host: string,
  work: Promise<Value>,
): Promise<Value> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => {
      reject(timeoutFailure(host, deadline.reason));
    };
    deadline.addEventListener('abort', giveUp, { once: true });
    work.then(resolve, reject).finally(() => {
      deadline.removeEventListener('abort', giveUp);
    });
  });
}

function timeoutFailure(host: string, cause: unknown): OutboundFailed {
  return new OutboundFailed('timeout', `${host} could not be connected in time.`, { cause });
}

function unreachable(host: string, port: number, cause: NodeJS.ErrnoException): OutboundFailed {
  if (cause instanceof OutboundFailed) return cause;
  const sentence =
    cause.code === 'ECONNREFUSED'
      ? `${host} refuses connections on port ${port}.`
      : `${host} cannot be reached on port ${port}${codeOf(cause)}.`;
  return new OutboundFailed('unreachable', sentence, { cause });
}

/**
 * Describes a failed TLS connection. An untrusted certificate has a code of its own, such as CERT_HAS_EXPIRED; other
 * failures have ECONNRESET, EPROTO, ERR_SSL_…
 */
function tlsFailure(host: string, cause: NodeJS.ErrnoException): OutboundFailed {
  if (cause instanceof OutboundFailed) return cause;
  const protocolFailed = /^(E[A-Z]+|ERR_SSL_\w+)$/.test(cause.code ?? '');
  const sentence = protocolFailed
    ? `No secure connection to ${host} could be made${codeOf(cause)}.`
    : `The certificate of ${host} is not valid${codeOf(cause)}.`;
  return new OutboundFailed('tls', sentence, { cause });
}

function codeOf({ code }: NodeJS.ErrnoException): string {
  return code === undefined ? '' : ` (${code})`;
}
