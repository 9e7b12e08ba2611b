// The second provider: containers of a Docker engine, as docker-compose.yml at the root of the repository
// declares them. Kept data: the compose command line and its volumes. Temporary data: Testcontainers, whose
// reaper clears everything away even if this process is killed.
import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { runCommand } from './commands.js';
import type { DataDirectory } from './data-directory.js';
import { serverTitles, type PlatformEndpoints, type ServerName, type StartedServers } from './endpoints.js';
import type { Progress } from './progress.js';
import { verifyKafka, verifyMongodb, verifySchemaRegistry } from './readiness.js';
import { waitUntil } from './waiting.js';

const COMPOSE_FILE = 'docker-compose.yml';
// The same path from src and from dist.
const REPOSITORY = fileURLToPath(new URL('../../..', import.meta.url));

/** The services of docker-compose.yml, and the variables for the host port that each listens on. */
const composeServices: Readonly<Record<ServerName, { service: string; portVariable: string }>> = {
  kafka: { service: 'kafka', portVariable: 'KAFKA_PORT' },
  schemaRegistry: { service: 'registry', portVariable: 'REGISTRY_PORT' },
  mongodb: { service: 'mongodb', portVariable: 'MONGODB_PORT' },
};

/**
 * Variables of docker-compose.yml about services that are not started here. Compose demands the required ones all the same, and a
 * password of an .env file would make MongoDB demand it of clients that do not have it.
 */
export const ignoredVariables = {
  INTERNAL_SECRET: 'unused',
  TOKEN_SECRET: 'unused',
  SEALING_SECRET: 'unused',
  BOOTSTRAP_TOKEN: 'unused',
  MONGODB_PASSWORD: '',
} as const;

const ENGINE_TIMEOUT_MS = 5_000;

/**
 * The reason why the engine at `DOCKER_HOST` cannot be used, or undefined. It must be on this machine, because the compose file
 * publishes its ports on the engine's machine.
 */
export function remoteEngineObstacle(dockerHost: string | undefined): string | undefined {
  if (dockerHost === undefined || dockerHost === '' || /^(unix|npipe):/.test(dockerHost)) {
    return undefined;
  }
  const host = URL.canParse(dockerHost) ? new URL(dockerHost).hostname : dockerHost;
  return ['localhost', '127.0.0.1', '[::1]'].includes(host)
    ? undefined
    : `the Docker engine at ${host} is on another machine`;
}

/**
 * Checks that the Docker engine answers; the docker command is often installed without a running engine.
 *
 * @returns why Docker cannot be used, or undefined when it can
 */
export async function dockerObstacle(environment: NodeJS.ProcessEnv): Promise<string | undefined> {
  const remote = remoteEngineObstacle(environment['DOCKER_HOST']);
  if (remote !== undefined) {
    return remote;
  }
  const answers = (args: string[]): Promise<boolean> =>
    runCommand('docker', args, { timeoutMs: ENGINE_TIMEOUT_MS }).then(
      () => true,
      () => false,
    );
  if (!(await answers(['version', '--format', '{{.Server.Version}}']))) {
    return 'no Docker engine answers';
  }
  return (await answers(['compose', 'version'])) ? undefined : 'the docker command has no "compose"';
}

/** The name of a data folder's compose project. Each folder has its own, so that two checkouts do not share containers. */
export function composeProject(directory: string): string {
  return `lead-scoring-${createHash('sha256').update(directory).digest('hex').slice(0, 12)}`;
}

export interface DockerOptions {
  servers: readonly ServerName[];
  directory: DataDirectory;
  progress: Progress;
  /** Called with the addresses once the containers run, before the servers answer. */
  announce: (part: Partial<PlatformEndpoints>) => void;
}

/**
 * Starts the requested servers as containers and waits until each is ready.
 *
 * @throws Error of the first server that failed; no container is left running then
 */
export async function startDocker(options: DockerOptions): Promise<StartedServers> {
  const { servers, directory, progress, announce } = options;
  const ports = await directory.ports(servers);
  const services = servers.map((server) => composeServices[server].service);
  const environment = {
    ...ignoredVariables,
    ...Object.fromEntries(
      servers.map((server) => [composeServices[server].portVariable, String(ports[server])]),
    ),
  };
  const up = directory.temporary ? upWithTestcontainers : upWithCompose;
  const title = servers.map((server) => serverTitles[server]).join(', ');
  const down = await progress.step(`Docker: starting ${title} (the first time, images are pulled)`, () =>
    up({ project: composeProject(directory.path), services, environment }),
  );
  const endpoints = endpointsOn(ports);
  announce(endpoints);
  try {
    await progress.step(`Docker: waiting for ${title}`, () => verify(endpoints));
  } catch (error) {
    await down();
    throw error;
  }
  return { brokers: [], processes: () => [], stop: down };
}

interface ComposeUp {
  project: string;
  services: string[];
  environment: Record<string, string>;
}

/** Resolves with a function that ends the containers and keeps their volumes. */
async function upWithCompose({ project, services, environment }: ComposeUp): Promise<() => Promise<void>> {
  const compose = (...args: string[]): Promise<string> =>
    runCommand('docker', ['compose', '--file', COMPOSE_FILE, '--project-name', project, ...args], {
      cwd: REPOSITORY,
      env: environment,
    });
  const down = async (): Promise<void> => {
    await compose('down');
  };
  try {
    // Takes over containers that a killed run left behind; those whose ports changed are recreated.
    await compose('up', '--detach', '--wait', ...services);
  } catch (error) {
    await down().catch(() => undefined);
    throw error;
  }
  return down;
}

/** Resolves with a function that ends the containers and removes their volumes. */
async function upWithTestcontainers({
  project,
  services,
  environment,
}: ComposeUp): Promise<() => Promise<void>> {
  // A large library: loaded only when it is needed.
  const { DockerComposeEnvironment, Wait } = await import('testcontainers');
  const started = await new DockerComposeEnvironment(REPOSITORY, COMPOSE_FILE)
    .withProjectName(project)
    .withEnvironment(environment)
    .withDefaultWaitStrategy(Wait.forHealthCheck())
    .withStartupTimeout(180_000)
    .up(services);
  return async () => {
    await started.down({ removeVolumes: true });
  };
}

function endpointsOn(ports: Partial<Record<ServerName, number>>): Partial<PlatformEndpoints> {
  const { kafka, schemaRegistry, mongodb } = ports;
  return {
    ...(kafka === undefined ? {} : { kafkaBrokers: [`127.0.0.1:${kafka}`] }),
    ...(schemaRegistry === undefined
      ? {}
      : { schemaRegistryUrl: `http://127.0.0.1:${schemaRegistry}/apis/ccompat/v7` }),
    ...(mongodb === undefined ? {} : { mongodbUri: `mongodb://127.0.0.1:${mongodb}/` }),
  };
}

async function verify({
  kafkaBrokers,
  schemaRegistryUrl,
  mongodbUri,
}: Partial<PlatformEndpoints>): Promise<void> {
  const ready = (name: ServerName, attempt: () => Promise<void>): Promise<void> =>
    waitUntil(attempt, { description: `${serverTitles[name]} did not become ready`, timeoutMs: 120_000 });
  await Promise.all([
    kafkaBrokers && ready('kafka', () => verifyKafka(kafkaBrokers)),
    schemaRegistryUrl !== undefined && ready('schemaRegistry', () => verifySchemaRegistry(schemaRegistryUrl)),
    mongodbUri !== undefined && ready('mongodb', () => verifyMongodb(mongodbUri)),
  ]);
}
