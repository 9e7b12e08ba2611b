// The rules for requests: checks of a URL before the look-up, and of an address before the connection.
import { isIP } from 'node:net';
import { canonicalHost, isDomainName, isLocalName, isPublicAddress } from './addresses.js';
import { OutboundRefused } from './errors.js';
import { isPrivateTarget, type PrivateTarget } from './private-targets.js';

export interface Rules {
  /** Checks scheme, credentials, host and port of a URL, without a look-up. @throws OutboundRefused */
  checkUrl(url: string | URL): URL;
  /** Checks an address of a canonical host. @throws OutboundRefused */
  checkAddress(host: string, address: string, port: number): void;
}

export interface RulesOptions {
  allowedPrivateTargets: readonly PrivateTarget[];
  allowedPorts: readonly number[];
}

/** No site or receiver needs a longer URL, and messages and records would repeat it. */
const maximumUrlLength = 8_192;

export function createRules({ allowedPrivateTargets, allowedPorts }: RulesOptions): Rules {
  return {
    checkUrl: (written) => {
      const url = parse(written);
      if (url.protocol !== 'http:' && url.protocol !== 'https:')
        throw new OutboundRefused(
          'scheme_not_allowed',
          `Only addresses that start with http:// or https:// can be requested, not ${shown(url.protocol)}.`,
        );
      if (url.username !== '' || url.password !== '')
        throw new OutboundRefused(
          'credentials_in_url',
          'The address holds a user name or a password: give it without.',
        );
      // The last dot marks a name as complete; certificates and virtual hosts do not expect it.
      if (url.hostname.endsWith('.')) url.hostname = url.hostname.replace(/(?<!\.)\.+$/, '');
      const host = canonicalHost(url.hostname);
      const port = portOf(url);
      if (isPrivateTarget(allowedPrivateTargets, host, port)) return url;
      if (isIP(host) === 0) {
        if (!isDomainName(host))
          throw new OutboundRefused('invalid_url', `${shown(url.hostname)} is not the name of a host.`);
        if (isLocalName(host)) throw notPublic(host);
      } else if (!isPublicAddress(host)) throw notPublic(host);
      checkPort(port);
      return url;
    },
    checkAddress: (host, address, port) => {
      if (isPrivateTarget(allowedPrivateTargets, host, port)) return;
      if (isPrivateTarget(allowedPrivateTargets, canonicalHost(address), port)) return;
      if (!isPublicAddress(address)) throw notPublic(host);
      checkPort(port);
    },
  };

  function checkPort(port: number): void {
    if (allowedPorts.includes(port)) return;
    throw new OutboundRefused(
      'port_not_allowed',
      `Port ${port} cannot be requested, only ${[...allowedPorts].sort((a, b) => a - b).join(', ')}.`,
    );
  }
}

/** The port of an http or https URL. */
export function portOf({ port, protocol }: { port: string; protocol: string }): number {
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
}

function parse(written: string | URL): URL {
  const text = String(written);
  const url = text.length <= maximumUrlLength ? parseUrl(text) : undefined;
  if (url !== undefined) return url;
  throw new OutboundRefused(
    'invalid_url',
    `${shown(text)} is not a URL: give one such as https://example.com.`,
  );
}

/**
 * The parsed URL, or undefined. It does not use `URL.canParse`, which on Node 20 starts to reject URLs with letters
 * such as ü once V8 has optimised it.
 */
export function parseUrl(text: string, base?: URL): URL | undefined {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}

/** The message does not tell which address a name has, because internal names are not for outsiders. */
function notPublic(host: string): OutboundRefused {
  return new OutboundRefused(
    'address_not_public',
    `${shown(host)} is, or leads to, a private or internal address: give one on the public internet.`,
  );
}

function shown(text: string): string {
  return `"${text.length > 100 ? `${text.slice(0, 100)}…` : text}"`;
}
