// Credentials for Kafka, the schema registry and MongoDB: settings that every service, the command line and `npm start`
// share. docs/runbooks/access.md
import { z } from 'zod';

const file = z.string().min(1, 'must be the path of a file').max(4_096, 'must be the path of a file');
const name = z.string().min(1, 'must be 1 to 1,000 characters').max(1_000, 'must be 1 to 1,000 characters');
/** A value that must never be shown or logged. */
const secret = z
  .string()
  .min(1, 'must be 1 to 10,000 characters')
  .max(10_000, 'must be 1 to 10,000 characters');
const url = z
  .string()
  .refine(
    (text) => /^https?:\/\//.test(text) && URL.canParse(text),
    'must be a URL that starts with http:// or https://',
  );

export const saslMechanisms = ['plain', 'scram-sha-256', 'scram-sha-512', 'oauthbearer'] as const;

/** All settings are optional. Without any, connections are plain text and unauthenticated. */
export const serverAccessSettings = {
  KAFKA_TLS: z
    .enum(['true', 'false'], 'must be true or false')
    .transform((text) => text === 'true')
    .optional()
    .describe('Whether connections to Kafka use TLS.'),
  KAFKA_TLS_CA_FILE: file
    .optional()
    .describe(
      "The authorities of the brokers' certificates, as a PEM file. Without it: those that Node.js trusts.",
    ),
  KAFKA_TLS_CERTIFICATE_FILE: file
    .optional()
    .describe('The client certificate, as a PEM file, where the brokers require one.'),
  KAFKA_TLS_KEY_FILE: file.optional().describe('The key of the client certificate, as a PEM file.'),
  KAFKA_SASL_MECHANISM: z
    .string()
    .transform((text) => text.toLowerCase())
    .pipe(z.enum(saslMechanisms, `must be one of ${saslMechanisms.join(', ')}`))
    .optional()
    .describe('How the process logs in to Kafka. Without it, it does not.'),
  KAFKA_SASL_USERNAME: name.optional().describe('The user, for each mechanism but oauthbearer.'),
  KAFKA_SASL_PASSWORD: secret.optional().describe("The user's password."),
  KAFKA_OAUTH_TOKEN_URL: url
    .optional()
    .describe('For oauthbearer: the address that issues tokens by the client credentials grant.'),
  KAFKA_OAUTH_CLIENT_ID: name.optional().describe('For oauthbearer: the client.'),
  KAFKA_OAUTH_CLIENT_SECRET: secret.optional().describe("For oauthbearer: the client's secret."),
  KAFKA_OAUTH_SCOPE: name.optional().describe('For oauthbearer: the scope that is asked for.'),
  SCHEMA_REGISTRY_USERNAME: name.optional().describe('The user of the schema registry, for HTTP Basic.'),
  SCHEMA_REGISTRY_PASSWORD: secret.optional().describe("The user's password."),
  SCHEMA_REGISTRY_TOKEN: secret
    .optional()
    .describe('A bearer token for the schema registry, in place of a user and a password.'),
  SCHEMA_REGISTRY_CA_FILE: file
    .optional()
    .describe(
      "The authorities of the registry's certificate, as a PEM file. Without it: those that Node.js trusts.",
    ),
  MONGODB_CA_FILE: file
    .optional()
    .describe(
      "The authorities of MongoDB's certificate, as a PEM file; turns TLS on. User and password are in MONGODB_URI.",
    ),
  MONGODB_CERTIFICATE_KEY_FILE: file
    .optional()
    .describe(
      'The client certificate for MongoDB and its key in one PEM file, where the server requires one.',
    ),
} as const;

const shape = z.object(serverAccessSettings);

type Settings = z.output<typeof shape>;
export type ServerAccessVariable = keyof typeof serverAccessSettings;
/** The settings of one process that are set. */
export type ServerAccess = { readonly [Variable in ServerAccessVariable]?: Settings[Variable] | undefined };

export const serverAccessVariables = Object.keys(serverAccessSettings) as ServerAccessVariable[];

export interface SettingProblem {
  variable: string;
  message: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads the settings from the environment, or reports the problems. No message contains a value: one may be a secret.
 */
export function readServerAccess(environment: Environment): {
  access: ServerAccess;
  problems: SettingProblem[];
} {
  const given = Object.fromEntries(
    serverAccessVariables.flatMap((variable) => {
      const value = environment[variable];
      return value === undefined || value === '' ? [] : [[variable, value]];
    }),
  );
  const parsed = shape.safeParse(given);
  if (!parsed.success)
    return {
      access: {},
      problems: parsed.error.issues.map(({ path, message }) => ({ variable: String(path[0]), message })),
    };
  return { access: parsed.data, problems: serverAccessProblems(environment) };
}

/** Settings that require or exclude each other; each alone is valid. */
export function serverAccessProblems(environment: Environment): SettingProblem[] {
  const isSet = (variable: string) => (environment[variable] ?? '') !== '';
  const problems: SettingProblem[] = [];
  const needs = (variable: ServerAccessVariable, needed: string, isMet = isSet(needed)) => {
    if (isSet(variable) && !isMet) problems.push({ variable, message: `is set, and needs ${needed}` });
  };
  for (const variable of ['KAFKA_TLS_CA_FILE', 'KAFKA_TLS_CERTIFICATE_FILE', 'KAFKA_TLS_KEY_FILE'] as const)
    needs(variable, 'KAFKA_TLS=true', environment['KAFKA_TLS'] === 'true');
  needs('KAFKA_TLS_CERTIFICATE_FILE', 'KAFKA_TLS_KEY_FILE');
  needs('KAFKA_TLS_KEY_FILE', 'KAFKA_TLS_CERTIFICATE_FILE');
  const isOauth = environment['KAFKA_SASL_MECHANISM']?.toLowerCase() === 'oauthbearer';
  const forMechanism: readonly string[] = isOauth
    ? ['KAFKA_OAUTH_TOKEN_URL', 'KAFKA_OAUTH_CLIENT_ID', 'KAFKA_OAUTH_CLIENT_SECRET']
    : ['KAFKA_SASL_USERNAME', 'KAFKA_SASL_PASSWORD'];
  for (const needed of forMechanism) needs('KAFKA_SASL_MECHANISM', needed);
  for (const variable of ['KAFKA_SASL_USERNAME', 'KAFKA_SASL_PASSWORD'] as const)
    needs(variable, 'KAFKA_SASL_MECHANISM');
  needs('KAFKA_OAUTH_CLIENT_SECRET', 'KAFKA_SASL_MECHANISM=oauthbearer', isOauth);
  needs('SCHEMA_REGISTRY_USERNAME', 'SCHEMA_REGISTRY_PASSWORD');
  needs('SCHEMA_REGISTRY_PASSWORD', 'SCHEMA_REGISTRY_USERNAME');
  if (isSet('SCHEMA_REGISTRY_TOKEN') && isSet('SCHEMA_REGISTRY_USERNAME'))
    problems.push({
      variable: 'SCHEMA_REGISTRY_TOKEN',
      message: 'is set beside SCHEMA_REGISTRY_USERNAME: set one of the two',
    });
  return problems;
}

/** The variables that are set, to be passed to child processes. */
export function serverAccessEnvironment(environment: Environment): Record<string, string> {
  return Object.fromEntries(
    serverAccessVariables.flatMap((variable) => {
      const value = environment[variable];
      return value === undefined || value === '' ? [] : [[variable, value]];
    }),
  );
}
