// `npm start`: servers, services, an organisation with its first token, and sample data to look at.
import { randomBytes } from 'node:crypto';
import { mkdir, open, readFile, rename } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createClient } from '@lead-scoring/client';
import {
  readServerAccess,
  secretFrom,
  serverAccessEnvironment,
  type ServerAccess,
} from '@lead-scoring/contracts';
import { freePort, startPlatform, type PlatformEndpoints } from '@lead-scoring/platform';
import { processesPerService } from './processes-per-service.js';
import { checkAccess, copiesOfTheLog, type Servers } from './servers.js';
import { sampleEvents, sampleLevels, sampleRulesets } from './sample-data.js';
import { startSystem, type RunningSystem, type SystemSecrets } from './system.js';

const defaultPort = 8080;
const sampleEventCount = 4_000;

/** What `.run/start.json` holds, for programs that use the running system. */
export interface StartFile {
  api_url: string;
  app_url: string;
  token: string;
  ou_id: string;
  kafka_brokers: string;
  schema_registry_url: string;
  mongodb_uri: string;
  namespace: string;
  partitions: number;
  /** Settings that let programs into the three servers; absent where none are needed. */
  access?: Record<string, string>;
  /** By the name of the process: the service's, or `scoring-0` where it has several. */
  services: Record<string, { url: string; pid: number | null }>;
}

/**
 * Runs until Ctrl-C. Whatever it started it ends.
 * @param root the checkout, its dependencies installed and its packages built
 * @param flags `--empty`: no sample data
 * @param onRunning is called when all is up; what it starts is stopped before the services are
 */
export async function main(
  root: string,
  flags: readonly string[],
  onRunning?: (system: RunningSystem) => { stop(): Promise<void> },
): Promise<void> {
  const unknown = flags.find((flag) => flag !== '--empty');
  if (unknown !== undefined) {
    fail(`Unknown option ${unknown}. The only one is --empty: start without sample data.`);
    return;
  }
  const stopping: (() => Promise<void>)[] = [];
  let stopped = false;
  const stop = async (code: number) => {
    if (stopped) return;
    stopped = true;
    say('Stopping …');
    for (const end of stopping.reverse())
      await end().catch((error: unknown) => {
        say(`While stopping: ${messageOf(error)}`);
      });
    process.exit(code);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void stop(0));
  try {
    const run = process.env.LEAD_SCORING_RUN_DIRECTORY ?? join(root, '.run');
    await mkdir(run, { recursive: true });
    const port = await gatewayPort(process.env.LEAD_SCORING_PORT);
    const access = accessOf(process.env);
    const instances = processesPerService(process.env);
    const secrets = await secretsIn(join(run, 'secrets.json'));
    const platform = await startPlatform({ dataDirectory: run, environment: process.env, onProgress: say });
    stopping.push(() => platform.stop());
    const namespace = process.env.NAMESPACE ?? 'lead-scoring';
    const servers: Servers = {
      endpoints: platform.endpoints,
      namespace,
      partitions: partitionsOf(process.env),
      access,
    };
    await checkAccess(servers);
    say('Starting the services …');
    let ouId: string | null = null;
    // One after the other: services that are restarted together all announce themselves.
    let announced: Promise<void> = Promise.resolve();
    const announce = (system: RunningSystem): Promise<void> => {
      announced = announced.then(async () => {
        if (ouId === null) return;
        const content = startFileOf(system, platform.endpoints, secrets, ouId, namespace);
        await writePrivate(join(run, 'start.json'), content).catch((error: unknown) => {
          say(`start.json could not be written: ${messageOf(error)}`);
        });
      });
      return announced;
    };
    const system = await startSystem({
      root,
      endpoints: platform.endpoints,
      namespace,
      secrets,
      logDirectory: join(run, 'logs'),
      organisation: { name: 'Example Organisation', unit: 'Main' },
      gatewayPort: port,
      instances,
      environment: passedOn(process.env),
      onChange: (changed) => void announce(changed),
      onProgress: say,
    });
    stopping.push(() => system.stop());
    await system.ready(120_000);
    const client = createClient({ baseUrl: system.gatewayUrl, token: secrets.bootstrapToken });
    ouId = await firstUnit(client);
    if (!flags.includes('--empty')) await seed(client);
    await announce(system);
    say(await copiesOfTheLog(servers));
    greet(system.gatewayUrl, secrets.bootstrapToken, join(run, 'logs'));
    const follower = onRunning?.(system);
    if (follower) stopping.push(() => follower.stop());
  } catch (error) {
    process.stderr.write(`\n${messageOf(error)}\n`);
    await stop(1);
  }
}

