// The first provider: running servers that the environment names. They are used as they are; nothing is started.
import { serverTitles, serverVariables, type PlatformEndpoints, type ServerName } from './endpoints.js';
import { verifyListening } from './readiness.js';
import { waitUntil } from './waiting.js';

// A server that was started just before may need a few seconds.
const PATIENCE_MS = 15_000;

/**
 * Reads `KAFKA_BROKERS`, `SCHEMA_REGISTRY_URL` and `MONGODB_URI`. Unset and empty are the same.
 *
 * @throws Error that names the variable, when its value is not an address
 */
export function readConfiguredEndpoints(environment: NodeJS.ProcessEnv): Partial<PlatformEndpoints> {
  const endpoints: Partial<PlatformEndpoints> = {};
  const brokers = (environment[serverVariables.kafka] ?? '')
    .split(',')
    .map((broker) => broker.trim())
    .filter((broker) => broker !== '');
  if (brokers.length > 0) {
    const wrong = brokers.find((broker) => !/^\S+:\d{1,5}$/.test(broker) || broker.includes('://'));
    if (wrong !== undefined) {
      throw new Error(`KAFKA_BROKERS must list host:port pairs, separated by commas; "${wrong}" is not one`);
    }
    endpoints.kafkaBrokers = brokers;
  }
  const registry = environment[serverVariables.schemaRegistry]?.trim() ?? '';
  if (registry !== '') {
    if (!/^https?:\/\//.test(registry) || !URL.canParse(registry)) {
      throw new Error(`SCHEMA_REGISTRY_URL must be an http or https address, not "${registry}"`);
    }
    endpoints.schemaRegistryUrl = registry.replace(/(?<!\/)\/+$/, '');
  }
  const mongodb = environment[serverVariables.mongodb]?.trim() ?? '';
  if (mongodb !== '') {
    if (!/^mongodb(\+srv)?:\/\//.test(mongodb)) {
      // The value itself may hold a password: do not repeat it.
      throw new Error('MONGODB_URI must begin with mongodb:// or mongodb+srv://');
    }
    endpoints.mongodbUri = mongodb;
  }
  return endpoints;
}

/** The servers that these endpoints name. */
export function configuredServers(endpoints: Partial<PlatformEndpoints>): Set<ServerName> {
  const servers = new Set<ServerName>();
  if (endpoints.kafkaBrokers) {
    servers.add('kafka');
  }
  if (endpoints.schemaRegistryUrl !== undefined) {
    servers.add('schemaRegistry');
  }
  if (endpoints.mongodbUri !== undefined) {
    servers.add('mongodb');
  }
  return servers;
}

/**
 * Checks that something listens at the addresses of the configured servers. It does not log in: the programs that have the
 * credentials do.
 *
 * @throws Error that names the variable whose server does not answer in time, by default within 15 seconds
 */
export async function verifyConfigured(
  endpoints: Partial<PlatformEndpoints>,
  patienceMs = PATIENCE_MS,
): Promise<void> {
  const { kafkaBrokers, schemaRegistryUrl, mongodbUri } = endpoints;
  const checks: Promise<unknown>[] = [];
  const check = (server: ServerName, addresses: readonly string[]): void => {
    const description = `${serverTitles[server]} was expected at ${addresses.join(', ')}, which ${serverVariables[server]} names, and does not answer`;
    checks.push(
      waitUntil(() => anyListening(addresses), { description, timeoutMs: patienceMs, pollMs: 500 }),
    );
  };
  if (kafkaBrokers) {
    check('kafka', kafkaBrokers);
  }
  if (schemaRegistryUrl !== undefined) {
    check('schemaRegistry', [addressOfHttp(schemaRegistryUrl)]);
  }
  const databases = addressesOfMongodb(mongodbUri ?? '');
  if (databases.length > 0) {
    check('mongodb', databases);
  }
  await Promise.all(checks);
}

/** @throws Error with the reason of each address, when nothing listens at any of them */
async function anyListening(addresses: readonly string[]): Promise<void> {
  try {
    await Promise.any(addresses.map((address) => verifyListening(address)));
  } catch (error) {
    // Promise.any says only "All promises were rejected".
    const reasons = (error as { errors: NodeJS.ErrnoException[] }).errors.map(
      // A name with several addresses gives an error without a message.
      ({ message, code = 'no answer' }) => (message === '' ? code : message),
    );
    throw new Error([...new Set(reasons)].join('; '), { cause: error });
  }
}

function addressOfHttp(address: string): string {
  const { hostname, port, protocol } = new URL(address);
  return `${hostname}:${port === '' ? (protocol === 'https:' ? 443 : 80) : port}`;
}

/** The `host:port` addresses in a URI; none for mongodb+srv, whose hosts are in DNS. */
function addressesOfMongodb(uri: string): string[] {
  const hosts = /^mongodb:\/\/(?:[^@/]*@)?([^/?]+)/.exec(uri)?.[1] ?? '';
  return hosts
    .split(',')
    .filter((host) => host !== '')
    .map((host) => (/:\d+$/.test(host) ? host : `${host}:27017`));
}
