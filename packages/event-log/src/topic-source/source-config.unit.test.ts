// Errors of a source name the settings as the source has them.
import { expect, test } from '@jest/globals';
import { sourceUnavailable, withPrefix } from './source-config.js';

test('the names of settings get the prefix once, and other words stay', () => {
  const text = 'check KAFKA_SASL_USERNAME, SCHEMA_REGISTRY_TOKEN and SOURCE_KAFKA_TLS of Kafka';
  expect(withPrefix(text, 'SOURCE_')).toBe(
    'check SOURCE_KAFKA_SASL_USERNAME, SOURCE_SCHEMA_REGISTRY_TOKEN and SOURCE_KAFKA_TLS of Kafka',
  );
  expect(withPrefix(text, '')).toBe(text);
});

test('a refusal by the cluster of a source names its setting, and no secret', () => {
  const access = {
    KAFKA_SASL_MECHANISM: 'plain',
    KAFKA_SASL_USERNAME: 'ada',
    KAFKA_SASL_PASSWORD: 'hunter2',
  } as const;
  const refusal = new Error('SASL PLAIN authentication failed: no');
  const error = sourceUnavailable('the topic orders cannot be read', refusal, {
    clientId: 'source',
    brokers: ['kafka:9092'],
    access,
    settingPrefix: 'SOURCE_',
  });
  expect(error).toMatchObject({ retriable: true, isAccessRefused: true });
  expect(error.message).toContain('the topic orders cannot be read');
  expect(error.message).toContain('check SOURCE_KAFKA_SASL_USERNAME, SOURCE_KAFKA_SASL_PASSWORD');
  expect(error.message).not.toContain('hunter2');
});
