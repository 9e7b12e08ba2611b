import { describe, expect, test } from '@jest/globals';
import { commonConfiguration, ConfigurationError, parseConfiguration, setting } from './configuration.js';

const valid = {
  KAFKA_BROKERS: '127.0.0.1:9092, broker-2:9093',
  SCHEMA_REGISTRY_URL: 'http://127.0.0.1:8081/apis/ccompat/v7',
  MONGODB_URI: 'mongodb://user:hunter2@127.0.0.1:27017/',
  INTERNAL_SECRET: 'x'.repeat(32),
};

function problemsOf(environment: Record<string, string | undefined>, schema = commonConfiguration) {
  try {
    parseConfiguration(schema, environment);
  } catch (error) {
    if (error instanceof ConfigurationError)
      return Object.fromEntries(error.problems.map((p) => [p.variable, p.message]));
    throw error;
  }
  return {};
}

describe('configuration', () => {
  test('is typed, and what is not set has its default; an empty variable is not set', () => {
    expect(
      parseConfiguration(commonConfiguration, { ...valid, PORT: '', PARTITIONS: '12', UNRELATED: 'x' }),
    ).toEqual({
      ...valid,
      KAFKA_BROKERS: ['127.0.0.1:9092', 'broker-2:9093'],
      NAMESPACE: 'lead-scoring',
      PARTITIONS: 12,
      PORT: 0,
      HOST: '127.0.0.1',
      LOG_LEVEL: 'info',
      SHUTDOWN_DELAY_MS: 0,
      SHUTDOWN_TIMEOUT_MS: 10_000,
    });
  });

  test('every wrong variable is named, with what is allowed', () => {
    expect(
      problemsOf({
        NAMESPACE: 'Not Allowed',
        KAFKA_BROKERS: 'broker',
        SCHEMA_REGISTRY_URL: 'ftp://x',
        PORT: '70000',
        PARTITIONS: '0x10',
        LOG_LEVEL: 'loud',
        INTERNAL_SECRET: 'short',
      }),
    ).toEqual({
      NAMESPACE: 'must be 1 to 40 of a-z, 0-9 and -',
      KAFKA_BROKERS: 'must be host:port, separated by commas, such as 127.0.0.1:9092',
      SCHEMA_REGISTRY_URL: 'must be a URL that starts with http:// or https://',
      MONGODB_URI: expect.stringContaining('is not set'),
      PORT: expect.stringContaining('65535'),
      PARTITIONS: 'must be a whole number from 1 to 1000',
      LOG_LEVEL: 'must be one of fatal, error, warn, info, debug, trace, silent',
      INTERNAL_SECRET: 'must have at least 32 characters',
    });
  });

  test('no value is repeated: it may be a secret', () => {
    for (const variable of Object.keys(valid)) {
      const text = JSON.stringify(problemsOf({ ...valid, [variable]: 'hunter2-is-wrong-here://' }));
      expect(text).not.toContain('hunter2');
    }
  });

  test('a service adds its own settings', () => {
    const own = commonConfiguration.extend({ TOKEN_SECRET: setting.secret, STRICT: setting.flag });
    expect(parseConfiguration(own, { ...valid, TOKEN_SECRET: 'y'.repeat(40), STRICT: 'true' })).toMatchObject(
      {
        TOKEN_SECRET: 'y'.repeat(40),
        STRICT: true,
      },
    );
    expect(() => parseConfiguration(own, valid)).toThrow('TOKEN_SECRET is not set');
  });
});
