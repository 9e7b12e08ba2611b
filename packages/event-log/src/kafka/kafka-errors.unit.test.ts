// kafkajs' errors are classified by the error classes that it exports.
import { createRequire } from 'node:module';
import { describe, expect, test } from '@jest/globals';
import kafkajs from 'kafkajs';
import { isConnectionError, isSilence, protocolError, protocolErrorType } from './kafka-errors.js';

const require = createRequire(import.meta.url);
const { createErrorFromCode, errorCodes } = require('kafkajs/src/protocol/error') as {
  createErrorFromCode: (code: number) => Error;
  errorCodes: { code: number; type: string }[];
};
const classes = kafkajs as unknown as Record<string, new (message?: unknown, more?: object) => Error>;

function errorOf(name: string): Error {
  const errorClass = classes[name];
  if (!errorClass) throw new Error(`kafkajs exports no ${name}`);
  return new errorClass('as kafkajs says it', {});
}

test('the error of every protocol code is a protocol error with kafkajs’ name', () => {
  expect(errorCodes.length).toBeGreaterThan(80);
  for (const { code, type } of errorCodes) {
    expect(protocolErrorType(createErrorFromCode(code))).toBe(type);
  }
});

test('an error is classified by its causes, also after kafkajs’ retries', () => {
  const cause = createErrorFromCode(6);
  const { KafkaJSNumberOfRetriesExceeded } = kafkajs;
  const exceeded = new KafkaJSNumberOfRetriesExceeded(cause, { retryCount: 1, retryTime: 1 });
  expect(protocolErrorType(exceeded)).toBe('NOT_LEADER_FOR_PARTITION');
  expect(protocolErrorType(new Error('wrapped', { cause: exceeded }))).toBe('NOT_LEADER_FOR_PARTITION');
});

test('an error of another class is no protocol error, whatever its fields are', () => {
  const problem = Object.assign(new Error('a problem'), { type: 'https://example.com/problem' });
  expect(protocolErrorType(problem)).toBeUndefined();
  expect(protocolErrorType(undefined)).toBeUndefined();
});

test('protocolError() makes an error that counts as a broker’s answer', () => {
  const error = protocolError('LEADER_NOT_AVAILABLE', 'no leader');
  expect([protocolErrorType(error), error.message]).toEqual(['LEADER_NOT_AVAILABLE', 'no leader']);
});

describe.each([
  { name: 'KafkaJSConnectionError', silent: false },
  { name: 'KafkaJSConnectionClosedError', silent: false },
  { name: 'KafkaJSBrokerNotFound', silent: false },
  { name: 'KafkaJSNoBrokerAvailableError', silent: false },
  { name: 'KafkaJSMetadataNotLoaded', silent: false },
  { name: 'KafkaJSTopicMetadataNotLoaded', silent: false },
  { name: 'KafkaJSRequestTimeoutError', silent: true },
  { name: 'KafkaJSLockTimeout', silent: true },
])('$name', ({ name, silent }) => {
  test(`is a connection error${silent ? ', and a request timeout' : ''}`, () => {
    for (const error of [errorOf(name), new Error('wrapped', { cause: errorOf(name) })]) {
      expect(isConnectionError(error)).toBe(true);
      expect(isSilence(error)).toBe(silent);
    }
  });
});

test('any other error is neither a connection error nor a request timeout', () => {
  for (const error of [
    new Error('another'),
    createErrorFromCode(6),
    errorOf('KafkaJSSASLAuthenticationError'),
  ]) {
    expect([isConnectionError(error), isSilence(error)]).toEqual([false, false]);
  }
});
