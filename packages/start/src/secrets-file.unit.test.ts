// The secrets that `npm start` keeps: a wrong one is named before anything starts, and never shown.
import { expect, test } from '@jest/globals';
import { secretFrom } from '@lead-scoring/contracts';
import { knownSecrets } from './secrets-file.js';

const file = '/checkout/.run/secrets.json';
const long = 'x'.repeat(43);
const bootstrapToken = secretFrom('lsp_', Buffer.alloc(32, 7));

test('no file, and a file with some of the secrets, are right', () => {
  expect(knownSecrets(null, file)).toEqual({});
  const some = { internalSecret: long, bootstrapToken };
  expect(knownSecrets(JSON.stringify(some), file)).toEqual(some);
});

test.each([
  ['{"internalSecret": "hunter2', /is not the JSON/],
  ['["hunter2"]', /is not the JSON/],
  ['null', /is not the JSON/],
  [JSON.stringify({ internalSecret: 'hunter2' }), /wrong internalSecret, .* at least 32 characters/],
  [JSON.stringify({ tokenSecret: 12 }), /wrong tokenSecret/],
  [JSON.stringify({ sealingSecret: 'hunter2' }), /wrong sealingSecret/],
  [JSON.stringify({ bootstrapToken: 'hunter2' }), /wrong bootstrapToken/],
])('%s is refused with the name of the file and what to do, and is not repeated', (text, problem) => {
  const read = () => knownSecrets(text, file);
  expect(read).toThrow(problem);
  expect(read).toThrow(/^\/checkout\/\.run\/secrets\.json .*restore the file from a backup, or move it away/);
  expect(read).not.toThrow(/hunter2/);
});
