// `lead-scoring tail`, and what other commands need that operate on the log itself.
import { reasonOf, serviceNames, topics, type ServiceName } from '@lead-scoring/contracts';
import {
  createEventLog,
  listLag,
  tail as tailTopic,
  type EventLog,
  type TailedRecord,
} from '@lead-scoring/event-log';
import { pino } from 'pino';
import { CommandFailed, exitCodes } from './errors.js';
import { plain, type Output } from './output.js';
import type { Settings } from './settings.js';

/** Opens the log, passes it to `use`, and closes it again. */
export async function withEventLog<Result>(
  settings: Settings,
  use: (log: EventLog) => Promise<Result>,
): Promise<Result> {
  const { kafkaBrokers, schemaRegistryUrl } = settings;
  if (!kafkaBrokers || schemaRegistryUrl === undefined)
    throw new CommandFailed(
      'This command needs Kafka and the schema registry, whose addresses are not set. Run it in a checkout with `npm start` running, or set KAFKA_BROKERS and SCHEMA_REGISTRY_URL (and NAMESPACE).',
      exitCodes.usage,
    );
  const log = createEventLog(
    {
      brokers: kafkaBrokers,
      schemaRegistryUrl,
      namespace: settings.namespace,
      clientId: 'lead-scoring-cli',
      partitions: settings.partitions,
      access: settings.access,
    },
    { logger: pino({ level: 'silent' }) },
  );
  try {
    return await use(log);
  } catch (error) {
    if (isOfConnection(error))
      throw new CommandFailed(
        `No Kafka broker can be connected to at ${kafkaBrokers.join(', ')} (${reasonOf(error)}).\nIs it running? \`lead-scoring doctor\` shows the state of the servers.`,
        exitCodes.unavailable,
        { cause: error },
      );
    if (!isOfMissingTopic(error)) throw error;
    throw new CommandFailed(
      `Kafka has no topics of the namespace "${settings.namespace}". Is NAMESPACE right, and has the system ever run?`,
      exitCodes.data,
      { cause: error },
    );
  } finally {
    await log.close();
  }
}

/** Whether kafkajs has failed to connect, or was asked before it was connected; its errors do not name the address. */
function isOfConnection(error: unknown): boolean {
  return (
    error instanceof Error &&
    (/^Broker not connected$/.test(error.message) || /^KafkaJSConnection/.test(error.name))
  );
}

function isOfMissingTopic(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ('type' in error && error.type === 'UNKNOWN_TOPIC_OR_PARTITION') || isOfMissingTopic(error.cause);
}

export interface TailFlags {
  fromBeginning?: boolean;
  follow?: boolean;
  json?: boolean;
}

/** @returns the exit code */
export async function tail(
  name: string,
  flags: TailFlags,
  settings: Settings,
  output: Output,
): Promise<number> {
  const topic = topics.find((one) => one.name === name);
  if (!topic)
    throw new CommandFailed(
      `There is no topic ${name}. The topics are: ${topics.map((one) => one.name).join(', ')}.`,
      exitCodes.usage,
    );
  const stop = new AbortController();
  const interrupt = () => {
    stop.abort();
  };
  process.once('SIGINT', interrupt);
  try {
    await withEventLog(settings, async (log) => {
      const records = tailTopic(log, topic.name, {
        from: flags.fromBeginning === true ? 'beginning' : 'end',
        follow: flags.follow !== false,
        signal: stop.signal,
      });
      for await (const record of records)
        output.write(`${flags.json === true ? recordJson(record) : recordLine(record)}\n`);
    });
  } finally {
    process.off('SIGINT', interrupt);
  }
  return exitCodes.done;
}

function recordJson(record: TailedRecord): string {
  return JSON.stringify({ ...record, offset: Number(record.offset) });
}

function recordLine(record: TailedRecord): string {
  const what =
    record.error === undefined ? JSON.stringify(record.payload) : `cannot be decoded: ${record.error}`;
  return plain(
    `${record.headers.time} ${record.partition}:${record.offset} ${record.type} ${record.key ?? '-'} ${what}`,
  );
}

/** @throws CommandFailed when the service has never read in this namespace, which is then probably mistyped: writing would create it */
export async function ensureUsed(log: EventLog, service: ServiceName): Promise<void> {
  if ((await listLag(log, service)).length > 0) return;
  throw new CommandFailed(
    `${service} has read nothing yet in the namespace "${log.config.namespace}". Is NAMESPACE right, and has the system ever run?`,
    exitCodes.data,
  );
}

/** The service that an argument names. */
export function serviceNamed(name: string): ServiceName {
  const service = serviceNames.find((one) => one === name);
  if (service) return service;
  throw new CommandFailed(
    `There is no service ${name}. The services are: ${serviceNames.join(', ')}.`,
    exitCodes.usage,
  );
}
