// Settings of `npm start`: the folder of its files, the gateway's port, access to the servers, and secrets.
import { join } from 'node:path';
import {
  readServerAccess,
  serverAccessEnvironment,
  type ServerAccess,
  type ServiceName,
} from '@lead-scoring/contracts';
import { freePort, isPortFree } from '@lead-scoring/platform';
import { processesPerService } from './processes-per-service.js';
import { prepareRunDirectory } from './run-directory.js';
import { secretsIn } from './secrets-file.js';
import type { SystemSecrets } from './system.js';

const defaultPort = 8080;

export interface StartSettings {
  /** The folder of data, logs, secrets and `start.json`. */
  directory: string;
  gatewayPort: number;
  access: ServerAccess;
  /** Processes per service. */
  instances: Partial<Record<ServiceName, number>>;
  secrets: SystemSecrets;
  namespace: string;
  partitions: number;
}

/**
 * Reads the settings, and makes the folder and the secrets if they are missing.
 * @param root the checkout
 * @throws Error where a setting is wrong
 */
export async function readSettings(root: string, environment: NodeJS.ProcessEnv): Promise<StartSettings> {
  const directory = environment.LEAD_SCORING_RUN_DIRECTORY ?? join(root, '.run');
  refuseCopiesWithoutBrokers(environment);
  await prepareRunDirectory(directory);
  return {
    directory,
    gatewayPort: await gatewayPort(environment.LEAD_SCORING_PORT),
    access: accessOf(environment),
    instances: processesPerService(environment),
    secrets: await secretsIn(join(directory, 'secrets.json')),
    namespace: environment.NAMESPACE ?? 'lead-scoring',
    partitions: partitionsOf(environment.PARTITIONS),
  };
}

const mostPartitions = 1_000;

function partitionsOf(wanted: string | undefined): number {
  if (wanted === undefined || wanted === '') return 6;
  const partitions = Number(wanted);
  if (!Number.isInteger(partitions) || partitions < 1 || partitions > mostPartitions)
    throw new Error(
      `PARTITIONS is "${wanted}"; it must be a whole number from 1 to ${String(mostPartitions)}.`,
    );
  return partitions;
}

/** @throws Error when more copies are wanted than the one broker of `npm start` can hold */
function refuseCopiesWithoutBrokers({ KAFKA_BROKERS, REPLICATION_FACTOR = '' }: NodeJS.ProcessEnv): void {
  if ((KAFKA_BROKERS ?? '') !== '' || ['', '1'].includes(REPLICATION_FACTOR)) return;
  throw new Error(
    `REPLICATION_FACTOR is "${REPLICATION_FACTOR}", and \`npm start\` runs one broker: unset it, or name a cluster of your own in KAFKA_BROKERS.`,
  );
}

/** LEAD_SCORING_PORT, which must be free; unset: 8080, or any free port when that is in use. */
async function gatewayPort(wanted: string | undefined): Promise<number> {
  if (wanted === undefined || wanted === '')
    return (await isPortFree(defaultPort)) ? defaultPort : freePort();
  const port = Number(wanted);
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    throw new Error(`LEAD_SCORING_PORT is "${wanted}"; it must be a port number from 1 to 65535.`);
  if (!(await isPortFree(port)))
    throw new Error(
      `Port ${wanted} is in use. Stop what listens there, or set LEAD_SCORING_PORT to another port.`,
    );
  return port;
}

/** The environment variables of `npm start` that are settings of the services. */
export function serviceEnvironment(environment: NodeJS.ProcessEnv): Record<string, string> {
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

/** @throws Error where settings are wrong or contradict each other */
function accessOf(environment: NodeJS.ProcessEnv): ServerAccess {
  const { access, problems } = readServerAccess(environment);
  if (problems.length > 0)
    throw new Error(problems.map(({ variable, message }) => `${variable} ${message}.`).join('\n'));
  return access;
}
