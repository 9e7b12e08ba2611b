import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { isPublicAddress } from './addresses.js';
import { OutboundRefused } from './errors.js';
import { parsePrivateTargets } from './private-targets.js';
import { createRules } from './rules.js';
import { hostileNames, refusedUrls } from './testing/spellings.js';

const port = 8080;
const strict = createRules({ allowedPrivateTargets: [], allowedPorts: [80, 443] });
const withPort = createRules({ allowedPrivateTargets: [], allowedPorts: [80, 443, port] });

function codeOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof OutboundRefused) return error.code;
    throw error;
  }
  return 'allowed';
}

/** The spellings of an IPv4 address that the URL standard allows. */
const spelledAddress = fc
  .record({
    bytes: fc.array(fc.nat(255), { minLength: 4, maxLength: 4 }),
    parts: fc.integer({ min: 1, max: 4 }),
    bases: fc.array(fc.constantFrom('', '0', '0x', '0X', '00000'), { minLength: 4, maxLength: 4 }),
    dot: fc.constantFrom('.', '。', '．', '｡', '%2e', '%2E'),
    digits: fc.constantFrom(
      (text: string) => text,
      (text: string) => text.replace(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit))),
      (text: string) => text.replace(/\d/g, (digit) => `%3${digit}`),
      (text: string) => text.replace(/\d/g, (digit) => `${digit}\u00ad`),
    ),
    end: fc.constantFrom('', '.'),
  })
  .map(({ bytes, parts, bases, dot, digits, end }) => {
    const numbers = [
      ...bytes.slice(0, parts - 1),
      bytes.slice(parts - 1).reduce((whole, byte) => whole * 256 + byte, 0),
    ];
    const text = numbers
      .map((number, index) => {
        const base = bases[index] ?? '';
        return base + number.toString(base === '' ? 10 : base.toLowerCase() === '0x' ? 16 : 8);
      })
      .map(digits)
      .join(dot);
    return { host: text + end, address: bytes.join('.') };
  });

describe('checking a URL', () => {
  test('the table holds more than a hundred spellings, none of them twice', () => {
    const urls = refusedUrls(port).map(([url]) => url);
    expect(new Set(urls).size).toBe(urls.length);
    expect(urls.length).toBeGreaterThan(200);
  });

  test.each(refusedUrls(port))('refuses %j: %s', (url, code) => {
    expect(codeOf(() => withPort.checkUrl(url))).toBe(code);
  });

  test('an IPv4 address is refused or allowed alike in every spelling', () => {
    fc.assert(
      fc.property(spelledAddress, ({ host, address }) => {
        expect(codeOf(() => strict.checkUrl(`http://${host}/`))).toBe(
          isPublicAddress(address) ? 'allowed' : 'address_not_public',
        );
      }),
      { numRuns: 5_000 },
    );
  });

  test('an IPv4 address inside an IPv6 address is refused wherever it is carried', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('::', '::ffff:', '::ffff:0:', '64:ff9b::', '64:ff9b:1::', '2a00:1450::5efe:'),
        fc.ipV4(),
        (prefix, address) => {
          expect(codeOf(() => strict.checkUrl(`http://[${prefix}${address}]/`))).toBe('address_not_public');
        },
      ),
    );
  });

  test.each([
    ['https://example.com', 'https://example.com/'],
    ['HTTP://EXAMPLE.com:80/A?b=c#d', 'http://example.com/A?b=c#d'],
    ['https://example.com./path', 'https://example.com/path'],
    ['https://bücher.example/', 'https://xn--bcher-kva.example/'],
    ['https://a_b.example-site.co.uk:443', 'https://a_b.example-site.co.uk/'],
    ['http://example.com:443', 'http://example.com:443/'],
    ['http://93.184.215.14', 'http://93.184.215.14/'],
    ['http://[2606:4700:4700::1111]', 'http://[2606:4700:4700::1111]/'],
    ['https://localhost.example.com', 'https://localhost.example.com/'],
    ['https://internal.example.com', 'https://internal.example.com/'],
  ])('allows %j as %s', (url, expected) => {
    expect(strict.checkUrl(url).href).toBe(expected);
  });

  test('the URL that was given stays as it was', () => {
    const given = new URL('https://example.com./');
    expect(strict.checkUrl(given)).not.toBe(given);
    expect(given.href).toBe('https://example.com./');
  });

  test('a private target is allowed on its ports, in every spelling, and nothing beside it', () => {
    const rules = createRules({
      allowedPrivateTargets: parsePrivateTargets(
        '127.0.0.1:8080-8081,[::1]:8080,receiver.internal:9000,localhost:80',
      ),
      allowedPorts: [80, 443],
    });
    for (const url of [
      'http://127.0.0.1:8080',
      'http://0x7f.1:8081',
      'http://[0::1]:8080',
      'http://receiver.internal:9000',
      'https://RECEIVER.internal.:9000',
      'http://localhost',
    ])
      expect([url, codeOf(() => rules.checkUrl(url))]).toEqual([url, 'allowed']);
    for (const url of [
      'http://127.0.0.1',
      'http://127.0.0.2:8080',
      'http://[::1]:8081',
      'http://[::ffff:127.0.0.1]:8080',
      'http://receiver.internal',
      'http://localhost:443',
    ])
      expect([url, codeOf(() => rules.checkUrl(url))]).toEqual([url, 'address_not_public']);
    expect(codeOf(() => rules.checkUrl('http://user@127.0.0.1:8080'))).toBe('credentials_in_url');
    expect(codeOf(() => rules.checkUrl('ftp://127.0.0.1:8080'))).toBe('scheme_not_allowed');
    expect(codeOf(() => rules.checkUrl('http://example.com:8080'))).toBe('port_not_allowed');
  });

  test('the message repeats no more than the beginning of a long host', () => {
    expect(() => strict.checkUrl(`http://${'a'.repeat(5_000)}/`)).toThrow(
      /^"a{100}…" is not the name of a host\.$/,
    );
  });
});

describe('checking an address', () => {
  test.each(Object.entries(hostileNames))('refuses %s, which leads to %j', (name, addresses) => {
    expect(codeOf(() => addresses.forEach((address) => withPort.checkAddress(name, address, 80)))).toBe(
      'address_not_public',
    );
  });

  test('says nothing about which address it was', () => {
    expect(() => strict.checkAddress('wiki.example', '10.1.2.3', 80)).toThrow(
      /^"wiki\.example" is, or leads to, a private or internal address: give one on the public internet\.$/,
    );
  });

  test('allows what is public on an allowed port, a named host anywhere, a named address under any name', () => {
    const rules = createRules({
      allowedPrivateTargets: parsePrivateTargets('receiver.internal:9000,[fd00::1]:443'),
      allowedPorts: [80, 443],
    });
    const check = (host: string, address: string, at: number): string =>
      codeOf(() => rules.checkAddress(host, address, at));
    expect(check('example.com', '93.184.215.14', 443)).toBe('allowed');
    expect(check('example.com', '93.184.215.14', 444)).toBe('port_not_allowed');
    expect(check('receiver.internal', '10.0.0.1', 9000)).toBe('allowed');
    expect(check('receiver.internal', '10.0.0.1', 80)).toBe('address_not_public');
    expect(check('example.com', 'fd00:0::1', 443)).toBe('allowed');
    expect(check('example.com', 'fd00::2', 443)).toBe('address_not_public');
  });
});
