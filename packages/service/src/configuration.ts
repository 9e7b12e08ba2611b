// Configuration from environment variables, checked once at start-up and typed afterwards.
import { configurationExitCode, serverAccessProblems, serverAccessSettings } from '@lead-scoring/contracts';
import { z } from 'zod';

const list = (example: string) =>
  z
    .string()
    .transform((text) =>
      text
        .split(',')
        .map((item) => item.trim())
        .filter((item) => item !== ''),
    )
    .pipe(
      z
        .array(
          z.string().regex(/^[^\s/]+:\d{1,5}$/, `must be host:port, separated by commas, such as ${example}`),
        )
        .min(1, `must be host:port, separated by commas, such as ${example}`),
    );

const recordList =
  'must be up to 100 records as topic:partition:offset, separated by commas, such as scoring.events:3:1042';
const records = z
  .string()
  .max(10_000, recordList)
  .transform((text) => text.split(',').map((item) => item.trim()))
  .pipe(
    z
      .array(z.string().regex(/^[a-z-]{1,40}\.[a-z-]{1,40}:\d{1,5}:\d{1,19}$/, recordList))
      .max(100, recordList),
  );

const httpUrl = z
  .string()
  .refine(
    (text) => /^https?:\/\//.test(text) && URL.canParse(text),
    'must be a URL that starts with http:// or https://',
  );

const whole = (minimum: number, maximum: number) => {
  const range = `must be a whole number from ${String(minimum)} to ${String(maximum)}`;
  return z
    .string()
    .regex(/^\d{1,15}$/, range)
    .transform(Number)
    .pipe(z.int(range).min(minimum, range).max(maximum, range));
};

/** Schemas of common kinds of settings, for the services' own configurations. */
export const setting = {
  httpUrl,
  /** An address to which paths are appended: without a slash at its end. */
  baseUrl: httpUrl.transform((url) => url.replace(/(?<!\/)\/+$/, '')),
  /** A whole number written in digits. */
  whole,
  /** A list of host:port, separated by commas. */
  hosts: list,
  /** A secret of the deployment; never logged. */
  secret: z.string().min(32, 'must have at least 32 characters'),
  flag: z.enum(['true', 'false'], 'must be true or false').transform((text) => text === 'true'),
};

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/**
 * The settings of every service. A service extends them: `commonConfiguration.extend({ TOKEN_SECRET: setting.secret
 * })`. The description of each, and the message about a wrong value, are what docs/settings.md says of it.
 */
export const commonConfiguration = z.object({
  NAMESPACE: z
    .string()
    .regex(/^[a-z0-9-]{1,40}$/, 'must be 1 to 40 of a-z, 0-9 and -')
    .default('lead-scoring')
    .describe(
      'The prefix of topics, consumer groups, transactional ids, schema subjects and databases, so that several systems can share servers.',
    ),
  KAFKA_BROKERS: list('127.0.0.1:9092').describe('The Kafka brokers to connect to first.'),
  SCHEMA_REGISTRY_URL: httpUrl.describe('The schema registry, with an API like that of Confluent.'),
  MONGODB_URI: z
    .string()
    .regex(/^mongodb(\+srv)?:\/\/\S+$/, 'must be a URI that starts with mongodb:// or mongodb+srv://')
    .describe('MongoDB, with the user and the password where it demands them.'),
  PARTITIONS: whole(1, 1_000)
    .default(6)
    .describe(
      'The number of partitions of each topic: the largest number of processes that share the work of a service. The same for all services; fixed by the first start.',
    ),
  REPLICATION_FACTOR: whole(1, 9)
    .optional()
    .describe(
      'The copies of each record in Kafka. Without it: the number of brokers in KAFKA_BROKERS, at most three.',
    ),
  SKIP_RECORDS: records
    .optional()
    .describe(
      'Unreadable records of the log that an operator has decided to skip: docs/runbooks/stuck-partition.md.',
    ),
  PORT: whole(0, 65_535)
    .default(0)
    .describe('The port of the HTTP server; 0 is any free port, which the log and READY_FILE announce.'),
  HOST: z
    .string()
    .min(1, 'must be an address or a name of this machine')
    .max(255, 'must be an address or a name of this machine')
    .default('127.0.0.1')
    .describe('The address that the HTTP server listens at.'),
  LOG_LEVEL: z
    .enum(logLevels, `must be one of ${logLevels.join(', ')}`)
    .default('info')
    .describe('The least important messages that are logged.'),
  INTERNAL_SECRET: setting.secret.describe(
    'Requests of services to each other are signed with it. The same for all services.',
  ),
  SHUTDOWN_DELAY_MS: whole(0, 600_000)
    .default(0)
    .describe(
      'Milliseconds for which a process goes on answering after the signal that ends it, while /readyz says that it is not ready: as long as a load balancer takes to turn to other processes.',
    ),
  SHUTDOWN_TIMEOUT_MS: whole(100, 600_000)
    .default(10_000)
    .describe('Milliseconds from the end of SHUTDOWN_DELAY_MS to the hard exit of the process.'),
  READY_FILE: z
    .string()
    .min(1, 'must be the path of a file')
    .optional()
    .describe('A file with the port and the process id, written once the service listens.'),
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl
    .optional()
    .describe(
      'The collector that traces are sent to over OTLP/HTTP. Without it no trace is exported. Other variables of OpenTelemetry have effect as well.',
    ),
  ...serverAccessSettings,
});
export type CommonConfiguration = z.infer<typeof commonConfiguration>;

/**
 * Lists every wrong variable with its allowed values. The message never contains a value, because it may be a secret.
 */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
  readonly code = 'invalid_configuration';
  constructor(readonly problems: readonly { variable: string; message: string }[]) {
    super(
      `invalid configuration: ${problems.map(({ variable, message }) => `${variable} ${message}`).join('; ')}`,
    );
  }
}

/**
 * Parses the configuration. An empty variable counts as not set.
 * @throws ConfigurationError
 */
export function parseConfiguration<Schema extends z.ZodType>(
  schema: Schema,
  environment: Readonly<Record<string, string | undefined>>,
): z.infer<Schema> {
  const given = Object.fromEntries(
    Object.entries(environment).filter(([, value]) => value !== undefined && value !== ''),
  );
  const parsed = schema.safeParse(given);
  const apart = serverAccessProblems(given);
  if (parsed.success && apart.length === 0) return parsed.data;
  const issues = parsed.error?.issues ?? [];
  throw new ConfigurationError([
    ...issues.map((issue) => {
      const variable = issue.path.map(String)[0] ?? '(environment)';
      return { variable, message: variable in given ? issue.message : `is not set: ${issue.message}` };
    }),
    ...apart,
  ]);
}

/**
 * Like `parseConfiguration`, but prints the errors, one line a variable, and exits with 78. For the first lines of
 * main.ts.
 */
export function loadConfiguration<Schema extends z.ZodType>(
  schema: Schema,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): z.infer<Schema> {
  try {
    return parseConfiguration(schema, environment);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    for (const { variable, message } of error.problems)
      process.stderr.write(
        `${JSON.stringify({ level: 'fatal', msg: 'invalid configuration', variable, problem: message })}\n`,
      );
    process.exit(configurationExitCode);
  }
}
