// The settings of a command: from flags, then the environment, then .run/start.json, which `npm start` writes.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readServerAccess, type ServerAccess } from '@lead-scoring/contracts';
import { z } from 'zod';
import { CommandFailed, exitCodes } from './errors.js';

const startFile = z.object({
  api_url: z.string(),
  token: z.string().optional(),
  ou_id: z.string().optional(),
  kafka_brokers: z.string().optional(),
  schema_registry_url: z.string().optional(),
  mongodb_uri: z.string().optional(),
  namespace: z.string().optional(),
  partitions: z.int().optional(),
  access: z.record(z.string(), z.string()).optional(),
  services: z.record(z.string(), z.object({ url: z.string(), pid: z.int() })).optional(),
});

/** Settings without which stored data cannot be read or calls be answered as before. */
const savedSecrets = [
  'TOKEN_SECRET',
  'TOKEN_SECRET_PREVIOUS',
  'TOKEN_SECRET_NEXT',
  'SEALING_SECRET',
  'SEALING_SECRET_PREVIOUS',
  'SEALING_SECRET_NEXT',
  'INTERNAL_SECRET',
  'BOOTSTRAP_TOKEN',
] as const;

export interface Settings {
  apiUrl: string;
  token: string | undefined;
  ouId: string | undefined;
  /** The origin of `ouId`: the flag, the variable or the file. */
  ouIdFrom: string | undefined;
  kafkaBrokers: string[] | undefined;
  schemaRegistryUrl: string | undefined;
  mongodbUri: string | undefined;
  /** Credentials for these servers. */
  access: ServerAccess;
  namespace: string;
  partitions: number;
  /** Processes of `npm start` by their names: `scoring`, or `scoring-0` when a service has several. */
  services: Record<string, { url: string; pid: number }>;
  /** The secrets of the services that the environment has. */
  secrets: Record<string, string>;
  /** Path of the start file, when settings came from it; else null. */
  startFile: string | null;
}

export interface GlobalFlags {
  url?: string;
  token?: string;
  ou?: string;
  json?: boolean;
}

/** Reads the settings, without any request to a server. */
export function settingsOf(
  flags: GlobalFlags,
  environment: NodeJS.ProcessEnv,
  { directory, checkout }: { directory: string; checkout?: string | undefined },
): Settings {
  const found =
    startFileIn(environment.LEAD_SCORING_RUN_DIRECTORY) ??
    startFileAbove(directory) ??
    startFileOf(checkout, flags, environment);
  const start = found?.content;
  const apiUrl = flags.url ?? environment.LEAD_SCORING_URL ?? start?.api_url ?? 'http://127.0.0.1:8080';
  // The file's token belongs to the file's system, and must not be sent to another one.
  const sameSystem = start !== undefined && apiUrl === start.api_url;
  return {
    apiUrl,
    token: flags.token ?? environment.LEAD_SCORING_TOKEN ?? (sameSystem ? start.token : undefined),
    ...orgUnitOf(flags, environment, sameSystem ? found : null),
    kafkaBrokers: (environment.KAFKA_BROKERS ?? start?.kafka_brokers)
      ?.split(',')
      .map((broker) => broker.trim()),
    schemaRegistryUrl: environment.SCHEMA_REGISTRY_URL ?? start?.schema_registry_url,
    mongodbUri: environment.MONGODB_URI ?? start?.mongodb_uri,
    access: accessOf({ ...start?.access, ...environment }),
    namespace: environment.NAMESPACE ?? start?.namespace ?? 'lead-scoring',
    partitions: Number(environment.PARTITIONS ?? start?.partitions ?? 6),
    services: start?.services ?? {},
    secrets: Object.fromEntries(
      savedSecrets.flatMap((name) => {
        const value = environment[name];
        return value === undefined || value === '' ? [] : [[name, value]];
      }),
    ),
    startFile: found?.file ?? null,
  };
}

function orgUnitOf(
  flags: GlobalFlags,
  environment: NodeJS.ProcessEnv,
  found: StartFile | null,
): Pick<Settings, 'ouId' | 'ouIdFrom'> {
  if (flags.ou !== undefined) return { ouId: flags.ou, ouIdFrom: '--ou' };
  if (environment.LEAD_SCORING_OU !== undefined)
    return { ouId: environment.LEAD_SCORING_OU, ouIdFrom: 'LEAD_SCORING_OU' };
  if (found?.content.ou_id !== undefined) return { ouId: found.content.ou_id, ouIdFrom: found.file };
  return { ouId: undefined, ouIdFrom: undefined };
}

interface StartFile {
  file: string;
  content: z.infer<typeof startFile>;
}

/** @throws CommandFailed when settings are invalid or contradict each other */
function accessOf(environment: Readonly<Record<string, string | undefined>>): ServerAccess {
  const { access, problems } = readServerAccess(environment);
  if (problems.length > 0)
    throw new CommandFailed(
      problems.map(({ variable, message }) => `${variable} ${message}.`).join('\n'),
      exitCodes.usage,
    );
  return access;
}

/**
 * The start file of this directory or of the nearest one above, because commands may run in any directory of a
 * checkout.
 */
function startFileAbove(directory: string): StartFile | null {
  for (let at = directory; ; at = dirname(at)) {
    const found = startFileIn(join(at, '.run'));
    if (found !== null || dirname(at) === at) return found;
  }
}

/**
 * The start file of the program's own checkout, for commands in other folders. Not where a flag or the environment names a system: its
 * settings must not be mixed with those of another.
 */
function startFileOf(
  checkout: string | undefined,
  { url }: GlobalFlags,
  { LEAD_SCORING_URL, KAFKA_BROKERS, MONGODB_URI }: NodeJS.ProcessEnv,
): StartFile | null {
  const names = [url, LEAD_SCORING_URL, KAFKA_BROKERS, MONGODB_URI];
  if (checkout === undefined || names.some((name) => name !== undefined)) return null;
  return startFileIn(join(checkout, '.run'));
}

/** The start file in a folder like `.run`; null where there is none. */
function startFileIn(folder: string | undefined): StartFile | null {
  if (folder === undefined || folder === '') return null;
  const file = join(folder, 'start.json');
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return null;
  }
  try {
    return { file, content: startFile.parse(JSON.parse(text)) };
  } catch (error) {
    throw new CommandFailed(`${file} is damaged: delete it and run \`npm start\` again.`, exitCodes.data, {
      cause: error,
    });
  }
}
