// The system on servers that require TLS and credentials, with every mechanism that the settings offer; and the error messages for
// a missing or wrong setting.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { publicTopics, readServerAccess, serviceNames, topics } from '@lead-scoring/contracts';
import {
  checkSchemaRegistry,
  createEventLog,
  endOffsets,
  listReplication,
  tail,
} from '@lead-scoring/event-log';
import { eventually } from '@lead-scoring/platform/waiting';
import { checkDatabase, createReadModelComponent } from '@lead-scoring/read-model';
import { startInOrder } from '@lead-scoring/service';
import { pino } from 'pino';
import {
  databasePassword,
  databaseUser,
  registryPassword,
  registryToken,
  startGuardedServers,
  type GuardedServers,
} from './guarded-servers.js';
import { removeNamespace } from './servers.js';
import { checkout, startTestSystem, type TestSystem } from './test-system.js';

const kafkaPassword = 'kafka-password';
const secrets = [kafkaPassword, registryPassword, registryToken, databasePassword, 'token-secret'];
const namespace = `test-${randomBytes(5).toString('hex')}`;

let servers: GuardedServers;
beforeAll(async () => {
  const users = ['system', 'crm', ...[...serviceNames, 'operator'].map((name) => `svc-${name}`)];
  servers = await startGuardedServers(Object.fromEntries(users.map((user) => [user, kafkaPassword])));
}, 180_000);
afterAll(async () => {
  await removeNamespace(servers.plain, namespace);
  await servers.stop();
}, 60_000);

type Environment = Record<string, string>;

const tls = (): Environment => ({
  KAFKA_TLS: 'true',
  KAFKA_TLS_CA_FILE: servers.certificates.authority,
});
const byPassword = (mechanism: string): Environment => ({
  ...tls(),
  KAFKA_SASL_MECHANISM: mechanism,
  KAFKA_SASL_USERNAME: 'system',
  KAFKA_SASL_PASSWORD: kafkaPassword,
});
const byToken = (): Environment => ({
  ...tls(),
  KAFKA_SASL_MECHANISM: 'oauthbearer',
  KAFKA_OAUTH_TOKEN_URL: servers.tokenUrl,
  KAFKA_OAUTH_CLIENT_ID: 'system',
  KAFKA_OAUTH_CLIENT_SECRET: 'token-secret',
});
const byCertificate = (): Environment => ({
  ...tls(),
  KAFKA_TLS_CERTIFICATE_FILE: servers.certificates.client,
  KAFKA_TLS_KEY_FILE: servers.certificates.clientKey,
});
const registryBasic = (): Environment => ({
  SCHEMA_REGISTRY_CA_FILE: servers.certificates.authority,
  SCHEMA_REGISTRY_USERNAME: 'registry-user',
  SCHEMA_REGISTRY_PASSWORD: registryPassword,
});
const registryBearer = (): Environment => ({
  SCHEMA_REGISTRY_CA_FILE: servers.certificates.authority,
  SCHEMA_REGISTRY_TOKEN: registryToken,
});

/** A log that connects with the credentials of the environment. */
function logWith(
  environment: Environment,
  listener: 'sasl' | 'certificate' = 'sasl',
  of: { namespace: string; partitions: number } = { namespace, partitions: 1 },
) {
  const { access, problems } = readServerAccess(environment);
  expect(problems).toEqual([]);
  return createEventLog(
    {
      brokers: [servers.kafka[listener]],
      schemaRegistryUrl: servers.registryUrl,
      clientId: 'test',
      access,
      ...of,
    },
    { logger: pino({ level: 'silent' }) },
  );
}

