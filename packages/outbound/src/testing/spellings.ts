// Spellings of addresses that must be refused, for tests: each leads to this machine, its network or its cloud, or is
// not a valid address.
import type { OutboundRefusedCode } from '../errors.js';

/** Hosts, in every form that a URL accepts. */
const hosts: readonly string[] = [
  // 127.0.0.1 in one, two, three and four parts; decimal, octal, hexadecimal, mixed, padded
  ...[
    '127.0.0.1',
    '127.1',
    '127.0.1',
    '127.0.0.1.',
    '2130706433',
    '0x7f000001',
    '0X7F000001',
    '017700000001',
  ],
  ...['0x7f.0.0.1', '0177.0.0.1', '0x7f.1', '0177.1', '127.0x1', '0x7f.0x0.0x0.0x1', '0177.0.0.01'],
  ...['00000177.0.0.1', '0x0000007f.0.0.1', '127.0.0.0x1', '127.00.00.01', '127.0.0.01', '0x7f.00.0.0x01'],
  // other digits and dots, percent-encoding, characters that vanish
  ...['１２７.０.０.１', '①②⑦.⓪.⓪.①', '𝟏𝟐𝟕.𝟎.𝟎.𝟏', '¹²⁷.⁰.⁰.¹', '127。0。0。1', '127．0．0．1', '127｡0｡0｡1'],
  ...['%31%32%37.0.0.1', '127%2e0%2e0%2e1', '%3127.0.0.1', '127.0.0.%31', '１２７。０。０。１', '0ｘ7f.1'],
  ...['127\u00ad.0.0.1', '1\t27.0.0.1', '127.0.\n0.1', '127.0.0.1\r', '127.0.0.1\u200b', '127.0.\u20600.1'],
  // the rest of loopback and this host
  ...['127.0.0.2', '127.255.255.254', '127.127.127.127', '0.0.0.0', '0', '0x0', '00', '0.0', '0.1.2.3'],
  // private networks, shared address space
  ...['10.0.0.1', '10.255.255.255', '012.0.0.1', '0xa.1', '167772161', '172.16.0.1', '172.31.255.255'],
  ...['192.168.0.1', '192.168.1', '0xc0a80001', '3232235521', '100.64.0.1', '100.127.255.255'],
  // clouds' metadata
  ...['169.254.169.254', '2852039166', '0xa9fea9fe', '0251.0376.0251.0376', '169.254.43518', '169.16689662'],
  ...['0xa9.0xfe.0xa9.0xfe', '１６９。２５４。１６９。２５４', '169.254.170.2', '100.100.100.200'],
  ...['192.0.0.192', '168.63.129.16', '0xa83f8110', '[fd00:ec2::254]'],
  // link-local, protocol, documentation, benchmarks, relays, multicast, reserved, broadcast
  ...['169.254.0.1', '192.0.0.1', '192.0.2.1', '198.51.100.1', '203.0.113.1', '198.18.0.1', '198.19.255.255'],
  ...['192.88.99.1', '224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255', '4294967295'],
  // IPv6: loopback and unspecified
  ...['[::1]', '[0:0:0:0:0:0:0:1]', '[0000:0000::0001]', '[::]', '[0::0]', '[::0.0.0.1]'],
  // IPv6 that carries an IPv4 address: mapped, compatible, translated, NAT64, 6to4, Teredo, ISATAP
  ...['[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[0:0:0:0:0:ffff:127.0.0.1]', '[::FFFF:169.254.169.254]'],
  ...['[::ffff:8.8.8.8]', '[::127.0.0.1]', '[::ffff:0:127.0.0.1]', '[::ffff:0:0:127.0.0.1]'],
  ...['[64:ff9b::127.0.0.1]', '[64:ff9b::a9fe:a9fe]', '[64:ff9b:1::7f00:1]', '[2002:7f00:1::]'],
  ...['[2002:a9fe:a9fe::1]', '[2001:0:7f00:1::]', '[2001::80ff:fffe]', '[2a00:1450::5efe:127.0.0.1]'],
  ...['[2a00:1450::200:5efe:7f00:1]', '[::5efe:127.0.0.1]', '[fe80::5efe:127.0.0.1]'],
  // IPv6: link-local, site-local, unique local, multicast, documentation, benchmarks, discard, not given out
  ...['[fe80::1]', '[febf::1]', '[fec0::1]', '[fc00::1]', '[fdff::1]', '[ff02::1]', '[ff0e::1]'],
  ...['[2001:db8::1]', '[3fff::1]', '[2001:2::1]', '[2001:10::1]', '[100::1]', '[100:0:0:1::1]', '[5f00::1]'],
  ...['[1::1]', '[4000::1]', '[e000::1]'],
  // names of this machine, of networks, of metadata servers
  ...[
    'localhost',
    'LOCALHOST',
    'localhost.',
    'localhost..',
    'ⓛⓞⓒⓐⓛⓗⓞⓢⓣ',
    'ｌｏｃａｌｈｏｓｔ',
    'local\u00adhost',
  ],
  ...['localhos%74', 'a.localhost', 'a.b.localhost.', 'localhost.localdomain', 'ip6-localhost'],
  ...[
    'printer.local',
    'db.internal',
    'wiki.intranet',
    'router.lan',
    'nas.home',
    'nas.home.arpa',
    'vault.corp',
  ],
  ...['kafka', 'metadata', 'instance-data', 'metadata.google.internal', 'METADATA.GOOGLE.INTERNAL.'],
  ...['metadata.goog', 'instance-data.ec2.internal', 'host.docker.internal'],
];

