// The settings of a source's process: what is wrong is said with the name of the setting, and without its value.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { secretFrom } from '@lead-scoring/contracts';
import { ConfigurationError, parseConfiguration } from '@lead-scoring/service';
import { kafkaSourceConfiguration, sourceClusterOf, sourceRegistryOf } from './configuration.js';

let directory: string;
let environment: Record<string, string>;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'kafka-source-'));
  const file = join(directory, 'source.json');
  writeFileSync(
    file,
    JSON.stringify({
      name: 'shop',
      topic: 'orders',
      format: 'json',
      event: { alias_kind: { fixed: 'email' }, alias: { value: 'email' }, event_type: { fixed: 'View' } },
    }),
  );
  environment = {
    KAFKA_BROKERS: 'own:9092',
    KAFKA_SASL_MECHANISM: 'plain',
    KAFKA_SASL_USERNAME: 'own',
    KAFKA_SASL_PASSWORD: 'own secret',
    SCHEMA_REGISTRY_URL: 'http://own:8081',
    MONGODB_URI: 'mongodb://own/',
    INTERNAL_SECRET: 'x'.repeat(32),
    SOURCE_FILE: file,
    SOURCE_CREDENTIAL: secretFrom('lsp_', Buffer.alloc(32, 7)),
  };
});
afterAll(() => {
  rmSync(directory, { recursive: true });
});

const parse = (more: Record<string, string> = {}) =>
  parseConfiguration(kafkaSourceConfiguration, { ...environment, ...more });

const problems = (more: Record<string, string>) => {
  try {
    parse(more);
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
  return [];
};

test('without servers of its own, a source is on the servers of the system, with their credentials', () => {
  expect(sourceClusterOf(parse())).toMatchObject({
    brokers: ['own:9092'],
    access: { KAFKA_SASL_USERNAME: 'own' },
    settingPrefix: '',
  });
  expect(sourceRegistryOf(parse()).url).toBe('http://own:8081');
});

test('with servers of its own, a source has none of the system’s credentials', () => {
  const configuration = parse({
    SOURCE_KAFKA_BROKERS: 'theirs:9093',
    SOURCE_KAFKA_TLS: 'true',
    SOURCE_SCHEMA_REGISTRY_URL: 'https://theirs/',
    SOURCE_SCHEMA_REGISTRY_TOKEN: 'a token',
  });
  expect(sourceClusterOf(configuration)).toEqual({
    brokers: ['theirs:9093'],
    access: { KAFKA_TLS: true, SCHEMA_REGISTRY_TOKEN: 'a token' },
    settingPrefix: 'SOURCE_',
  });
});

describe('wrong settings', () => {
  test.each<[string, Record<string, string>, string, RegExp]>([
    ['a file that is not there', { SOURCE_FILE: '/nowhere/source.json' }, 'SOURCE_FILE', /ENOENT/],
    ['no credential', { SOURCE_CREDENTIAL: 'hunter2' }, 'SOURCE_CREDENTIAL', /client id/],
    [
      'half of a pair',
      { SOURCE_KAFKA_BROKERS: 'a:1', SOURCE_KAFKA_SASL_MECHANISM: 'plain' },
      'SOURCE_KAFKA_SASL_MECHANISM',
      /needs SOURCE_KAFKA_SASL_USERNAME/,
    ],
    [
      'credentials without their servers',
      { SOURCE_KAFKA_TLS: 'true' },
      'SOURCE_KAFKA_TLS',
      /needs SOURCE_KAFKA_BROKERS/,
    ],
    ['a limit that is too small', { SOURCE_MAXIMUM_AHEAD: '1' }, 'SOURCE_MAXIMUM_AHEAD', />=1000|1000/],
  ])('%s: the setting is named, and no value', (_what, more, variable, message) => {
    const found = problems(more).filter((one) => one.variable === variable);
    expect(found.map((one) => one.message).join('\n')).toMatch(message);
    expect(JSON.stringify(problems(more))).not.toContain('hunter2');
  });
});
