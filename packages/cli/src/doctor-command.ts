// `lead-scoring doctor`: the state of servers and services, the lag of each reader, and advice about problems.
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { serviceNames, type ServiceName } from '@lead-scoring/contracts';
import {
  checkSchemaRegistry,
  listDeadLetters,
  listLag,
  listReplication,
  maintenanceOf,
  replicationSentence,
  type EventLog,
  type LogMaintenance,
  type PartitionLag,
  type Replication,
} from '@lead-scoring/event-log';
import { checkDatabase, readEditions } from '@lead-scoring/read-model';
import { behind, lagOutlook } from './doctor-lag.js';
import { CommandFailed, exitCodes, failureOf } from './errors.js';
import { withEventLog } from './log-commands.js';
import { progressSentence, rebuildProgress, withReadModel } from './rebuild-progress.js';
import { plain, table, type Output } from './output.js';
import { countSecrets, isExchanged, secretsSentence } from './secrets-commands.js';
import type { Settings } from './settings.js';

interface Finding {
  what: string;
  state: 'ok' | 'warning' | 'failed';
  detail: string;
  /** Advice about the problem. */
  remedy?: string;
}

interface Lag {
  service: ServiceName;
  /** The consumer group: the service's processor, which has its name, or one of its projectors. */
  reader: string;
  topic: string;
  partitions: { partition: number; position: number; end: number; lag: number }[];
}

/** Between the two looks at a lag that show whether it falls. */
const lagSeconds = 3;
const patienceMs = 5_000;

/** @returns the exit code */
export async function doctor(flags: { json?: boolean }, settings: Settings, output: Output): Promise<number> {
  const findings: Finding[] = [startFileFinding(settings)];
  const [api, servers, services] = await Promise.all([
    apiFinding(settings),
    serverFindings(settings),
    serviceFindings(settings),
  ]);
  findings.push(api, ...servers, ...services);
  const kafkaIsUp = servers.some(({ what, state }) => what.startsWith('Kafka') && state === 'ok');
  const { lags, findings: logFindings } = kafkaIsUp ? await logState(settings) : { lags: [], findings: [] };
  findings.push(...logFindings);
  if (flags.json === true) output.write(`${JSON.stringify({ findings, lags }, null, 2)}\n`);
  else report(findings, lags, output);
  return findings.some(({ state }) => state === 'failed') ? exitCodes.incomplete : exitCodes.done;
}

function report(findings: Finding[], lags: Lag[], output: Output): void {
  const words = { ok: 'ok', warning: 'check', failed: 'FAILED' };
  output.write(
    `${table(findings, [
      { title: 'STATE', value: ({ state }) => words[state] },
      { title: 'WHAT', value: ({ what }) => what, maximum: 60 },
      { title: 'DETAIL', value: ({ detail }) => detail, maximum: 120 },
    ])}\n`,
  );
  if (lags.length > 0) {
    const count = Math.max(...lags.map(({ partitions }) => partitions.length));
    output.write(
      `\nRecords behind, by partition (a commit marker counts as one):\n${table(lags, [
        { title: 'READER', value: ({ reader }) => reader },
        { title: 'TOPIC', value: ({ topic }) => topic },
        ...Array.from({ length: count }, (_, index) => ({
          title: String(index),
          value: ({ partitions }: Lag) => partitions.find(({ partition }) => partition === index)?.lag ?? '',
          align: 'right' as const,
        })),
      ])}\n`,
    );
  }
  const remedies = findings.flatMap(({ remedy, what }) =>
    remedy === undefined ? [] : [`- ${what}: ${remedy}`],
  );
  output.write(remedies.length > 0 ? `\nWhat to do:\n${remedies.join('\n')}\n` : '\nAll is well.\n');
}

function startFileFinding({ startFile, kafkaBrokers, mongodbUri }: Settings): Finding {
  if (startFile === null && kafkaBrokers && mongodbUri !== undefined)
    return { what: 'settings', state: 'ok', detail: 'the servers are those that the environment names' };
  return startFile === null
    ? {
        what: '.run/start.json',
        state: 'warning',
        detail: 'not here',
        remedy: 'run this in a checkout where `npm start` is running, or set the environment variables',
      }
    : { what: '.run/start.json', state: 'ok', detail: startFile };
}

async function apiFinding({ apiUrl }: Settings): Promise<Finding> {
  const ready = await readinessOf(apiUrl);
  const what = `API ${apiUrl}`;
  if (ready === null)
    return {
      what,
      state: 'failed',
      detail: 'no answer',
      remedy: 'start the system with `npm start`, or name the address of another with LEAD_SCORING_URL',
    };
  return ready.ok
    ? { what, state: 'ok', detail: 'ready' }
    : {
        what,
        state: 'failed',
        detail: ready.detail,
        remedy: 'its log says why, gateway.log of `npm start`; docs/runbooks/stuck-partition.md',
      };
}

