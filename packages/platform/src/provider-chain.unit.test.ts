// The choice of a provider for each server.
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

  test('chooses for each server separately', () => {
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

  test('throws one error that names the three ways to get the servers, and the obstacles', () => {
    const choose = (): unknown =>
      chooseProviders(serverNames, { ...nothing, configured: new Set<ServerName>(['kafka']) });
    expect(choose).toThrow(NoProviderError);
    expect(choose).toThrow(/schema registry, MongoDB/);
    expect(choose).toThrow(/set SCHEMA_REGISTRY_URL, MONGODB_URI/);
    expect(choose).toThrow(/Docker engine \(now: no Docker engine answers\)/);
    expect(choose).toThrow(/root on Debian or Ubuntu.*\(now: you are not root\)/);
  });
});