type Client = ReturnType<typeof createClient>;

async function firstUnit(client: Client): Promise<string> {
  const deadline = Date.now() + 60_000;
  for (;;) {
    try {
      const units = await client.call('listOrgUnits', {});
      const unit = units.data[0];
      if (unit) return unit.id;
    } catch (error) {
      // The token is known a moment after the gateway is up: its organisation is a command like any other.
      if (Date.now() > deadline) throw error;
    }
    if (Date.now() > deadline)
      throw new Error('The first organisation was not created within 60 s; see gateway.log');
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** Fills an empty store; one that holds anything is left alone. */
async function seed(client: Client): Promise<void> {
  const [events, rulesets] = [
    await client.call('listEvents', { query: { limit: 1 } }),
    await client.call('listRulesets', { query: { limit: 1 } }),
  ];
  if (events.total > 0 || rulesets.total > 0) return;
  say('Filling the empty store with sample data (npm start -- --empty leaves it empty) …');
  for (const { name, rules } of sampleRulesets) {
    const ruleset = await client.call('createRuleset', {
      body: { name, score_type: 'engagement', active: true },
    });
    for (const rule of rules) await client.call('createRule', { body: { ...rule, ruleset_id: ruleset.id } });
  }
  await client.call('setEngagementLevels', { body: { levels: [...sampleLevels] } });
  const result = await client.ingest(sampleEvents(sampleEventCount, Date.now()));
  await client.call('listLeads', {
    query: { limit: 1, ...(result.position !== undefined && { min_position: result.position }) },
  });
  say(`${String(result.accepted)} sample events scored`);
}

function greet(api: string, token: string, logs: string): void {
  process.stdout.write(`
  The API            ${api}
  Its documentation  ${api}/docs
  Your token         ${token}
  Logs               ${logs}

  Try:
    curl -s -H 'Authorization: Bearer ${token}' '${api}/leads?limit=3'
    curl -s -H 'Authorization: Bearer ${token}' -H 'Content-Type: application/json' -d '{"alias_kind":"email","alias":"you@example.com","event_type":"Page View","metadata":{"path":"/pricing"}}' ${api}/ingest
    LEAD=$(curl -s -H 'Authorization: Bearer ${token}' '${api}/leads?limit=1' | sed 's/.*"data":\\[{"id":"\\([^"]*\\).*/\\1/'); curl -s -H 'Authorization: Bearer ${token}' ${api}/lead/$LEAD/score-explain

  Ctrl-C stops everything; the data stays for the next start.
`);
}

/** LEAD_SCORING_PORT must be free when it is given; else 8080, or any free one when something else listens there. */
async function gatewayPort(wanted: string | undefined): Promise<number> {
  if (wanted === undefined || wanted === '') return (await isFree(defaultPort)) ? defaultPort : freePort();
  const port = Number(wanted);
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    throw new Error(`LEAD_SCORING_PORT is "${wanted}"; it must be a port number from 1 to 65535.`);
  if (!(await isFree(port)))
    throw new Error(
      `Port ${wanted} is in use. Stop what listens there, or set LEAD_SCORING_PORT to another port.`,
    );
  return port;
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => {
      resolve(false);
    });
    server.listen({ port, host: '127.0.0.1' }, () =>
      server.close(() => {
        resolve(true);
      }),
    );
  });
}

