// Each way in which a server refuses this process is recognised, with the setting to change. The texts are those of Node.js,
// OpenSSL and kafkajs with real servers.
import { expect, test } from '@jest/globals';
import type { ServerAccess } from '@lead-scoring/contracts';
import { EventLogUnavailable } from '../errors.js';
import { kafkaProblem, registryProblem, unavailable } from './access-errors.js';

const named: ServerAccess = {
  KAFKA_TLS: true,
  KAFKA_SASL_MECHANISM: 'plain',
  KAFKA_SASL_USERNAME: 'scoring',
  KAFKA_SASL_PASSWORD: 'hunter2',
};
const wrapped = (message: string, more: object = {}) =>
  new Error('Failed after 3 retries', { cause: Object.assign(new Error(message), more) });

test.each<[string, unknown, ServerAccess, RegExp]>([
  ['no SASL', wrapped('Closed connection'), { KAFKA_TLS: true }, /set KAFKA_SASL_MECHANISM/],
  ['no TLS', wrapped('Closed connection'), { ...named, KAFKA_TLS: false }, /set KAFKA_TLS=true/],
  [
    'neither',
    wrapped('Connection error: read ECONNRESET'),
    {},
    /KAFKA_SASL_MECHANISM.*or it speaks TLS: set KAFKA_TLS=true/,
  ],
  [
    'another mechanism',
    wrapped('SASL PLAIN mechanism is not supported by the server'),
    named,
    /does not accept the SASL mechanism PLAIN: set KAFKA_SASL_MECHANISM/,
  ],
  [
    'a wrong password, PLAIN',
    wrapped('SASL PLAIN authentication failed: Authentication failed: Invalid username or password'),
    named,
    /check KAFKA_SASL_USERNAME, KAFKA_SASL_PASSWORD/,
  ],
  [
    'a wrong password, SCRAM',
    wrapped('SASL SCRAM SHA512 authentication failed: Authentication failed'),
    { ...named, KAFKA_SASL_MECHANISM: 'scram-sha-512' },
    /check KAFKA_SASL_USERNAME, KAFKA_SASL_PASSWORD/,
  ],
  [
    'a refused token',
    wrapped('SASL OAUTHBEARER authentication failed: {"status":"invalid_token"}'),
    { KAFKA_TLS: true, KAFKA_SASL_MECHANISM: 'oauthbearer' },
    /refuses the token that KAFKA_OAUTH_TOKEN_URL gives/,
  ],
  [
    'another authority',
    wrapped('Connection error: self-signed certificate in certificate chain', {
      code: 'SELF_SIGNED_CERT_IN_CHAIN',
    }),
    named,
    /set KAFKA_TLS_CA_FILE/,
  ],
  ['an unknown authority', wrapped('unable to verify the first certificate'), named, /KAFKA_TLS_CA_FILE/],
  [
    'another name',
    wrapped("Hostname/IP does not match certificate's altnames", { code: 'ERR_TLS_CERT_ALTNAME_INVALID' }),
    named,
    /for another name than the one that it is reached by/,
  ],
  [
    'no certificate',
    wrapped('Connection error: C0:SSL routines:ssl3_read_bytes:tlsv13 alert certificate required'),
    named,
    /set KAFKA_TLS_CERTIFICATE_FILE and KAFKA_TLS_KEY_FILE/,
  ],
  [
    'TLS where there is none',
    wrapped('Client network socket disconnected before secure TLS connection was established'),
    named,
    /set KAFKA_TLS=false/,
  ],
  [
    'no right',
    wrapped('Not authorized to access topics', { type: 'TOPIC_AUTHORIZATION_FAILED' }),
    named,
    /the user scoring \(TOPIC_AUTHORIZATION_FAILED\): `lead-scoring acls`/,
  ],
])('Kafka: %s', (_title, error, access, message) => {
  const problem = kafkaProblem(error, access);
  expect(problem).toMatch(message);
  expect(problem).not.toContain('hunter2');
});

test('a broker that is away, or closes the connection although all settings are present, yields no advice', () => {
  expect(kafkaProblem(wrapped('connect ECONNREFUSED 127.0.0.1:1'), {})).toBeUndefined();
  expect(kafkaProblem(wrapped('Closed connection'), named)).toBeUndefined();
});

test.each<[string, unknown, boolean]>([
  [
    'a wrong password, PLAIN',
    wrapped('SASL PLAIN authentication failed: Invalid username or password'),
    true,
  ],
  [
    'a wrong password, SCRAM',
    wrapped('SASL SCRAM SHA512 authentication failed: Authentication failed'),
    true,
  ],
  ['the protocol’s code', wrapped('refused', { type: 'SASL_AUTHENTICATION_FAILED' }), true],
  ['another mechanism', wrapped('SASL PLAIN mechanism is not supported by the server'), true],
  [
    'a token server that refuses',
    wrapped('no token', {
      cause: new EventLogUnavailable('answered 401', undefined, { isAccessRefused: true }),
    }),
    true,
  ],
  [
    'a token server that is away',
    wrapped('no token', {
      cause: new EventLogUnavailable('the server of KAFKA_OAUTH_TOKEN_URL does not answer'),
    }),
    false,
  ],
  ['a broker that is away', wrapped('connect ECONNREFUSED 127.0.0.1:1'), false],
  ['a broker that closes the connection', wrapped('Closed connection'), false],
  ['a missing right', wrapped('Not authorized', { type: 'TOPIC_AUTHORIZATION_FAILED' }), false],
])('%s: refused credentials are told from an absent server', (_title, error, isAccessRefused) => {
  expect(unavailable('no log', error, { access: named, brokers: ['kafka:9092'] })).toMatchObject({
    retriable: true,
    isAccessRefused,
  });
});

test.each<[string, unknown, ServerAccess, RegExp]>([
  ['no credentials', 401, {}, /demands credentials \(401\): check SCHEMA_REGISTRY_USERNAME/],
  ['a wrong password', 401, { SCHEMA_REGISTRY_USERNAME: 'a' }, /refuses our credentials/],
  ['no right', 403, { SCHEMA_REGISTRY_TOKEN: 'a' }, /refuses our credentials \(403\)/],
  ['another authority', new Error('self-signed certificate'), {}, /set SCHEMA_REGISTRY_CA_FILE/],
  ['TLS where there is none', new Error('write EPROTO: wrong version number'), {}, /start with http:/],
  ['away', new Error('connect ECONNREFUSED'), {}, /does not answer: connect ECONNREFUSED/],
])('the schema registry: %s', (_title, error, access, message) => {
  expect(registryProblem(error, access)).toMatch(message);
});

test.each([
  new Error('Broker not connected'),
  Object.assign(new Error('Connection error: connect ECONNREFUSED 10.0.0.1:9092'), {
    name: 'KafkaJSConnectionError',
  }),
])('an error without an address names those of the brokers: %s', (error) => {
  const { message } = unavailable('the lag cannot be read', error, {
    brokers: ['kafka-1:9092', 'kafka-2:9092'],
  });
  expect(message).toBe(
    `the lag cannot be read: no Kafka broker can be connected to at kafka-1:9092, kafka-2:9092, which KAFKA_BROKERS names (${error.message})`,
  );
});