async function serviceFindings({ services, startFile }: Settings): Promise<Finding[]> {
  return Promise.all(
    Object.entries(services).map(async ([name, { url, pid }]): Promise<Finding> => {
      const what = `service ${name} (process ${pid})`;
      if (!isAlive(pid))
        return {
          what,
          state: 'failed',
          detail: 'the process is gone',
          remedy: `see ${logOf(startFile, name)}; \`npm start\` starts it again, after a growing pause`,
        };
      const ready = await readinessOf(url);
      if (ready?.ok === true) return { what, state: 'ok', detail: url };
      return {
        what,
        state: 'failed',
        detail: ready?.detail ?? `no answer at ${url}`,
        remedy: `see ${logOf(startFile, name)}; docs/runbooks/stuck-partition.md`,
      };
    }),
  );
}

/** The log of a process that `npm start` runs. */
function logOf(startFile: string | null, name: string): string {
  return join(dirname(startFile ?? '.run/start.json'), 'logs', `${name}.log`);
}

async function serverFindings(settings: Settings): Promise<Finding[]> {
  const { kafkaBrokers, schemaRegistryUrl, mongodbUri } = settings;
  const [host = '', port = ''] = kafkaBrokers?.[0]?.split(':') ?? [];
  const mongodb = /^mongodb(?:\+srv)?:\/\/(?:[^@/]*@)?([^/?]+)/.exec(mongodbUri ?? '')?.[1] ?? '';
  const started = settings.startFile === null ? '' : ' (it is started by `npm start`; see .run/logs)';
  const finding = async (what: string, detail: string, look: () => Promise<unknown>): Promise<Finding> => {
    try {
      await look();
      return { what, state: 'ok', detail };
    } catch (error) {
      const why = plain(failureOf(error).message?.split('\n')[0] ?? '');
      return { what, state: 'failed', detail: `no answer at ${detail}`, remedy: `${why}${started}` };
    }
  };
  return Promise.all([
    ...(kafkaBrokers ? [finding('Kafka', kafkaBrokers.join(','), () => reachable(host, Number(port)))] : []),
    ...(schemaRegistryUrl !== undefined && kafkaBrokers
      ? [
          finding('schema registry', schemaRegistryUrl, () =>
            withEventLog(settings, (log) => checkSchemaRegistry(log)),
          ),
        ]
      : []),
    ...(mongodbUri !== undefined
      ? [finding('MongoDB', mongodb, () => checkDatabase({ uri: mongodbUri, access: settings.access }))]
      : []),
  ]);
}

async function logState(settings: Settings): Promise<{ lags: Lag[]; findings: Finding[] }> {
  const lags: Lag[] = [];
  const findings: Finding[] = [];
  if (settings.schemaRegistryUrl === undefined) return { lags, findings };
  try {
    await withEventLog(settings, async (log) => {
      findings.push(...maintenanceFindings(await maintenanceOf(log)));
      findings.push(...replicationFindings(await listReplication(log)));
      for (const service of serviceNames) {
        const found = await listLag(log, service);
        lags.push(...lagsByTopic(service, found));
        findings.push(...haltFindings(found), ...(await behindFindings(log, service, found)));
        if (found.length > 0) findings.push(...(await rebuildFindings(settings, log, service)));
        let waiting = 0;
        for await (const letter of listDeadLetters(log, service)) waiting += letter.retried ? 0 : 1;
        if (waiting > 0)
          findings.push({
            what: `dead letters of ${service}`,
            state: 'warning',
            detail: `${waiting} records could not be processed`,
            remedy: `\`lead-scoring dead-letters list ${service}\` says why; \`retry\` sends them again; docs/runbooks/dead-letters.md`,
          });
      }
      if (lags.some(({ service }) => service === 'notification')) findings.push(await secretsFinding(log));
    });
  } catch (error) {
    // The reason is with the remedies, which are shown whole.
    const reason = plain(failureOf(error).message ?? '');
    findings.push({
      what: 'the log',
      state: 'failed',
      detail: 'cannot be read',
      remedy: `${reason} docs/runbooks/access.md, when the servers run`.trim(),
    });
  }
  return { lags, findings };
}

/** A rebuild that is under way; nothing where there is none, or where the database does not say. */
async function rebuildFindings(settings: Settings, log: EventLog, service: ServiceName): Promise<Finding[]> {
  if (settings.mongodbUri === undefined) return [];
  try {
    const progress = await withReadModel(settings, service, async (readModel) =>
      rebuildProgress(log, readModel, service, await readEditions(readModel, service)),
    );
    if (!progress) return [];
    const detail = `${progressSentence(progress)}; since ${progress.since}`;
    return [{ what: `rebuild of ${service}`, state: 'ok', detail }];
  } catch {
    // The finding on MongoDB says why.
    return [];
  }
}

const maintenance = {
  erasure: {
    what: 'erasure from the log',
    interrupted: 'a topic may be incomplete',
    command: '`lead-scoring erase`',
    runbook: 'docs/runbooks/erasure.md',
  },
  restoration: {
    what: 'restoration of a backup',
    interrupted: 'the log is incomplete',
    command: '`lead-scoring restore FOLDER`',
    runbook: 'docs/runbooks/backup.md',
  },
} as const;

