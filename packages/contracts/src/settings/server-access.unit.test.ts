// Settings that require each other are reported, and no message contains a value.
import { expect, test } from '@jest/globals';
import { readServerAccess, serverAccessEnvironment } from './server-access.js';

test('nothing set is nothing to do', () => {
  expect(readServerAccess({ KAFKA_TLS: '', OTHER: 'x' })).toEqual({ access: {}, problems: [] });
});

test('a whole set is taken, the mechanism in any case', () => {
  const environment = {
    KAFKA_TLS: 'true',
    KAFKA_TLS_CA_FILE: '/ca.pem',
    KAFKA_SASL_MECHANISM: 'SCRAM-SHA-512',
    KAFKA_SASL_USERNAME: 'scoring',
    KAFKA_SASL_PASSWORD: 'hunter2',
    SCHEMA_REGISTRY_TOKEN: 'abc',
    MONGODB_CA_FILE: '/ca.pem',
  };
  expect(readServerAccess(environment)).toEqual({
    access: { ...environment, KAFKA_TLS: true, KAFKA_SASL_MECHANISM: 'scram-sha-512' },
    problems: [],
  });
  expect(serverAccessEnvironment({ ...environment, SCHEMA_REGISTRY_TOKEN: '', PATH: '/bin' })).toEqual(
    Object.fromEntries(Object.entries(environment).filter(([name]) => name !== 'SCHEMA_REGISTRY_TOKEN')),
  );
});

test.each<[Record<string, string>, string, RegExp]>([
  [{ KAFKA_TLS: 'yes' }, 'KAFKA_TLS', /true/],
  [{ KAFKA_TLS_CA_FILE: '/ca' }, 'KAFKA_TLS_CA_FILE', /needs KAFKA_TLS=true/],
  [{ KAFKA_TLS: 'true', KAFKA_TLS_KEY_FILE: '/k' }, 'KAFKA_TLS_KEY_FILE', /needs KAFKA_TLS_CERTIFICATE_FILE/],
  [{ KAFKA_SASL_MECHANISM: 'kerberos' }, 'KAFKA_SASL_MECHANISM', /plain, scram-sha-256/],
  [
    { KAFKA_SASL_MECHANISM: 'plain', KAFKA_SASL_USERNAME: 'a' },
    'KAFKA_SASL_MECHANISM',
    /needs KAFKA_SASL_PASSWORD/,
  ],
  [{ KAFKA_SASL_PASSWORD: 'hunter2' }, 'KAFKA_SASL_PASSWORD', /needs KAFKA_SASL_MECHANISM/],
  [{ KAFKA_SASL_MECHANISM: 'oauthbearer' }, 'KAFKA_SASL_MECHANISM', /needs KAFKA_OAUTH_TOKEN_URL/],
  [{ SCHEMA_REGISTRY_USERNAME: 'a' }, 'SCHEMA_REGISTRY_USERNAME', /needs SCHEMA_REGISTRY_PASSWORD/],
  [
    { SCHEMA_REGISTRY_USERNAME: 'a', SCHEMA_REGISTRY_PASSWORD: 'hunter2', SCHEMA_REGISTRY_TOKEN: 'hunter2' },
    'SCHEMA_REGISTRY_TOKEN',
    /one of the two/,
  ],
])('%j is refused by the name of %s', (environment, variable, message) => {
  const { problems } = readServerAccess(environment);
  expect(problems).toContainEqual({ variable, message: expect.stringMatching(message) });
  expect(JSON.stringify(problems)).not.toContain('hunter2');
});
