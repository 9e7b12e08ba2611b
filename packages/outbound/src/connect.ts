// Connections to checked addresses: the addresses that the rules have seen are the only ones that are connected.
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
  /** Trusted besides the usual ones. */
  certificateAuthorities: readonly string[];
}

/** For name, TCP and TLS together. A request's own signal usually ends it before; the socket must not outlive that by much. */
const connectTimeoutMs = 10_000;

/** With several addresses: how long each is tried before the next, so that broken IPv6 does not use up the time. */
const attemptTimeoutMs = 1_000;

/** Names have a handful of addresses; a server of hostile names may list thousands. */
const maximumAddresses = 8;

/** What opens undici's connections: looks up, checks every address, connects to one of those and no other. */
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
  const addresses = await inTime(deadline, host, addressesOf(host, resolve));
  // One bad address condemns the name: whoever answers private and public ones is choosing between them.
  for (const { address } of addresses) rules.checkAddress(host, address, port);
  return open({
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

function open(connection: Connection): Promise<Socket> {
  const { host, port, secure, addresses, certificateAuthorities, deadline } = connection;
  return new Promise((resolve, reject) => {
    const options = {
      host,
      port,
      lookup: pinned(addresses),
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
      socket.destroy(late(host, deadline.reason));
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
      // Stays on: between here and the first request nobody else listens.
      .on('error', (error: NodeJS.ErrnoException) => {
        deadline.removeEventListener('abort', giveUp);
        reject(reached && secure ? insecure(host, error) : unreachable(host, port, error));
      });
  });
}

/** Answers with the checked addresses, whatever is asked. Not called for IP addresses, which need no answer. */
function pinned(addresses: readonly HostAddress[]): LookupFunction {
  return (_hostname, options, callback) => {
    const [first] = addresses;
    if (options.all === true) callback(null, [...addresses]);
    else callback(null, first?.address ?? '', first?.family);
  };
}

async function inTime<Value>(deadline: AbortSignal, host: string, work: Promise<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => {
      reject(late(host, deadline.reason));
    };
    deadline.addEventListener('abort', giveUp, { once: true });
    work.then(resolve, reject).finally(() => {
      deadline.removeEventListener('abort', giveUp);
    });
  });
}

function late(host: string, cause: unknown): OutboundFailed {
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

/** Certificates that are not trusted have a code of their own, such as CERT_HAS_EXPIRED; the rest is ECONNRESET, EPROTO, ERR_SSL_… */
function insecure(host: string, cause: NodeJS.ErrnoException): OutboundFailed {
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
