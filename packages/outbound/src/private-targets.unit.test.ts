import { describe, expect, test } from '@jest/globals';
import { isPrivateTarget, parsePrivateTargets } from './private-targets.js';

describe('private targets', () => {
  test('are hosts with a port or a range of ports, separated by commas', () => {
    expect(
      parsePrivateTargets(' 127.0.0.1:8080, [::0001]:9000-9099 ,Receiver.internal:80,localhost:1-65535,'),
    ).toEqual([
      { host: '127.0.0.1', fromPort: 8080, toPort: 8080 },
      { host: '::1', fromPort: 9000, toPort: 9099 },
      { host: 'receiver.internal', fromPort: 80, toPort: 80 },
      { host: 'localhost', fromPort: 1, toPort: 65_535 },
    ]);
    expect(parsePrivateTargets('')).toEqual([]);
    expect(parsePrivateTargets(' , ')).toEqual([]);
  });

  test.each([
    ...[
      '127.0.0.1',
      ':80',
      '127.0.0.1:',
      '127.0.0.1:0',
      '127.0.0.1:65536',
      '127.0.0.1:90-80',
      '127.0.0.1:0-80',
    ],
    ...['127.0.0.1:80-', '127.0.0.1:a', '*:80', '10.0.0.0/8:80', 'http://127.0.0.1:80', '::1:80', '[::1:80'],
    ...['[127.0.0.1x]:80', '127.1:80', '300.1.1.1:80', 'a b:80', '127.0.0.1:80-90-100', '-a:80'],
  ])('%j is refused, and named', (item) => {
    expect(() => parsePrivateTargets(`127.0.0.1:80,${item}`)).toThrow(`"${item}" is not host:port`);
  });

  test('hold for their host and their ports alone', () => {
    const targets = parsePrivateTargets('127.0.0.1:80-82,receiver.internal:80');
    const named = (host: string, port: number): boolean => isPrivateTarget(targets, host, port);
    expect([79, 80, 81, 82, 83].map((port) => named('127.0.0.1', port))).toEqual([
      false,
      true,
      true,
      true,
      false,
    ]);
    expect(named('receiver.internal', 80)).toBe(true);
    expect(named('a.receiver.internal', 80)).toBe(false);
    expect(named('127.0.0.2', 80)).toBe(false);
  });
});
