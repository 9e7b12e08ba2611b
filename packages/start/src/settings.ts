// Settings of `npm start`: the folder of its files, the gateway's port, access to the servers, and secrets.
import { randomBytes } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  readServerAccess,
  secretFrom,
  serverAccessEnvironment,
  type ServerAccess,
  type ServiceName,
} from '@lead-scoring/contracts';
import { freePort, isPortFree } from '@lead-scoring/platform';
import { writePrivate } from './private-file.js';
import { processesPerService } from './processes-per-service.js';
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
  await mkdir(directory, { recursive: true });
  return {
    directory,
    gatewayPort: await gatewayPort(environment.LEAD_SCORING_PORT),
    access: accessOf(environment),
    instances: processesPerService(environment),
    secrets: await secretsIn(join(directory, 'secrets.json')),
    namespace: environment.NAMESPACE ?? 'lead-scoring',
    partitions: Number(environment.PARTITIONS ?? 6),
  };
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
  // The file of an earlier version lacks the secrets that were added since.
  if (Object.keys(known).length < Object.keys(secrets).length) await writePrivate(file, secrets);
  return secrets;
}
