// Private addresses that a deployment allows by naming them.
import { isIP } from 'node:net';
import { z } from 'zod';
import { canonicalHost, isDomainName } from './addresses.js';

/** A host, as a URL names it or as an address, with the ports that may be reached on it. */
export interface PrivateTarget {
  host: string;
  fromPort: number;
  toPort: number;
}

const item = /^(\[[^\]]+\]|[^\s:/[\]]+):(\d{1,5})(?:-(\d{1,5}))?$/;

/**
 * Parses a list of `host:port` and `host:from-to`, separated by commas: `127.0.0.1:8080, [::1]:9000-9099, mock:80`. An
 * empty text is an empty list.
 * @throws RangeError that names the wrong item
 */
export function parsePrivateTargets(text: string): PrivateTarget[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map(parsePrivateTarget);
}

/** The setting of a service that names such targets. Default: none. */
export const privateTargetsSetting = z
  .string()
  .transform((text, context): PrivateTarget[] => {
    try {
      return parsePrivateTargets(text);
    } catch (error) {
      context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : String(error) });
      return z.NEVER;
    }
  })
  .default([]);

function parsePrivateTarget(text: string): PrivateTarget {
  const [, written = '', from = '', to = from] = item.exec(text) ?? [];
  const host = canonicalHost(written);
  const [fromPort, toPort] = [Number(from), Number(to)];
  const isHost = written.startsWith('[')
    ? isIP(host) === 6
    : isIP(host) === 4 || (isDomainName(host) && !/^[\d.]+$/.test(host));
  if (!isHost || fromPort < 1 || toPort < fromPort || toPort > 65_535)
    throw new RangeError(
      `"${text}" is not host:port or host:from-to, such as 127.0.0.1:8080, [::1]:9000-9099 or receiver.internal:80`,
    );
  return { host, fromPort, toPort };
}

/** Whether a canonical host or address was named with this port. */
export function isPrivateTarget(targets: readonly PrivateTarget[], host: string, port: number): boolean {
  return targets.some((target) => target.host === host && target.fromPort <= port && port <= target.toPort);
}