describe('every mechanism of authentication', () => {
  test.each<[string, () => Environment, () => Environment, 'sasl' | 'certificate']>([
    ['PLAIN, and Basic at the registry', () => byPassword('plain'), registryBasic, 'sasl'],
    ['SCRAM-SHA-256, and Bearer at the registry', () => byPassword('SCRAM-SHA-256'), registryBearer, 'sasl'],
    ['SCRAM-SHA-512', () => byPassword('scram-sha-512'), registryBasic, 'sasl'],
    ['OAUTHBEARER', byToken, registryBearer, 'sasl'],
    ["a client's certificate", byCertificate, registryBasic, 'certificate'],
  ])(
    '%s: topics are created and read, schemas are registered',
    async (_title, kafka, registry, listener) => {
      const log = logWith({ ...kafka(), ...registry() }, listener);
      await log.prepare();
      expect(await endOffsets(log, 'ingest.events')).toEqual([{ partition: 0, offset: 0n }]);
      await log.close();
    },
    60_000,
  );

  test('MongoDB with a password over TLS, and with a certificate', async () => {
    const { mongodbPort, mongodbCertificatePort, certificates } = servers;
    const user = `${databaseUser}:${databasePassword}@`;
    await checkDatabase({
      uri: `mongodb://${user}127.0.0.1:${mongodbPort}/?directConnection=true`,
      access: { MONGODB_CA_FILE: certificates.authority },
    });
    await checkDatabase({
      uri: `mongodb://${user}127.0.0.1:${mongodbCertificatePort}/?directConnection=true`,
      access: {
        MONGODB_CA_FILE: certificates.authority,
        MONGODB_CERTIFICATE_KEY_FILE: certificates.clientBoth,
      },
    });
  }, 60_000);
});

describe('a missing or wrong setting is reported with the name of the setting', () => {
  test.each<[string, () => Environment, 'sasl' | 'certificate', RegExp]>([
    ['no SASL', tls, 'sasl', /demands SASL: set KAFKA_SASL_MECHANISM/],
    ['no TLS', () => ({}), 'sasl', /speaks TLS: set KAFKA_TLS=true/],
    [
      'a wrong password',
      () => ({ ...byPassword('scram-sha-512'), KAFKA_SASL_PASSWORD: 'wrong' }),
      'sasl',
      /refuses the user or the password: check KAFKA_SASL_USERNAME, KAFKA_SASL_PASSWORD/,
    ],
    [
      'a wrong password with PLAIN',
      () => ({ ...byPassword('plain'), KAFKA_SASL_PASSWORD: 'wrong' }),
      'sasl',
      /check KAFKA_SASL_USERNAME, KAFKA_SASL_PASSWORD/,
    ],
    [
      'a wrong secret for the token',
      () => ({ ...byToken(), KAFKA_OAUTH_CLIENT_SECRET: 'wrong' }),
      'sasl',
      /KAFKA_OAUTH_TOKEN_URL answered 401.*check KAFKA_OAUTH_CLIENT_ID and KAFKA_OAUTH_CLIENT_SECRET/,
    ],
    [
      'another authority',
      () => ({ ...byPassword('plain'), KAFKA_TLS_CA_FILE: servers.certificates.otherAuthority }),
      'sasl',
      /not signed by an authority that is trusted here: set KAFKA_TLS_CA_FILE/,
    ],
    ['no certificate', tls, 'certificate', /set KAFKA_TLS_CERTIFICATE_FILE and KAFKA_TLS_KEY_FILE/],
  ])(
    'Kafka: %s',
    async (_title, environment, listener, message) => {
      const log = logWith(environment(), listener);
      const failure = await listReplication(log).catch((error: unknown) => error);
      await log.close();
      expect(failure).toMatchObject({
        code: 'log_unavailable',
        message: expect.stringMatching(message),
      });
      for (const secret of secrets) expect((failure as Error).message).not.toContain(secret);
    },
    60_000,
  );

  test('Kafka: TLS at a listener without TLS', async () => {
    const { access } = readServerAccess(tls());
    const log = createEventLog(
      {
        brokers: servers.plain.kafkaBrokers,
        schemaRegistryUrl: '',
        namespace,
        clientId: 'test',
        partitions: 1,
        access,
      },
      { logger: pino({ level: 'silent' }) },
    );
    await expect(listReplication(log)).rejects.toThrow(/does not speak TLS.*set KAFKA_TLS=false/);
    await log.close();
  }, 60_000);

  test('a file that does not exist', () => {
    expect(() => logWith({ KAFKA_TLS: 'true', KAFKA_TLS_CA_FILE: '/nowhere/ca.pem' })).toThrow(
      /KAFKA_TLS_CA_FILE names \/nowhere\/ca\.pem, which cannot be read \(ENOENT\)/,
    );
  });

  test.each<[string, () => Environment, RegExp]>([
    [
      'no credentials',
      () => ({ SCHEMA_REGISTRY_CA_FILE: servers.certificates.authority }),
      /demands credentials \(401\): check SCHEMA_REGISTRY_USERNAME/,
    ],
    [
      'a wrong password',
      () => ({ ...registryBasic(), SCHEMA_REGISTRY_PASSWORD: 'wrong' }),
      /refuses our credentials \(401\): check SCHEMA_REGISTRY_USERNAME and SCHEMA_REGISTRY_PASSWORD/,
    ],
    [
      'another authority',
      () => ({ ...registryBasic(), SCHEMA_REGISTRY_CA_FILE: servers.certificates.otherAuthority }),
      /not signed by an authority that is trusted here: set SCHEMA_REGISTRY_CA_FILE/,
    ],
  ])('the schema registry: %s', async (_title, environment, message) => {
    const log = logWith(environment());
    await expect(checkSchemaRegistry(log)).rejects.toThrow(message);
    await log.close();
  });

  test.each<[string, () => { uri: string; access: Environment }, RegExp]>([
    [
      'a wrong password',
      () => ({
        uri: `mongodb://${databaseUser}:wrong@127.0.0.1:${servers.mongodbPort}/?directConnection=true`,
        access: { MONGODB_CA_FILE: servers.certificates.authority },
      }),
      /refuses the user or the password: check those in MONGODB_URI/,
    ],
    [
      'another authority',
      () => ({
        uri: `mongodb://127.0.0.1:${servers.mongodbPort}/?directConnection=true`,
        access: { MONGODB_CA_FILE: servers.certificates.otherAuthority },
      }),
      /not signed by an authority that is trusted here: set MONGODB_CA_FILE/,
    ],
    [
      'no TLS',
      () => ({ uri: `mongodb://127.0.0.1:${servers.mongodbPort}/?directConnection=true`, access: {} }),
      /speaks TLS: set MONGODB_CA_FILE/,
    ],
    [
      'no certificate',
      () => ({
        uri: `mongodb://127.0.0.1:${servers.mongodbCertificatePort}/?directConnection=true`,
        access: { MONGODB_CA_FILE: servers.certificates.authority },
      }),
      /set MONGODB_CERTIFICATE_KEY_FILE/,
    ],
  ])('MongoDB: %s', async (_title, configuration, message) => {
    await expect(checkDatabase(configuration())).rejects.toThrow(message);
  });

  test('MongoDB: a process that is refused ends its start at once, and does not wait for another answer', async () => {
    const waited: unknown[] = [];
    const component = createReadModelComponent(
      {
        MONGODB_URI: `mongodb://${databaseUser}:wrong@127.0.0.1:${servers.mongodbPort}/?directConnection=true`,
        MONGODB_CA_FILE: servers.certificates.authority,
        NAMESPACE: namespace,
      },
      { service: 'scoring', collections: [], logger: pino({ level: 'silent' }) },
    );
    const logger = {
      info: () => undefined,
      warn: (...line: unknown[]) => waited.push(line),
      error: () => undefined,
    };
    await expect(startInOrder((scope) => scope.start(component), { logger })).rejects.toMatchObject({
      isAccessRefused: true,
      message: expect.stringMatching(/refuses the user or the password: check those in MONGODB_URI/),
    });
    expect(waited).toEqual([]);
  }, 60_000);
});

