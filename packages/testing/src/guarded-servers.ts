// Kafka, a schema registry and MongoDB that require credentials and TLS: the test's own broker, and TLS proxies in front of the
// run's registry and database.
import { createServer, type Server } from 'node:http';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPlatform, type GuardedAddresses, type PlatformEndpoints } from '@lead-scoring/platform';
import { MongoClient } from 'mongodb';
import { makeCertificates, type Certificates } from './certificates.js';
import { endpointsFromEnvironment } from './servers.js';
import { startHttpsProxy, startTlsProxy } from './tls-proxies.js';

export const registryPassword = 'registry-password';
export const registryToken = 'registry-token';
export const databaseUser = 'doors_system';
export const databasePassword = 'database-password';

export interface GuardedServers {
  certificates: Certificates;
  kafka: GuardedAddresses;
  registryUrl: string;
  /** Ports with TLS; the second requires a client certificate too. */
  mongodbPort: number;
  mongodbCertificatePort: number;
  /** An OAuth token endpoint for the client `system` with the secret `token-secret`; its tokens are unsigned. */
  tokenUrl: string;
  /** The same servers without TLS and credentials, for a test's own connections. */
  plain: PlatformEndpoints;
  stop(): Promise<void>;
}

/** @param users Kafka's passwords by user; `system` is a superuser, the others have the rights of their ACLs */
export async function startGuardedServers(users: Readonly<Record<string, string>>): Promise<GuardedServers> {
  const directory = await mkdtemp(join(tmpdir(), 'lead-scoring-doors-'));
  const certificates = await makeCertificates(directory, 'system');
  const shared = endpointsFromEnvironment();
  const platform = await startPlatform({
    servers: ['kafka'],
    // An unreachable Docker engine, so that the servers run as native processes.
    environment: { ...process.env, KAFKA_BROKERS: '', DOCKER_HOST: 'tcp://none.invalid:2375' },
    guardedKafka: {
      keyAndCertificateFile: certificates.serverBoth,
      authorityFile: certificates.authority,
      users,
      superUsers: ['system', 'CN=system'],
    },
  });
  if (!platform.guarded) throw new Error('the platform gave no guarded listeners');
  const registry = await startHttpsProxy(certificates, shared.schemaRegistryUrl, [
    `Basic ${Buffer.from(`registry-user:${registryPassword}`).toString('base64')}`,
    `Bearer ${registryToken}`,
  ]);
  const { hostname: host, port } = new URL(shared.mongodbUri);
  const database = { host, port: Number(port) };
  const mongodb = await startTlsProxy(certificates, database);
  const certified = await startTlsProxy(certificates, database, true);
  await createDatabaseUser(shared.mongodbUri);
  const tokens = await startTokenServer();
  const path = new URL(shared.schemaRegistryUrl).pathname;
  return {
    certificates,
    kafka: platform.guarded,
    registryUrl: `https://127.0.0.1:${registry.port}${path}`,
    mongodbPort: mongodb.port,
    mongodbCertificatePort: certified.port,
    tokenUrl: `http://127.0.0.1:${(tokens.address() as AddressInfo).port}/token`,
    plain: { ...shared, kafkaBrokers: platform.endpoints.kafkaBrokers },
    stop: async () => {
      await Promise.all([registry.stop(), mongodb.stop(), certified.stop()]);
      tokens.closeAllConnections();
      tokens.close();
      await platform.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function createDatabaseUser(uri: string): Promise<void> {
  const client = await MongoClient.connect(uri);
  try {
    await client.db('admin').command({
      createUser: databaseUser,
      pwd: databasePassword,
      roles: [
        { role: 'clusterAdmin', db: 'admin' },
        { role: 'readWriteAnyDatabase', db: 'admin' },
      ],
    });
  } catch (error) {
    if (!(error instanceof Error && /already exists/.test(error.message))) throw error;
  } finally {
    await client.close();
  }
}

async function startTokenServer(): Promise<Server> {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const server = createServer((req, res) => {
    const credentials = Buffer.from(req.headers.authorization?.slice('Basic '.length) ?? '', 'base64');
    if (credentials.toString() !== 'system:token-secret') {
      res.writeHead(401).end('{"error":"invalid_client"}');
      return;
    }
    const now = Math.floor(Date.now() / 1_000);
    const token = `${part({ alg: 'none' })}.${part({ sub: 'system', iat: now, exp: now + 3_600 })}.`;
    res.end(JSON.stringify({ access_token: token, token_type: 'Bearer', expires_in: 3_600 }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}
