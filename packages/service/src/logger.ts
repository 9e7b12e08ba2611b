// Structured logs: one JSON object a line on standard output, with secrets replaced.
import { context, isSpanContextValid, trace } from '@opentelemetry/api';
import { pino, type DestinationStream, type Logger } from 'pino';

export type { Logger };

const secretFields = [
  'authorization',
  'Authorization',
  'cookie',
  'Cookie',
  '["set-cookie"]',
  '["x-internal-authorization"]',
  '["proxy-authorization"]',
  'password',
  'secret',
  'token',
  'client_secret',
  'signing_secret',
  'auth_header',
  'INTERNAL_SECRET',
  'TOKEN_SECRET',
  'TOKEN_SECRET_PREVIOUS',
  'TOKEN_SECRET_NEXT',
  'SEALING_SECRET',
  'SEALING_SECRET_PREVIOUS',
  'SEALING_SECRET_NEXT',
  'SLACK_BOT_TOKEN',
  'SMTP_URL',
  'BOOTSTRAP_TOKEN',
  'MONGODB_URI',
  'KAFKA_SASL_PASSWORD',
  'KAFKA_OAUTH_CLIENT_SECRET',
  'SCHEMA_REGISTRY_PASSWORD',
  'SCHEMA_REGISTRY_TOKEN',
];
const join = (parent: string, field: string) =>
  field.startsWith('[') ? `${parent}${field}` : `${parent}.${field}`;

export interface LoggerOptions {
  /** The service's name, on every line. */
  name: string;
  level?: string;
  /** Destination of the lines; default standard output. */
  destination?: DestinationStream;
}

/** A pino logger with the service's name and the current trace; secrets are replaced. */
export function createLogger({ name, level = 'info', destination }: LoggerOptions): Logger {
  const options = {
    name,
    level,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    mixin: currentTrace,
    redact: {
      paths: [
        ...secretFields,
        ...secretFields.map((field) => join('*', field)),
        ...secretFields.map((field) => join('*.*', field)),
      ],
      censor: '[redacted]',
    },
  };
  return destination ? pino(options, destination) : pino(options);
}

function currentTrace(): Record<string, string> {
  const span = trace.getSpanContext(context.active());
  return span && isSpanContextValid(span) ? { trace_id: span.traceId } : {};
}