describe('the system, each service with the ACLs that `lead-scoring acls` prints', () => {
  const own = `test-${randomBytes(5).toString('hex')}`;
  let system: TestSystem;
  const environment = (): Environment => ({
    ...byPassword('scram-sha-512'),
    ...registryBasic(),
    MONGODB_CA_FILE: servers.certificates.authority,
    KAFKA_BROKERS: servers.kafka.sasl,
    SCHEMA_REGISTRY_URL: servers.registryUrl,
    MONGODB_URI: `mongodb://${databaseUser}:${databasePassword}@127.0.0.1:${servers.mongodbPort}/?directConnection=true`,
  });

  beforeAll(async () => {
    for (const whose of [
      ['--user-prefix', 'svc-'],
      ['--consumer', 'crm'],
    ])
      expect(
        await node(['packages/cli/dist/main.js', 'acls', '--create', ...whose], {
          ...environment(),
          NAMESPACE: own,
        }),
      ).toMatchObject({ code: 0 });
    system = await startTestSystem({
      endpoints: servers.plain,
      namespace: own,
      registersSchemas: true,
      environment: environment(),
      environmentOf: (name) => ({ KAFKA_SASL_USERNAME: `svc-${name}` }),
    });
  }, 120_000);
  afterAll(() => system.stop(), 60_000);

  test('scores an event', async () => {
    const rule = { event_type: 'Page View', weight: 7 };
    expect((await system.request('/engagement-scoring/rules', { body: rule })).status).toBe(201);
    const event = { alias_kind: 'email', alias: 'ada@example.com', event_type: 'Page View' };
    expect((await system.request('/ingest', { body: event })).status).toBe(202);
    await eventually('the lead has its score', async () => {
      const { body } = await system.request<{ data: { score: number }[] }>('/leads?limit=1');
      return body.data[0]?.score === 7;
    });
  }, 60_000);

  test('a consumer with the public ACLs reads the public topics and nothing else', async () => {
    const log = logWith({ ...byPassword('plain'), ...registryBasic(), KAFKA_SASL_USERNAME: 'crm' }, 'sasl', {
      namespace: own,
      partitions: 6,
    });
    const read = new Map<string, number | string>();
    for (const { name } of topics) {
      let count = 0;
      try {
        for await (const record of tail(log, name, { from: 'beginning', follow: false }))
          count += record.error === undefined ? 1 : 0;
        read.set(`${own}.${name}`, count);
      } catch (error) {
        read.set(`${own}.${name}`, /TOPIC_AUTHORIZATION_FAILED/.exec(String(error))?.[0] ?? String(error));
      }
    }
    const allowed = publicTopics(own);
    for (const [topic, answer] of read)
      expect([topic, answer]).toEqual([
        topic,
        allowed.includes(topic) ? expect.any(Number) : 'TOPIC_AUTHORIZATION_FAILED',
      ]);
    expect(read.get(`${own}.ingest.events`)).toBeGreaterThan(0);
    expect(read.get(`${own}.scoring.events`)).toBeGreaterThan(0);
    await log.close();
  }, 60_000);

  test('the command line connects as well, and doctor names the wrong setting when it cannot', async () => {
    const common = { NAMESPACE: system.namespace, LEAD_SCORING_URL: system.url };
    const inside = await node(['packages/cli/dist/main.js', 'doctor', '--json'], {
      ...environment(),
      KAFKA_SASL_USERNAME: 'svc-operator',
      ...common,
    });
    const { findings } = JSON.parse(inside.output) as { findings: { what: string; state: string }[] };
    for (const what of ['Kafka', 'schema registry', 'MongoDB', 'copies of the log'])
      expect(findings).toContainEqual(expect.objectContaining({ what, state: 'ok' }));
    const outside = await node(['packages/cli/dist/main.js', 'doctor'], {
      ...environment(),
      ...common,
      KAFKA_SASL_PASSWORD: 'wrong',
      SCHEMA_REGISTRY_PASSWORD: 'wrong',
    });
    expect(outside.code).not.toBe(0);
    expect(outside.output).toMatch(/check KAFKA_SASL_USERNAME/);
    expect(outside.output).toMatch(/check SCHEMA_REGISTRY_USERNAME/);
    const misspelt = await node(['packages/cli/dist/main.js', 'doctor'], { KAFKA_TLS: 'yes' });
    expect(misspelt).toMatchObject({ code: 64, output: expect.stringContaining('KAFKA_TLS') });
  }, 90_000);

  test('no log contains a password', async () => {
    for (const { logFile } of system.system.services) {
      const text = await readFile(logFile, 'utf8');
      for (const secret of secrets) expect(text).not.toContain(secret);
    }
  });

  test('`npm start` on servers that refuse its credentials starts no service, and names the setting to change', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'lead-scoring-start-'));
    const program = pathToFileURL(join(checkout, 'packages/start/dist/main.js')).href;
    const script = `import { main } from ${JSON.stringify(program)}; await main(${JSON.stringify(checkout)}, []);`;
    const { code, output } = await node(['--input-type=module', '--eval', script], {
      ...environment(),
      SCHEMA_REGISTRY_PASSWORD: 'wrong',
      NAMESPACE: namespace,
      LEAD_SCORING_RUN_DIRECTORY: folder,
    });
    expect(code).toBe(1);
    expect(output).toMatch(/the schema registry refuses our credentials.*SCHEMA_REGISTRY_PASSWORD/);
    expect(output).not.toContain('Starting the services');
    await rm(folder, { recursive: true, force: true });
  }, 60_000);
});

function node(words: string[], environment: Environment): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, words, {
      cwd: checkout,
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (text: Buffer) => (output += text.toString()));
    child.once('close', (code) => {
      resolve({ code, output });
    });
  });
}
