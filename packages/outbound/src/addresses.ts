// Which addresses belong to the public internet. An address that is not known to be public counts as private.
import ipaddr from 'ipaddr.js';

/** Azure's wire server: registries list the address as public, but on Azure it is the host's own. */
const azureWireServer = '168.63.129.16';

/** The only part of IPv6 from which public addresses are given out. */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Whether an IP address is public. Not public are private, loopback, link-local, shared (CGNAT), multicast, reserved,
 * documentation and benchmark addresses, and IPv6 forms that carry an IPv4 address (mapped, NAT64, 6to4, Teredo,
 * ISATAP).
 */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.parse(text);
  if (address instanceof ipaddr.IPv4)
    return address.range() === 'unicast' && address.toString() !== azureWireServer;
  return address.match(globalUnicast) && address.range() === 'unicast' && !isIsatap(address);
}

/** ISATAP: the last 64 bits are 0000:5efe or 0200:5efe and an IPv4 address, under any prefix (RFC 5214). */
function isIsatap({ parts }: ipaddr.IPv6): boolean {
  return ((parts[4] ?? 0) & 0xfdff) === 0 && parts[5] === 0x5efe;
}

/** One spelling for each host: lower case, IPv6 without brackets and zeros, names without dots at the end. */
export function canonicalHost(host: string): string {
  const bare = host.replace(/^\[(.*)\]$/, '$1');
  if (ipaddr.IPv6.isValid(bare)) return ipaddr.IPv6.parse(bare).toString();
  return bare.toLowerCase().replace(/(?<!\.)\.+$/, '');
}

const localSuffixes = [
  'localhost',
  'localdomain',
  'local',
  'internal',
  'intranet',
  'private',
  'corp',
  'home',
  'lan',
  'home.arpa',
];

/** Names under which clouds serve a machine's credentials. Other such names end in `.internal` or have no dot. */
const metadataNames = ['metadata.goog'];

/**
 * Whether a canonical host name always means a local machine: no dot, a suffix reserved for local names, or a metadata
 * server.
 */
export function isLocalName(name: string): boolean {
  return (
    !name.includes('.') ||
    metadataNames.includes(name) ||
    localSuffixes.some((suffix) => name.endsWith(`.${suffix}`))
  );
}

const label = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/;

/** Whether a canonical host name is valid in DNS. URLs allow more, but no public site needs it. */
export function isDomainName(name: string): boolean {
  return name.length <= 253 && name.split('.').every((part) => label.test(part));
}
