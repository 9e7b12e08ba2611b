// `lead-scoring tail` and `dead-letters`: operations on the log itself.
import { reasonOf, serviceNames, topics, type ServiceName } from '@lead-scoring/contracts';
import {
  awaitOutcomes,
  createEventLog,
  listDeadLetters,
  listLag,
  retryDeadLetters,
  tail as tailTopic,
  type DeadLetter,
  type EventLog,
  type TailedRecord,
} from '@lead-scoring/event-log';
import { pino } from 'pino';
import { CommandFailed, exitCodes } from './errors.js';
import { wholeNumber } from './ingest-command.js';
import { plain, table, type Output } from './output.js';
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

/** @returns the exit code */
export async function showDeadLetters(
  service: ServiceName,
  flags: { json?: boolean },
  settings: Settings,
  output: Output,
): Promise<number> {
  const letters: DeadLetter[] = [];
  await withEventLog(settings, async (log) => {
    for await (const letter of listDeadLetters(log, service)) letters.push(letter);
  });
  if (flags.json === true) output.write(`${JSON.stringify(letters.map(asJson), null, 2)}\n`);
  else if (letters.length === 0) output.write(`${service} has no dead letters.\n`);
  else {
    output.write(
      `${table(letters, [
        { title: 'ID', value: ({ id }) => id },
        { title: 'TIME', value: ({ time }) => time },
        { title: 'TYPE', value: ({ type }) => type ?? '?' },
        { title: 'FROM', value: ({ origin }) => `${origin.topic} ${origin.partition}:${origin.offset}` },
        { title: 'TRIES', value: ({ attempts }) => attempts, align: 'right' },
        { title: 'RETRIED', value: retriedWord },
        { title: 'REASON', value: ({ reason }) => reason, maximum: 100 },
      ])}\n`,
    );
    if (letters.some(({ retried, source }) => !retried && source === undefined))
      output.note(`Send them again with: lead-scoring dead-letters retry ${service}\n`);
    for (const source of new Set(letters.flatMap((letter) => letter.source ?? [])))
      output.note(
        `Records of the source ${plain(source)} are not sent again. Correct its mapping, and let it read its topic again: what was taken before counts once (docs/sources.md, "When a record cannot be taken").\n`,
      );
  }
  return exitCodes.done;
}

/** @returns the exit code */
export async function retryLetters(
  service: ServiceName,
  ids: string[],
  flags: { json?: boolean; again?: boolean; wait?: string },
  settings: Settings,
  output: Output,
): Promise<number> {
  const wrong = ids.find((id) => !/^\d+:\d+$/.test(id));
  if (wrong !== undefined)
    throw new CommandFailed(
      `"${wrong}" is not the id of a dead letter. Ids look like 3:17; \`dead-letters list\` shows them.`,
      exitCodes.usage,
    );
  const seconds = wholeNumber('--wait', flags.wait ?? '30', 0, 86_400);
  const retried = await withEventLog(settings, async (log) => {
    await ensureUsed(log, service);
    await log.prepare();
    const which = { ...(ids.length > 0 && { ids }), again: flags.again === true };
    const sent = await retryDeadLetters(log, service, which);
    return awaitOutcomes(log, service, sent.retried, { timeoutMs: seconds * 1_000 });
  });
  if (flags.json === true) output.write(`${JSON.stringify(retried.map(asJson), null, 2)}\n`);
  else writeOutcomes(service, retried, { seconds, output });
  const missing = ids.filter((id) => !retried.some((letter) => letter.id === id));
  const isDone = retried.every(({ outcome }) => outcome !== null && outcome !== 'parked');
  if (missing.length === 0) return isDone ? exitCodes.done : exitCodes.incomplete;
  output.note(
    `Not sent: ${missing.join(', ')} (unknown, of a source, or sent before; --again sends the last).\n`,
  );
  return exitCodes.incomplete;
}

const outcomeWords = {
  effect: 'took effect',
  none: 'without effect',
  refused: 'refused',
  parked: 'parked again',
} as const;

function retriedWord({ retried, outcome }: DeadLetter): string {
  if (!retried) return 'no';
  return outcome === null ? 'not decided' : outcomeWords[outcome];
}

/** Names the dead letters that had no effect, were refused or became dead letters again. */
function writeOutcomes(
  service: ServiceName,
  letters: readonly DeadLetter[],
  { seconds, output }: { seconds: number; output: Output },
): void {
  const counts = new Map<string, number>();
  for (const letter of letters) counts.set(retriedWord(letter), (counts.get(retriedWord(letter)) ?? 0) + 1);
  const counted = [...counts].map(([word, count]) => `${count} ${word}`).join(', ');
  output.write(`${letters.length} sent again${counted === '' ? '' : `: ${counted}`}.\n`);
  for (const { id, type, outcome, refusal = '' } of letters) {
    const name = `${id} ${plain(type ?? '?')}`;
    if (outcome === 'none')
      output.note(`${name} had no effect: it came too late, or had taken effect before.\n`);
    else if (outcome === 'refused') output.note(`${name} was refused: ${plain(refusal)}\n`);
    else if (outcome === 'parked')
      output.note(`${name} is a dead letter again: \`dead-letters list ${service}\` shows the reason.\n`);
    else if (outcome === null)
      output.note(
        `${name} was not decided within ${seconds} s. Is ${service} running? \`dead-letters list ${service}\` shows the outcome.\n`,
      );
  }
}

/** @throws CommandFailed when the service has never read in this namespace, which is then probably mistyped: writing would create it */
export async function ensureUsed(log: EventLog, service: ServiceName): Promise<void> {
  if ((await listLag(log, service)).length > 0) return;
  throw new CommandFailed(
    `${service} has read nothing yet in the namespace "${log.config.namespace}". Is NAMESPACE right, and has the system ever run?`,
    exitCodes.data,
  );
}

function asJson(letter: DeadLetter): object {
  return { ...letter, origin: { ...letter.origin, offset: Number(letter.origin.offset) } };
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
