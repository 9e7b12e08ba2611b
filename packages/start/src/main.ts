// `npm start`: servers, services, an organisation with its first token, and sample data to look at.
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '@lead-scoring/client';
import { startPlatform, type PlatformEndpoints, type RunningPlatform } from '@lead-scoring/platform';
import { sampleEvents, sampleLevels, sampleRulesets } from './sample-data.js';
import type { Servers } from './servers.js';
import { serviceEnvironment, readSettings } from './settings.js';
import { StartFileWriter } from './start-file.js';
import { startSystem, type RunningSystem } from './system.js';
import { messageOf, say } from './terminal.js';

const sampleEventCount = 4_000;

/**
 * Runs until Ctrl-C, and then ends everything that it started.
 * @param root the checkout, its dependencies installed and its packages built
 * @param flags `--empty`: no sample data
 * @param onRunning is called when all services are ready; its result is stopped before the services are
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
  const shutdown = new Shutdown();
  shutdown.onSignals();
  try {
    const settings = await readSettings(root, process.env);
    const { directory, secrets, namespace, partitions, access } = settings;
    const platform = await startServers(directory, shutdown);
    const servers: Servers = { endpoints: platform.endpoints, namespace, partitions, access };
    // Loaded while the servers start: it brings the clients of all three.
    const checks = import('./servers.js');
    if (platform.isForeign) await (await checks).checkAccess(servers);
    say('Starting the services …');
    const startFile = new StartFileWriter(join(directory, 'start.json'), settings, platform.endpoints);
    const logDirectory = join(directory, 'logs');
    const system = await startSystem({
      root,
      endpoints: platform.endpoints,
      namespace,
      secrets,
      logDirectory,
      organisation: { name: 'Example Organisation', unit: 'Main' },
      gatewayPort: settings.gatewayPort,
      instances: settings.instances,
      environment: serviceEnvironment(process.env),
      onChange: (changed) => void startFile.write(changed),
      onProgress: say,
    });
    shutdown.add(() => system.stop());
    await platform.up;
    await system.ready(120_000);
    const client = createClient({ baseUrl: system.gatewayUrl, token: secrets.bootstrapToken });
    const replication = checks.then(({ describeReplication }) => describeReplication(servers));
    replication.catch(() => undefined);
    startFile.identify(await firstUnit(client));
    if (!flags.includes('--empty')) await seed(client);
    await startFile.write(system);
    say(await replication);
    greet(system.gatewayUrl, secrets.bootstrapToken, logDirectory);
    const follower = onRunning?.(system);
    if (follower) shutdown.add(() => follower.stop());
  } catch (error) {
    process.stderr.write(`\n${messageOf(error)}\n`);
    await shutdown.run(1);
  }
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
async function startServers(dataDirectory: string, shutdown: Shutdown): Promise<StartedPlatform> {
  let running: RunningPlatform | undefined;
  // Before the services are added, which are to stop first. While servers still start, their guardian stops them.
  shutdown.add(async () => running?.stop());
  return new Promise((resolve, reject) => {
    const up = startPlatform({
      dataDirectory,
      environment: process.env,
      onProgress: say,
      onAddresses: (endpoints, providers) => {
        const isForeign = Object.values(providers).includes('configured');
        const addressed = { endpoints, up, isForeign };
        if (isForeign) up.then(() => resolve(addressed), reject);
        else resolve(addressed);
      },
    });
    up.then((platform) => (running = platform), reject);
  });
}

/** Runs the registered functions, the last first, and then ends this process. */
class Shutdown {
  readonly #ends: (() => Promise<void>)[] = [];
  #isRunning = false;

  add(end: () => Promise<void>): void {
    this.#ends.push(end);
  }

  onSignals(): void {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void this.run(0));
  }

  async run(exitCode: number): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    say('Stopping …');
    for (const end of this.#ends.reverse())
      await end().catch((error: unknown) => {
        say(`While stopping: ${messageOf(error)}`);
      });
    process.exit(exitCode);
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

function fail(message: string): void {
  process.stderr.write(`${message}\n`);
  process.exitCode = 64;
}
