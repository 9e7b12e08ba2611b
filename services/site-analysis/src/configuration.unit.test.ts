import { expect, test } from '@jest/globals';
import { ConfigurationError, parseConfiguration } from '@lead-scoring/service';
import { siteAnalysisConfiguration } from './configuration.js';

const valid = {
  KAFKA_BROKERS: '127.0.0.1:9092',
  SCHEMA_REGISTRY_URL: 'http://127.0.0.1:8081/',
  MONGODB_URI: 'mongodb://127.0.0.1:27017/',
  INTERNAL_SECRET: 'x'.repeat(32),
};
const parse = (environment: Record<string, string> = {}) =>
  parseConfiguration(siteAnalysisConfiguration, { ...valid, ...environment });

test('by default no private address may be requested, and public ones only on ports 80 and 443', () => {
  expect(parse()).toMatchObject({ ALLOW_PRIVATE_TARGETS: [], SITE_ANALYSIS_PORTS: [80, 443] });
  expect(parse({ ALLOW_PRIVATE_TARGETS: '' }).ALLOW_PRIVATE_TARGETS).toEqual([]);
});

test('private targets and ports are lists', () => {
  expect(
    parse({ ALLOW_PRIVATE_TARGETS: '127.0.0.1:3000-3999,10.0.0.1:80', SITE_ANALYSIS_PORTS: '443,8443' }),
  ).toMatchObject({
    ALLOW_PRIVATE_TARGETS: [
      { host: '127.0.0.1', fromPort: 3_000, toPort: 3_999 },
      { host: '10.0.0.1', fromPort: 80, toPort: 80 },
    ],
    SITE_ANALYSIS_PORTS: [443, 8_443],
  });
});

test.each([
  ['ALLOW_PRIVATE_TARGETS', '127.0.0.1'],
  ['ALLOW_PRIVATE_TARGETS', '127.0.0.1:9-1'],
  ['SITE_ANALYSIS_PORTS', '80;443'],
  ['SITE_ANALYSIS_PORTS', '70000'],
  ['SITE_ANALYSIS_CONTACT', 'a) b'],
  ['MAXIMUM_ANALYSES', '0'],
])('%s of %j keeps the service from starting', (variable, value) => {
  expect(() => parse({ [variable]: value })).toThrow(ConfigurationError);
});
