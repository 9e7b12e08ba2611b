// `npm start`: servers, services, an organisation with its first token, and sample data to look at.
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '@lead-scoring/client';
import { startPlatform, type PlatformEndpoints } from '@lead-scoring/platform';
import { help, readOptions, type StartOptions } from './options.js';
import { sampleEvents, sampleLevels, sampleRulesets } from './sample-data.js';
import type { Servers } from './servers.js';
import { serviceEnvironment, readSettings, type StartSettings } from './settings.js';
import { Shutdown } from './shutdown.js';
import { StartFileWriter } from './start-file.js';
import { supervisorLog } from './supervisor-log.js';
import { startSystem, type RunningSystem } from './system.js';
import { CommandLineError, messageOf, say } from './terminal.js';

const sampleEventCount = 4_000;

/**
 * Runs until Ctrl-C, and then ends everything that it started.
 * @param root the checkout, its dependencies installed and its packages built
 * @param flags see `readOptions`
 * @param onRunning is called when all services are ready; its result is stopped before the services are
 */
export async function main(
  root: string,
  flags: readonly string[],
  onRunning?: (system: RunningSystem) => { stop(): Promise<void> },
): Promise<void> {
  const shutdown = new Shutdown();
  try {
    const options = readOptions(flags);
    if (options.help) {
      process.stdout.write(help);
      return;
    }
    shutdown.onSignals();
    const settings = await readSettings(root, process.env);
    await run({ root, settings, options, shutdown, onRunning });
  } catch (error) {
    // What is being ended fails: that is no news.
    if (shutdown.signal.aborted) return;
    process.stderr.write(`\n${messageOf(error)}\n`);
    await shutdown.run(error instanceof CommandLineError ? 64 : 1);
  }
}

interface Run {
  root: string;
  settings: StartSettings;
  options: StartOptions;
  shutdown: Shutdown;
  onRunning: ((system: RunningSystem) => { stop(): Promise<void> }) | undefined;
}

async function run({ root, settings, options, shutdown, onRunning }: Run): Promise<void> {
  const { directory, secrets, namespace, partitions, access } = settings;
  const logDirectory = join(directory, 'logs');
  const report = supervisorLog(join(logDirectory, 'supervisor.log'), say);
  const platform = await startServers(directory, shutdown, report);
  const servers: Servers = { endpoints: platform.endpoints, namespace, partitions, access };
  // Loaded while the servers start: it brings the clients of all three.
  const checks = import('./servers.js');
  if (platform.isForeign) await (await checks).checkAccess(servers);
  const startFile = new StartFileWriter(join(directory, 'start.json'), settings, platform.endpoints);
  const system = await startServices({ root, settings, logDirectory, platform, startFile, shutdown, report });
  await Promise.race([platform.up, system.refused]);
  await system.ready(120_000);
  const client = createClient({ baseUrl: system.gatewayUrl, token: secrets.bootstrapToken });
  const replication = checks.then(({ describeReplication }) => describeReplication(servers));
  replication.catch(() => undefined);
  startFile.identify(await firstUnit(client));
  if (options.sampleData) await seed(client);
  await startFile.write(system);
  say(await replication);
  greet(system.gatewayUrl, secrets.bootstrapToken, logDirectory);
  const follower = onRunning?.(system);
  if (follower) shutdown.add(() => follower.stop());
}

interface StartedPlatform {
  endpoints: PlatformEndpoints;
  /** Resolves when all servers answer. */
  up: Promise<unknown>;
  /** Whether a server is one that the environment names: it may refuse this system's credentials. */
  isForeign: boolean;
}

/**
 * Starts the servers. Resolves as soon as their addresses are known, so that the services start meanwhile; with servers that
 * the environment names, when all of them answer.
 */
async function startServers(
  dataDirectory: string,
  shutdown: Shutdown,
  report: (message: string) => void,
): Promise<StartedPlatform> {
  return new Promise((resolve, reject) => {
    const up = startPlatform({
      dataDirectory,
      environment: process.env,
      signal: shutdown.signal,
      onProgress: report,
      onAddresses: (endpoints, providers) => {
        const isForeign = Object.values(providers).includes('configured');
        const addressed = { endpoints, up, isForeign };
        if (isForeign) up.then(() => resolve(addressed), reject);
        else resolve(addressed);
      },
    });
    // Before the services are added, which are to stop first. A start that is given up ends what it has started itself.
    shutdown.add(async () => (await up.catch(() => undefined))?.stop());
    up.catch(reject);
  });
}

interface ServiceStart {
  root: string;
  settings: StartSettings;
  logDirectory: string;
  platform: StartedPlatform;
  startFile: StartFileWriter;
  shutdown: Shutdown;
  report: (message: string) => void;
}

async function startServices(start: ServiceStart): Promise<RunningSystem> {
  const { root, settings, logDirectory, platform, startFile, shutdown, report } = start;
  shutdown.signal.throwIfAborted();
  report('Starting the services …');
  const starting = startSystem({
    root,
    endpoints: platform.endpoints,
    namespace: settings.namespace,
    secrets: settings.secrets,
    logDirectory,
    organisation: { name: 'Example Organisation', unit: 'Main' },
    gatewayPort: settings.gatewayPort,
    instances: settings.instances,
    environment: serviceEnvironment(process.env),
    onChange: (changed) => void startFile.write(changed),
    onProgress: report,
  });
  shutdown.add(async () => (await starting.catch(() => undefined))?.stop());
  return starting;
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
      // The token is refused until the organisation exists, which a command creates after the gateway has started.
      if (Date.now() > deadline) throw error;
    }
    if (Date.now() > deadline)
      throw new Error('The first organisation was not created within 60 s; see gateway.log');
    await delay(200);
  }
}

/** Fills an empty store with sample data; a store with any event or ruleset stays as it is. */
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
