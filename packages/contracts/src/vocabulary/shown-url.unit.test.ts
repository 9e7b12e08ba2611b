// The display form of secret addresses, and how it is told from a full address.
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { partsOfShownUrl, shownPartsOf, shownUrl } from './shown-url.js';

test('shows scheme, host and the last four characters, and nothing between', () => {
  const parts = shownPartsOf(
    'https://user:word@Hooks.Example.com:8443/services/T000/B000/secret?sig=abcd1234',
  );
  expect(parts && shownUrl(parts)).toBe('https://hooks.example.com:8443/…1234');
  const short = shownPartsOf('https://example.com/hook');
  expect(short && shownUrl(short)).toBe('https://example.com/…');
  expect(shownPartsOf('https://')).toBeNull();
});

test('what is shown is read back, and no address in full is taken for it', () => {
  fc.assert(
    fc.property(fc.webUrl({ withQueryParameters: true, withFragments: true }), (url) => {
      expect(partsOfShownUrl(url)).toBeNull();
      const parts = shownPartsOf(url);
      expect(parts && partsOfShownUrl(shownUrl(parts))).toEqual(parts);
    }),
  );
});
