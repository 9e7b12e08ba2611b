// How the servers underneath let the system in: settings of every service, the command line and `npm start`, the same
// everywhere. docs/runbooks/access.md
import { z } from 'zod';

const file = z.string().min(1).max(4_096);
const name = z.string().min(1).max(1_000);
/** Something that must never be shown or logged. */
const secret = z.string().min(1).max(10_000);
const url = z
  .string()
  .refine(
    (text) => /^https?:\/\//.test(text) && URL.canParse(text),
    'must be a URL that starts with http:// or https://',
  );

export const saslMechanisms = ['plain', 'scram-sha-256', 'scram-sha-512', 'oauthbearer'] as const;

/** All are optional; without any, servers are spoken to in plain text and without a name. */
export const serverAccessSettings = {
  /** Kafka over TLS. */
  KAFKA_TLS: z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .optional(),
  /** PEM file of the authorities that the brokers' certificates are checked against; default: those that Node.js knows. */
  KAFKA_TLS_CA_FILE: file.optional(),
  /** PEM files of the certificate that the brokers know us by, and of its key, where they ask for one. */
  KAFKA_TLS_CERTIFICATE_FILE: file.optional(),
  KAFKA_TLS_KEY_FILE: file.optional(),
  KAFKA_SASL_MECHANISM: z
    .string()
    .transform((text) => text.toLowerCase())
    .pipe(z.enum(saslMechanisms, `must be one of ${saslMechanisms.join(', ')}`))
    .optional(),
  KAFKA_SASL_USERNAME: name.optional(),
  KAFKA_SASL_PASSWORD: secret.optional(),
  /** oauthbearer: where tokens are got by the client credentials grant. */
  KAFKA_OAUTH_TOKEN_URL: url.optional(),
  KAFKA_OAUTH_CLIENT_ID: name.optional(),
  KAFKA_OAUTH_CLIENT_SECRET: secret.optional(),
  KAFKA_OAUTH_SCOPE: name.optional(),
  /** HTTP Basic; or a bearer token in its place. */
  SCHEMA_REGISTRY_USERNAME: name.optional(),
  SCHEMA_REGISTRY_PASSWORD: secret.optional(),
  SCHEMA_REGISTRY_TOKEN: secret.optional(),
  SCHEMA_REGISTRY_CA_FILE: file.optional(),
  /** Turns TLS on for MongoDB. User and password are in MONGODB_URI. */
  MONGODB_CA_FILE: file.optional(),
  /** PEM file with the certificate that MongoDB knows us by, and its key. */
  MONGODB_CERTIFICATE_KEY_FILE: file.optional(),
} as const;

const shape = z.object(serverAccessSettings);

type Settings = z.output<typeof shape>;
export type ServerAccessVariable = keyof typeof serverAccessSettings;
/** What a process was told of how servers let it in. */
export type ServerAccess = { readonly [Variable in ServerAccessVariable]?: Settings[Variable] | undefined };

export const serverAccessVariables = Object.keys(serverAccessSettings) as ServerAccessVariable[];

export interface SettingProblem {
  variable: string;
  message: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** What the environment says, or what is wrong with it. No message holds a value: one may be a secret. */
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

/** Settings that need or exclude each other; each alone is as it should be. */
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

/** The variables that are set, for processes that a process starts. */
export function serverAccessEnvironment(environment: Environment): Record<string, string> {
  return Object.fromEntries(
    serverAccessVariables.flatMap((variable) => {
      const value = environment[variable];
      return value === undefined || value === '' ? [] : [[variable, value]];
    }),
  );
}