/** An erasure or a restoration that is under way or has to be finished; nothing where there is none. */
function maintenanceFindings(found: LogMaintenance | null): Finding[] {
  if (!found) return [];
  const { what, interrupted, command, runbook } = maintenance[found.work];
  return found.isRunning
    ? [
        {
          what,
          state: 'warning',
          detail: 'is running: no service starts before it has ended',
          remedy: `wait for ${command}, then start the services`,
        },
      ]
    : [
        {
          what,
          state: 'failed',
          detail: `was interrupted: ${interrupted}, and no service starts`,
          remedy: `run ${command} again, to its end; ${runbook}`,
        },
      ];
}

async function secretsFinding(log: EventLog): Promise<Finding> {
  const what = 'secrets of channels';
  try {
    const found = await countSecrets(log, patienceMs);
    const detail = secretsSentence(found);
    if (isExchanged(found)) return { what, state: 'ok', detail };
    return {
      what,
      state: 'warning',
      detail,
      remedy:
        found.superseded === 0
          ? '`lead-scoring secrets list` says what to do; docs/runbooks/secrets.md'
          : 'run `lead-scoring secrets reseal`; until then do not remove SEALING_SECRET_PREVIOUS; docs/runbooks/secrets.md',
    };
  } catch (error) {
    return {
      what,
      state: 'warning',
      detail: 'the notification service does not answer with the keys that seal them',
      remedy: plain(failureOf(error).message ?? 'is the notification service running?'),
    };
  }
}

function replicationFindings(replication: Replication): Finding[] {
  const { wanted, copies, lacking } = replication;
  // No topic exists yet.
  if (copies === 0) return [];
  const detail = replicationSentence(replication);
  if (lacking.length === 0) return [{ what: 'copies of the log', state: 'ok', detail }];
  const names = lacking.map(({ topic, copies: some }) => `${topic} (${some})`);
  return [
    {
      what: 'copies of the log',
      state: 'warning',
      detail,
      remedy: `${wanted} copies are wanted, by the number of brokers or REPLICATION_FACTOR, and ${lacking.length} topics have fewer: ${names.join(', ')}. docs/runbooks/replication.md says how to add copies`,
    },
  ];
}

/** The partitions that are behind; looks a second time only when there are any. */
async function behindFindings(
  log: EventLog,
  service: ServiceName,
  found: PartitionLag[],
): Promise<Finding[]> {
  const late = found.filter(({ lag }) => lag > behind);
  if (late.length === 0) return [];
  await delay(lagSeconds * 1_000);
  const later = await listLag(log, service);
  return late.map((one): Finding => {
    const outlook = lagOutlook(one, later, lagSeconds);
    return { what: `${one.reader} is behind`, state: 'warning', ...outlook };
  });
}

function haltFindings(found: PartitionLag[]): Finding[] {
  const findings: Finding[] = [];
  for (const { reader, topic, partition, position, end, lost } of found) {
    const where = `${topic}, partition ${partition}`;
    if (position > end)
      findings.push({
        what: `${reader} is halted`,
        state: 'failed',
        detail: `${where} is read up to ${position} and ends at ${end}: it lost records or was recreated`,
        remedy: `\`lead-scoring positions list\` shows all positions; docs/runbooks/positions.md explains the choices`,
      });
    if (lost > 0n)
      findings.push({
        what: `${reader} has lost records`,
        state: 'failed',
        detail: `${lost} records of ${where} were deleted by retention before they were read`,
        remedy: 'they cannot be brought back; docs/runbooks/positions.md',
      });
  }
  return findings;
}

function lagsByTopic(service: ServiceName, found: PartitionLag[]): Lag[] {
  const lags: Lag[] = [];
  for (const { reader, topic, partition, position, end, lag } of found) {
    let known = lags.find((one) => one.reader === reader && one.topic === topic);
    if (!known) {
      known = { service, reader, topic, partitions: [] };
      lags.push(known);
    }
    known.partitions.push({ partition, position: Number(position), end: Number(end), lag: Number(lag) });
  }
  return lags;
}

async function readinessOf(url: string): Promise<{ ok: boolean; detail: string } | null> {
  try {
    const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(patienceMs) });
    const body = (await response.json()) as { checks?: Record<string, { ok: boolean; detail?: string }> };
    const failed = Object.entries(body.checks ?? {}).filter(([, { ok }]) => !ok);
    return {
      ok: response.ok,
      detail:
        failed.map(([name, { detail }]) => `${name}: ${detail ?? 'not ready'}`).join('; ') ||
        `answers ${response.status}`,
    };
  } catch {
    return null;
  }
}

/** @throws Error when nothing listens */
function reachable(host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port: port || 9_092, timeout: patienceMs });
    socket.once('connect', () => {
      socket.destroy();
      resolve();
    });
    for (const event of ['error', 'timeout'] as const)
      socket.once(event, () => {
        socket.destroy();
        reject(new CommandFailed(`Nothing listens at ${host}:${port}.`, exitCodes.unavailable));
      });
  });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: the process exists and belongs to another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
