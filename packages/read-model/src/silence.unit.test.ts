// Which errors of the database are request timeouts.
import { expect, test } from '@jest/globals';
import { MongoNetworkError, MongoNetworkTimeoutError, MongoServerSelectionError } from 'mongodb';
import { ReadModelError } from './errors.js';
import { isSilence } from './silence.js';

const late = new MongoNetworkTimeoutError('connection 7 to 127.0.0.1:27017 timed out');
const away = new MongoNetworkError('connect ECONNREFUSED 127.0.0.1:27017');
const classified = (cause: Error) =>
  new ReadModelError('database_unavailable', 'MongoDB is not available', true, { cause });
const selection = (error: Error) =>
  Object.assign(new MongoServerSelectionError('no server', { error } as never), {});

test.each([
  ['an answer that did not come', late, true],
  ['the same as the read model throws it', classified(late), true],
  ['no server was found, because none answered', classified(selection(late)), true],
  ['a connection that was refused', classified(away), false],
  ['no server was found, because connections are refused', classified(selection(away)), false],
  ['an error of another kind', new TypeError('undefined is not a function'), false],
  ['what is no error', 'text', false],
])('%s: %p is silence: %p', (_, error, expected) => {
  expect(isSilence(error)).toBe(expected);
});
