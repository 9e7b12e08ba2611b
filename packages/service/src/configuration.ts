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
    .pipe(z.array(z.string().regex(/^[^\s/]+:\d{1,5}$/, `must be host:port, such as ${example}`)).min(1));

const records = z
  .string()
  .max(10_000)
  .transform((text) => text.split(',').map((item) => item.trim()))
  .pipe(
    z
      .array(
        z
          .string()
          .regex(
            /^[a-z-]{1,40}\.[a-z-]{1,40}:\d{1,5}:\d{1,19}$/,
            'must be topic:partition:offset, such as scoring.events:3:1042',
          ),
      )
      .max(100),
  );

const httpUrl = z
  .string()
  .refine(
    (text) => /^https?:\/\//.test(text) && URL.canParse(text),
    'must be a URL that starts with http:// or https://',
  );

const whole = (minimum: number, maximum: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/, `must be a whole number from ${String(minimum)} to ${String(maximum)}`)
    .transform(Number)
    .pipe(z.int().min(minimum).max(maximum));

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
  flag: z.enum(['true', 'false']).transform((text) => text === 'true'),
};

/**
 * The settings of every service. A service extends them: `commonConfiguration.extend({ TOKEN_SECRET: setting.secret
 * })`.
 */
export const commonConfiguration = z.object({
  /** Prefix of topics, groups, transactional ids, subjects and databases, so that several systems can share servers. */
  NAMESPACE: z
    .string()
    .regex(/^[a-z0-9-]{1,40}$/, 'must be 1 to 40 of a-z, 0-9 and -')
    .default('lead-scoring'),
  KAFKA_BROKERS: list('127.0.0.1:9092'),
  SCHEMA_REGISTRY_URL: httpUrl,
  MONGODB_URI: z
    .string()
    .regex(/^mongodb(\+srv)?:\/\/\S+$/, 'must be a URI that starts with mongodb:// or mongodb+srv://'),
  PARTITIONS: whole(1, 1_000).default(6),
  /** Copies of each record in Kafka. Default: the number of brokers, at most three. */
  REPLICATION_FACTOR: whole(1, 9).optional(),
  /**
   * Unreadable records of the log that an operator has decided to skip, as topic:partition:offset, separated by commas.
   */
  SKIP_RECORDS: records.optional(),
  /** 0: any free port. The log and the ready file announce it. */
  PORT: whole(0, 65_535).default(0),
  HOST: z.string().min(1).max(255).default('127.0.0.1'),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  INTERNAL_SECRET: setting.secret,
  /** Milliseconds from the signal to the hard exit. */
  SHUTDOWN_TIMEOUT_MS: whole(100, 600_000).default(10_000),
  /** File that is written once the service listens: {"port", "pid"}. */
  READY_FILE: z.string().min(1).optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl.optional(),
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
