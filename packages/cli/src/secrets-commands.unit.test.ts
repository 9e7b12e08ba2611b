// The sentences of `secrets` and `doctor` on the keys that seal the secrets of channels.
import { expect, test } from '@jest/globals';
import { isExchanged, secretsSentence, type SealedSecrets } from './secrets-commands.js';

const found = (counts: Partial<SealedSecrets>): SealedSecrets => ({
  keyIds: ['0a1b2c3d'],
  channels: 0,
  current: 0,
  superseded: 0,
  unreadable: 0,
  ...counts,
});

test.each<[string, Partial<SealedSecrets>, string, boolean]>([
  ['there are none', {}, 'none yet', true],
  ['all is done', { current: 3 }, '3 of 3 sealed with the current key (0a1b2c3d)', true],
  [
    'the previous key has to stay',
    { current: 1, superseded: 2 },
    '1 of 3 sealed with the current key (0a1b2c3d), 2 with the previous key or in an older form',
    false,
  ],
  [
    'a key is missing',
    { current: 1, unreadable: 1 },
    '1 of 2 sealed with the current key (0a1b2c3d), 1 with a key that the service does not have',
    false,
  ],
  [
    'processes differ',
    { current: 2, keyIds: ['0a1b2c3d', '4e5f6a7b'] },
    '2 of 2 sealed with the current key (0a1b2c3d, 4e5f6a7b)',
    false,
  ],
])('%s', (_title, counts, sentence, isDone) => {
  expect(secretsSentence(found(counts))).toBe(sentence);
  // Only then may the previous key be removed.
  expect(isExchanged(found(counts))).toBe(isDone);
});