/** Names that DNS resolves to private addresses, with the answers of the tests' own DNS. */
export const hostileNames: Readonly<Record<string, readonly string[]>> = {
  '127.0.0.1.nip.example': ['127.0.0.1'],
  'loopback6.example': ['::1'],
  'unspecified.example': ['0.0.0.0'],
  'private.example': ['10.1.2.3'],
  'metadata.example': ['169.254.169.254'],
  'mapped.example': ['::ffff:127.0.0.1'],
  'nat64.example': ['64:ff9b::7f00:1'],
  'unique-local.example': ['fd00::1'],
  'mixed.example': ['93.184.215.14', '127.0.0.1'],
  'mixed-families.example': ['93.184.215.14', '::1'],
  'second-of-many.example': ['93.184.215.14', '93.184.215.15', '93.184.215.16', '192.168.0.1'],
  'xn--bcher-kva.example': ['127.0.0.1'],
  'not-an-address.example': ['127.0.0.1%lo'],
};

/** Ways to write the rest of the URL around the host 127.0.0.1. */
const wrapped = (port: number): [string, OutboundRefusedCode][] => [
  [`http:127.0.0.1:${port}`, 'address_not_public'],
  [`http:/127.0.0.1:${port}`, 'address_not_public'],
  [`http:////127.0.0.1:${port}/`, 'address_not_public'],
  [`http:\\\\127.0.0.1:${port}\\`, 'address_not_public'],
  [`HTTP://127.0.0.1:${port}`, 'address_not_public'],
  [`ht\ntp://127.0.0.1:${port}`, 'address_not_public'],
  [`  http://127.0.0.1:${port}  `, 'address_not_public'],
  [`\u0000http://127.0.0.1:${port}`, 'address_not_public'],
  [`https://127.0.0.1:${port}`, 'address_not_public'],
  [`http://127.0.0.1:${port}\\@example.com/`, 'address_not_public'],
  [`http://127.0.0.1:${port}#@example.com/`, 'address_not_public'],
  [`http://127.0.0.1:${port}?@example.com/`, 'address_not_public'],
  [`http://@127.0.0.1:${port}`, 'address_not_public'],
  [`http://127.0.0.1:0${port}`, 'address_not_public'],
  [`http://example.com@127.0.0.1:${port}`, 'credentials_in_url'],
  [`http://example.com:80@127.0.0.1:${port}`, 'credentials_in_url'],
  [`http://example.com%40127.0.0.1:${port}@127.0.0.1:${port}`, 'credentials_in_url'],
  [`http://user:secret@example.com/`, 'credentials_in_url'],
  [`http://:secret@example.com/`, 'credentials_in_url'],
  ['http://example.com:22/', 'port_not_allowed'],
  ['http://example.com:0/', 'port_not_allowed'],
  ['https://example.com:6379/', 'port_not_allowed'],
  ['http://8.8.8.8:53/', 'port_not_allowed'],
  ['file:///etc/passwd', 'scheme_not_allowed'],
  [`file://127.0.0.1:${port}/`, 'invalid_url'],
  [`ftp://127.0.0.1:${port}/`, 'scheme_not_allowed'],
  [`gopher://127.0.0.1:${port}/_GET`, 'scheme_not_allowed'],
  [`ws://127.0.0.1:${port}/`, 'scheme_not_allowed'],
  [`dict://127.0.0.1:${port}/`, 'scheme_not_allowed'],
  [`blob:http://127.0.0.1:${port}/`, 'scheme_not_allowed'],
  [`view-source:http://127.0.0.1:${port}/`, 'scheme_not_allowed'],
  ['javascript:alert(1)', 'scheme_not_allowed'],
  ['data:text/html,hello', 'scheme_not_allowed'],
  ['localhost:80', 'scheme_not_allowed'],
  ['', 'invalid_url'],
  ['http://', 'invalid_url'],
  ['http://../', 'invalid_url'],
  ['http://a..example/', 'invalid_url'],
  ['http://*.example.com/', 'invalid_url'],
  ['http://-a.example/', 'invalid_url'],
  [`http://${'a'.repeat(64)}.example/`, 'invalid_url'],
  [`http://${'a.'.repeat(130)}example/`, 'invalid_url'],
  ['http://256.256.256.256/', 'invalid_url'],
  ['http://127.0.0.1.1/', 'invalid_url'],
  ['http://0x7f.0.0.0.1/', 'invalid_url'],
  ['http://4294967296/', 'invalid_url'],
  ['http://[::1%25lo]/', 'invalid_url'],
  ['http://[::1/', 'invalid_url'],
  ['http://[%3A%3A1]/', 'invalid_url'],
  ['http://example.com:65536/', 'invalid_url'],
  ['http://exa mple.com/', 'invalid_url'],
  [`http://example.com/${'a'.repeat(10_000)}`, 'invalid_url'],
];

/** Every URL that must be refused, with the code of the refusal. URLs that lead to this machine have the given port. */
export function refusedUrls(port: number): [string, OutboundRefusedCode][] {
  return [
    ...hosts.map((host): [string, OutboundRefusedCode] => [`http://${host}:${port}/`, 'address_not_public']),
    ...wrapped(port),
  ];
}