/** Settings of the services that may be given to `npm start`. */
function passedOn(environment: NodeJS.ProcessEnv): Record<string, string> {
  const names = [
    'LOG_LEVEL',
    'PARTITIONS',
    'REPLICATION_FACTOR',
    'SKIP_RECORDS',
    'APP_URL',
    'RATE_LIMIT_PER_MINUTE',
    'RATE_LIMIT_BURST',
    'ORGANISATION_RATE_LIMIT_PER_MINUTE',
    'ORGANISATION_RATE_LIMIT_BURST',
    'ALLOW_PRIVATE_TARGETS',
    'ALIASES_PER_OU',
    'SITE_ANALYSIS_CONTACT',
    'SLACK_BOT_TOKEN',
    'SMTP_URL',
    'MAIL_FROM',
    'RETRY_SCHEDULE_SECONDS',
    'OTEL_EXPORTER_OTLP_ENDPOINT',
  ];
  return {
    ...Object.fromEntries(
      names.flatMap((name) => (environment[name] === undefined ? [] : [[name, environment[name]]])),
    ),
    ...serverAccessEnvironment(environment),
  };
}

function partitionsOf({ PARTITIONS }: NodeJS.ProcessEnv): number {
  return Number(PARTITIONS ?? 6);
}

/** @throws Error where settings are wrong or do not go together */
function accessOf(environment: NodeJS.ProcessEnv): ServerAccess {
  const { access, problems } = readServerAccess(environment);
  if (problems.length > 0)
    throw new Error(problems.map(({ variable, message }) => `${variable} ${message}.`).join('\n'));
  return access;
}

async function secretsIn(file: string): Promise<SystemSecrets> {
  const text = await readFile(file, 'utf8').catch(() => null);
  const known = text === null ? {} : (JSON.parse(text) as Partial<SystemSecrets>);
  const secrets = {
    internalSecret: randomBytes(32).toString('base64url'),
    tokenSecret: randomBytes(32).toString('base64url'),
    sealingSecret: randomBytes(32).toString('base64url'),
    bootstrapToken: secretFrom('lsp_', randomBytes(32)),
    ...known,
  };
  // A file of before lacks the secrets that came later.
  if (Object.keys(known).length < Object.keys(secrets).length) await writePrivate(file, secrets);
  return secrets;
}

function startFileOf(
  system: RunningSystem,
  endpoints: PlatformEndpoints,
  secrets: SystemSecrets,
  ouId: string,
  namespace: string,
): StartFile {
  const access = serverAccessEnvironment(process.env);
  return {
    api_url: system.gatewayUrl,
    app_url: process.env.APP_URL ?? system.gatewayUrl,
    token: secrets.bootstrapToken,
    ou_id: ouId,
    kafka_brokers: endpoints.kafkaBrokers.join(','),
    schema_registry_url: endpoints.schemaRegistryUrl,
    mongodb_uri: endpoints.mongodbUri,
    namespace,
    partitions: partitionsOf(process.env),
    ...(Object.keys(access).length > 0 && { access }),
    services: Object.fromEntries(
      system.services.map((service) => [
        service.processName,
        { url: service.url, pid: service.process.pid ?? null },
      ]),
    ),
  };
}

/** Whole or not at all, and readable by its owner only. */
async function writePrivate(file: string, content: unknown): Promise<void> {
  const temporary = `${file}.${String(process.pid)}`;
  const handle = await open(temporary, 'w', 0o600);
  await handle.writeFile(`${JSON.stringify(content, null, 2)}\n`);
  await handle.sync();
  await handle.close();
  await rename(temporary, file);
}

function say(message: string): void {
  process.stdout.write(`${message}\n`);
}

function fail(message: string): void {
  process.stderr.write(`${message}\n`);
  process.exitCode = 64;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
