// Which addresses belong to the public internet. What is not known to be public is not.
import ipaddr from 'ipaddr.js';

/** Looks public in every registry, and is the host's own wire server on Azure. */
const azureWireServer = '168.63.129.16';

/** The only part of IPv6 from which public addresses are given out. */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Whether an IP address is public: not private, loopback, link-local, shared (CGNAT), multicast, reserved, for
 * documentation or benchmarks, and not an IPv6 form that carries an IPv4 address (mapped, NAT64, 6to4, Teredo, ISATAP).
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

/** Names under which clouds give out the credentials of a machine. Others end in `.internal` or have no dot. */
const metadataNames = ['metadata.goog'];

/** Whether a host name (canonical) can only mean a machine near by: no dot, a suffix kept for that, a metadata server. */
export function isLocalName(name: string): boolean {
  return (
    !name.includes('.') ||
    metadataNames.includes(name) ||
    localSuffixes.some((suffix) => name.endsWith(`.${suffix}`))
  );
}

const label = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/;

/** Whether a host name (canonical) is one that DNS can hold; what URLs allow beyond is of no use to anybody honest. */
export function isDomainName(name: string): boolean {
  return name.length <= 253 && name.split('.').every((part) => label.test(part));
}
