// Looks up the addresses of a host.
import { lookup, Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { OutboundFailed } from './errors.js';

export interface HostAddress {
  address: string;
  family: 4 | 6;
}
export type Resolve = (hostname: string) => Promise<HostAddress[]>;

/**
 * A resolver that queries DNS directly. The system's `dns.lookup` occupies one of the process's four threads until it
 * has an answer: four names with unresponsive servers would block all other look-ups. It is used only for names that
 * the deployment has named (`isNamed`), because it also knows the hosts file and search domains.
 */
export function createResolver(isNamed: (hostname: string) => boolean): Resolve {
  const resolver = new Resolver({ timeout: 1_500, tries: 2 });
  return async (hostname) => {
    if (isNamed(hostname))
      return (await lookup(hostname, { all: true })).map(({ address, family }) => ({
        address,
        family: family === 6 ? 6 : 4,
      }));
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    if (v4.status === 'rejected' && v6.status === 'rejected') throw v4.reason;
    return [
      ...(v4.status === 'fulfilled' ? v4.value : []).map((address) => ({ address, family: 4 as const })),
      ...(v6.status === 'fulfilled' ? v6.value : []).map((address) => ({ address, family: 6 as const })),
    ];
  };
}

const noSuchName = new Set(['ENOTFOUND', 'ENODATA', 'ENONAME']);

/**
 * All addresses of a canonical host, IPv4 first. An IP address is its own address.
 * @throws OutboundFailed `name_not_found`
 */
export async function addressesOf(host: string, resolve: Resolve): Promise<HostAddress[]> {
  const literal = isIP(host);
  if (literal !== 0) return [{ address: host, family: literal === 6 ? 6 : 4 }];
  const found = await resolve(host).catch((cause: unknown) => {
    const { code } = cause as NodeJS.ErrnoException;
    throw new OutboundFailed(
      'name_not_found',
      noSuchName.has(code ?? '')
        ? `There is no host named ${host}.`
        : `The name ${host} could not be looked up: its name servers do not answer.`,
      { cause },
    );
  });
  if (found.length === 0) throw new OutboundFailed('name_not_found', `The name ${host} leads to no address.`);
  return found.toSorted((a, b) => a.family - b.family);
}
