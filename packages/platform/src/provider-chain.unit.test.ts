// Which provider serves which server.
import { describe, expect, test } from '@jest/globals';
import { serverNames, type ServerName } from './endpoints.js';
import { chooseProviders, NoProviderError, type ProviderFacts } from './provider-chain.js';

const nothing: ProviderFacts = {
  configured: new Set<ServerName>(),
  dockerObstacle: {
    kafka: 'no Docker engine answers',
    schemaRegistry: 'no Docker engine answers',
    mongodb: 'no Docker engine answers',
  },
  nativeObstacle: 'you are not root',
};

describe('the provider chain', () => {
  test('takes a configured server before everything else', () => {
    const facts = { configured: new Set(serverNames), dockerObstacle: {}, nativeObstacle: undefined };
    expect(chooseProviders(serverNames, facts)).toEqual({
      kafka: 'configured',
      schemaRegistry: 'configured',
      mongodb: 'configured',
    });
  });

  test('is gone through for each server on its own', () => {
    const facts = { ...nothing, configured: new Set<ServerName>(['kafka']), dockerObstacle: {} };
    expect(chooseProviders(serverNames, facts)).toEqual({
      kafka: 'configured',
      schemaRegistry: 'docker',
      mongodb: 'docker',
    });
  });

  test('takes native processes only for what Docker cannot serve', () => {
    const facts = { ...nothing, dockerObstacle: { kafka: 'one broker only' }, nativeObstacle: undefined };
    expect(chooseProviders(serverNames, facts)).toEqual({
      kafka: 'native',
      schemaRegistry: 'docker',
      mongodb: 'docker',
    });
  });

  test('decides only on the servers asked for', () => {
    const facts = { ...nothing, configured: new Set<ServerName>(['mongodb']) };
    expect(chooseProviders(['mongodb'], facts)).toEqual({ mongodb: 'configured' });
  });

  test('ends in one error that names the three ways out and the reasons', () => {
    const choose = (): unknown =>
      chooseProviders(serverNames, { ...nothing, configured: new Set<ServerName>(['kafka']) });
    expect(choose).toThrow(NoProviderError);
    expect(choose).toThrow(/schema registry, MongoDB/);
    expect(choose).toThrow(/set SCHEMA_REGISTRY_URL, MONGODB_URI/);
    expect(choose).toThrow(/Docker engine \(now: no Docker engine answers\)/);
    expect(choose).toThrow(/root on Debian or Ubuntu.*\(now: you are not root\)/);
  });
});
