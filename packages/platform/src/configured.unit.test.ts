// Reading the addresses of running servers from the environment.
import { describe, expect, test } from '@jest/globals';
import { configuredServers, readConfiguredEndpoints } from './configured.js';

describe('configured servers', () => {
  test('are read from three variables', () => {
    const endpoints = readConfiguredEndpoints({
      KAFKA_BROKERS: 'one:9092, two:9092',
      SCHEMA_REGISTRY_URL: 'https://registry.example/api/',
      MONGODB_URI: 'mongodb+srv://user:secret@cluster.example/',
    });
    expect(endpoints).toEqual({
      kafkaBrokers: ['one:9092', 'two:9092'],
      schemaRegistryUrl: 'https://registry.example/api',
      mongodbUri: 'mongodb+srv://user:secret@cluster.example/',
    });
    expect([...configuredServers(endpoints)]).toEqual(['kafka', 'schemaRegistry', 'mongodb']);
  });

  test('do not include one whose variable is empty', () => {
    const endpoints = readConfiguredEndpoints({
      KAFKA_BROKERS: '',
      SCHEMA_REGISTRY_URL: ' ',
      MONGODB_URI: '',
    });
    expect(configuredServers(endpoints).size).toBe(0);
  });

  test.each([
    [{ KAFKA_BROKERS: 'localhost' }, /KAFKA_BROKERS must list host:port/],
    [{ KAFKA_BROKERS: 'kafka://localhost:9092' }, /KAFKA_BROKERS must list host:port/],
    [{ SCHEMA_REGISTRY_URL: 'registry:8081' }, /SCHEMA_REGISTRY_URL must be an http/],
    [{ MONGODB_URI: 'localhost:27017' }, /MONGODB_URI must begin with/],
  ])(
    'with a value that is not an address are refused with the name of the variable: %j',
    (environment, message) => {
      expect(() => readConfiguredEndpoints(environment)).toThrow(message);
    },
  );

  test('have no password in the error message', () => {
    let message = '';
    try {
      readConfiguredEndpoints({ MONGODB_URI: 'user:hunter2@host' });
    } catch (error) {
      message = String(error);
    }
    expect(message).toContain('MONGODB_URI');
    expect(message).not.toContain('hunter2');
  });
});
