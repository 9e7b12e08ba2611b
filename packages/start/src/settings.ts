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

/** The settings of services that `npm start` passes on. What is missing here it sets itself, or is one of access to servers. */
export const passedSettings = [
  'ALIASES_PER_OU',
  'ALLOW_PRIVATE_TARGETS',
  'ANSWER_IDLE_MS',
  'APP_URL',
  'CACHED_LEADS',
  'INTAKE_LEAST_BYTES',
  'INTAKE_MAXIMUM_BYTES',
  'LOG_LEVEL',
  'MAIL_FROM',
  'MAXIMUM_ANALYSES',
  'MAXIMUM_DELIVERIES',
  'NOTIFICATION_PORTS',
  'OIDC_ISSUERS',
  'ORGANISATION_RATE_LIMIT_BURST',
  'ORGANISATION_RATE_LIMIT_PER_MINUTE',
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
  'OTEL_LOG_LEVEL',
  'OTEL_PROPAGATORS',
  'OTEL_SDK_DISABLED',
  'PARTITIONS',
  'PAUSE_CHANNEL_AFTER_SECONDS',
  'PROBE_CHANNEL_SECONDS',
  'RATE_LIMIT_BURST',
  'RATE_LIMIT_PER_MINUTE',
  'REPLICATION_FACTOR',
  'REPLY_TIMEOUT_MS',
  'REQUESTS_IN_FLIGHT_PER_CREDENTIAL',
  'REQUESTS_IN_FLIGHT_PER_ORGANISATION',
  'RETRY_SCHEDULE_SECONDS',
  'SEALING_SECRET_NEXT',
  'SEALING_SECRET_PREVIOUS',
  'SHUTDOWN_DELAY_MS',
  'SHUTDOWN_TIMEOUT_MS',
  'SITE_ANALYSIS_CONTACT',
  'SITE_ANALYSIS_PORTS',
  'SKIP_RECORDS',
  'SLACK_API_URL',
  'SLACK_BOT_TOKEN',
  'SMTP_URL',
  'TOKEN_SECRET_NEXT',
  'TOKEN_SECRET_PREVIOUS',
  'TRUSTED_PROXIES',
  'WEBHOOKS_AT_ONCE',
  'WEBHOOKS_PER_SECOND',
] as const;

/** The environment variables of `npm start` that are settings of the services. */
export function serviceEnvironment(environment: NodeJS.ProcessEnv): Record<string, string> {
  return {
    ...Object.fromEntries(
      passedSettings.flatMap((name) => (environment[name] === undefined ? [] : [[name, environment[name]]])),
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
