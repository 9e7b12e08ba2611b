// Refused credentials are told from a server that is away, and the message names the setting to change.
import { expect, test } from '@jest/globals';
import { MongoServerError, MongoServerSelectionError } from 'mongodb';
import { withRemedy } from './access-errors.js';
import { asReadModelError, ReadModelError } from './errors.js';

const server = (code: number, message: string) => new MongoServerError({ code, message });
const notSelected = (error: Error) =>
  new MongoServerSelectionError('no server was selected', {
    servers: new Map([['db:27017', { error }]]),
  } as never);

test.each<[string, Error, RegExp, boolean]>([
  ['a wrong password', server(18, 'Authentication failed.'), /check those in MONGODB_URI/, true],
  [
    'a wrong password, found while a server is selected',
    notSelected(server(18, 'Authentication failed.')),
    /check those in MONGODB_URI/,
    true,
  ],
  ['no user', server(13, 'Command find requires authentication'), /MongoDB demands a user/, true],
  // An operator grants rights while services run and start.
  ['a missing right', server(13, 'not authorized on test_scoring'), /readWrite on the databases/, false],
  ['another authority', notSelected(new Error('self-signed certificate')), /MONGODB_CA_FILE/, false],
  ['a server that is away', notSelected(new Error('connect ECONNREFUSED 127.0.0.1:1')), /^MongoDB/, false],
])('%s', (_title, error, message, isAccessRefused) => {
  const found = withRemedy(asReadModelError(error));
  expect(found).toBeInstanceOf(ReadModelError);
  expect(found).toMatchObject({
    code: 'database_unavailable',
    message: expect.stringMatching(message),
    retriable: true,
    isAccessRefused,
  });
});

test('an error of another kind is passed on', () => {
  const error = new TypeError('broken');
  expect(withRemedy(error)).toBe(error);
});
