// The system itself as a contender: its services as processes, with 50 rules where it scores.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createClient, type Client } from '@lead-scoring/client';
import { serviceNames, type ServiceName } from '@lead-scoring/contracts';
import type { PlatformEndpoints } from '@lead-scoring/platform';
import { startTestSystem, type TestSystem, type TestSystemOptions } from '@lead-scoring/testing';
import { eventTypes, workloadRules, type RuleForm } from '../workload.js';
import { totalsOfLeads } from './baselines.js';
import {
  beforeSuffix,
  type Contender,
  type RunningContender,
  type RunningScoringContender,
  type ScoringContender,
} from './contender.js';
import type { Target } from '../load/connection.js';
import { cpuSecondsOf, memoryMiBOf } from './process-costs.js';

/** A built checkout of an earlier commit, whose system runs as a contender of this one's. */
export interface EarlierCheckout {
  root: string;
}

/** Options of the system that runs; a checkout of a commit that made no bundles starts its services from modules. */
function optionsOf(checkout: EarlierCheckout | undefined): TestSystemOptions {
  if (!checkout) return {};
  const { root } = checkout;
  if (existsSync(join(root, 'packages/start/dist/services'))) return { root };
  const flags = ['--max-semi-space-size=64', '--external-memory-accounted-in-global-limit'];
  const telemetry = join(root, 'packages/service/dist/telemetry.js');
  return {
    root,
    programOf: (name) => ({
      command: process.execPath,
      args: [...flags, '--import', telemetry, join(root, 'services', name, 'dist/main.js')],
    }),
  };
}

function nameFrom(name: string, checkout: EarlierCheckout | undefined): string {
  return checkout ? `${name}${beforeSuffix}` : name;
}

/** The contender of this checkout and, where an earlier checkout takes part, the same contender of that one. */
export function withEarlier<One>(
  contenderOf: (checkout?: EarlierCheckout) => One,
  earlier: EarlierCheckout | undefined,
): One[] {
  return earlier ? [contenderOf(), contenderOf(earlier)] : [contenderOf()];
}

/**
 * The part of the system that accepts events: authentication, limits, validation, identity, and the log. No service consumes the
 * records, as nothing consumes those of the bare handler.
 */
export function gatewayAlone(checkout?: EarlierCheckout): Contender {
  return {
    name: nameFrom('gateway, nothing consuming', checkout),
    start: async (endpoints) =>
      running(await startTestSystem({ endpoints, instances: only('gateway'), ...optionsOf(checkout) })),
  };
}

/** What a sender other than the load generator needs. */
export interface StartedSystem {
  namespace: string;
  ouId: string;
  token: string;
}

/** The gateway alone, for senders of other kinds. */
export async function startGatewayAlone(
  endpoints: PlatformEndpoints,
  environment: Record<string, string> = {},
): Promise<RunningContender & StartedSystem> {
  const system = await startTestSystem({ endpoints, instances: only('gateway'), environment });
  const { namespace, ouId, token } = system;
  return { ...running(system), namespace, ouId, token };
}

/** The same, with a write key for Segment's tracking API. */
export async function startGatewayWithSegment(
  endpoints: PlatformEndpoints,
): Promise<RunningContender & { segment: Target }> {
  const system = await startTestSystem({ endpoints, instances: only('gateway') });
  let key = '';
  await configure(system, async (client) => {
    const { client_id, client_secret } = await client.call('createServiceAccount', {
      body: { name: 'Segment', scopes: ['ingest'], ou_ids: [system.ouId] },
    });
    key = Buffer.from(`${client_id}.${client_secret}:`).toString('base64');
  });
  return {
    ...running(system),
    segment: { baseUrl: system.url, headers: { authorization: `Basic ${key}` } },
  };
}

function only(...wanted: ServiceName[]): Record<ServiceName, number> {
  return Object.fromEntries(serviceNames.map((name) => [name, wanted.includes(name) ? 1 : 0])) as Record<
    ServiceName,
    number
  >;
}

/** All services: the gateway accepts events while ingest and scoring process them on the same machine. */
export function systemAccepting(checkout?: EarlierCheckout): Contender {
  return {
    name: nameFrom('whole system at work', checkout),
    start: async (endpoints) => {
      const system = await startTestSystem({ endpoints, ...optionsOf(checkout) });
      await createRules(system);
      return running(system);
    },
  };
}

export function wholeSystem(checkout?: EarlierCheckout, partitions?: number): ScoringContender {
  return {
    name: nameFrom('the system', checkout),
    scoring: 'rules',
    start: (endpoints) => startWholeSystem(endpoints, checkout, partitions),
  };
}

/** Starts the services that an event passes on its way to a readable score; under high load the others have machines of their own. */
export async function startWholeSystem(
  endpoints: PlatformEndpoints,
  checkout?: EarlierCheckout,
  partitions?: number,
): Promise<RunningScoringContender & { ouId: string }> {
  const instances = only('gateway', 'ingest', 'scoring');
  const environment = partitions === undefined ? {} : { PARTITIONS: String(partitions) };
  const system = await startTestSystem({ endpoints, instances, environment, ...optionsOf(checkout) });
  await createRules(system);
  return scoringContender(system, endpoints);
}

function scoringContender(system: TestSystem, endpoints: PlatformEndpoints): RunningRuledSystem {
  const contender = running(system);
  const scoringDatabase = `${system.namespace}_scoring`;
  return {
    ...contender,
    namespace: system.namespace,
    ouId: system.ouId,
    token: system.token,
    scoringDatabase,
    readable: { way: 'min-position', target: contender.target, ouId: system.ouId },
    totals: () => totalsOfLeads(endpoints, scoringDatabase),
    memoryMiB: (service) => memoryMiBOf(system.service(service).process.pid),
  };
}

export interface RunningRuledSystem extends RunningScoringContender, StartedSystem {
  /** The name of the database of the scoring service. */
  scoringDatabase: string;
  /** The memory that the process of a service has now, in MiB. */
  memoryMiB(service: ServiceName): number;
}

/** Starts the same services with other rules. */
export async function startSystemWithRules(
  endpoints: PlatformEndpoints,
  rules: readonly RuleForm[],
): Promise<RunningRuledSystem> {
  const system = await startTestSystem({ endpoints, instances: only('gateway', 'ingest', 'scoring') });
  // One document, because a request for each of 1,000 rules would take longer than the measurement.
  const engagement_rulesets = [{ name: rulesetName, rules: [...rules] }];
  await configure(system, (client) => client.call('putConfiguration', { body: { engagement_rulesets } }));
  return scoringContender(system, endpoints);
}

export interface RunningScaledSystem extends RunningScoringContender {
  /** The processes of a service. */
  pids(service: 'ingest' | 'scoring'): number[];
}

/** Starts one gateway and as many processes of ingest and of scoring as are given. */
export async function startScaledSystem(
  endpoints: PlatformEndpoints,
  { processes, partitions }: { processes: number; partitions: number },
): Promise<RunningScaledSystem> {
  const system = await startTestSystem({
    endpoints,
    instances: { ...only('gateway'), ingest: processes, scoring: processes },
    environment: { PARTITIONS: String(partitions) },
  });
  await createRules(system);
  return {
    ...scoringContender(system, endpoints),
    pids: (service) =>
      Array.from({ length: processes }, (_, instance) => {
        const { pid } = system.service(service, instance).process;
        if (pid === undefined) throw new Error(`process ${instance} of ${service} has ended`);
        return pid;
      }),
  };
}

export interface RunningNotifier extends RunningContender {
  ouId: string;
  /** An event of this type causes a notification of its lead. */
  probeType: string;
  /** Processor seconds of the notification service alone. */
  notifierCpuSeconds(): number;
}

/**
 * Starts the services that an event passes on its way to a notification. One trigger fires for probes. Of the others, twenty watch
 * the event types of the workload, two each, and the rest watch types that do not occur.
 * @param triggers the number of triggers, at least 21
 * @param partitions the number of partitions of each topic
 * @param notifiers the number of processes of the notification service
 */
export async function startNotifier(
  endpoints: PlatformEndpoints,
  { triggers, partitions, notifiers }: { triggers: number; partitions: number; notifiers: number },
  receiverUrl: string,
): Promise<RunningNotifier> {
  const system = await startTestSystem({
    endpoints,
    instances: { ...only('gateway', 'ingest', 'scoring'), notification: notifiers },
    environment: {
      ALLOW_PRIVATE_TARGETS: new URL(receiverUrl).host,
      PARTITIONS: String(partitions),
    },
  });
  await createRules(system);
  const probeType = 'Probe Sent';
  const client = createClient({ baseUrl: system.url, token: system.token });
  try {
    await client.call('createEngagementRule', { body: { event_type: probeType, weight: 1 } });
    const channel = await client.call('createChannel', {
      body: { name: 'Receiver', type: 'webhook', config: { url: receiverUrl } },
    });
    await client.call('createTrigger', {
      body: {
        name: 'Probes',
        event_type: probeType,
        score_threshold: 1,
        channel_ids: [channel.id],
      },
    });
    await createOtherTriggers(client, triggers - 1);
  } catch (error) {
    await system.stop();
    throw error;
  }
  return {
    ...running(system),
    ouId: system.ouId,
    probeType,
    notifierCpuSeconds: () =>
      cpuSecondsOf(
        Array.from(
          { length: notifiers },
          (_, instance) => system.service('notification', instance).process.pid,
        ),
      ),
  };
}

async function createOtherTriggers(client: Client, count: number): Promise<void> {
  for (let number = 0; number < count; number += 1) {
    const [first, second] = typesOfTrigger(number);
    const name = `Trigger ${number}`;
    // Half of them watch events, half watch scores.
    if (number % 2 === 0)
      await client.call('createSequence', {
        body: { name, event_types: [first, second], window_seconds: 3_600, ordered: true },
      });
    else if (number % 4 === 1)
      await client.call('createTrigger', {
        body: { name, event_type: first, score_threshold: 20 + number },
      });
    else
      await client.call('createSurgeTrigger', {
        body: { name, event_type: first, threshold: 20 + number, window_seconds: 3_600 },
      });
  }
}

function typesOfTrigger(number: number): [string, string] {
  const [first, second] = [
    eventTypes[number % eventTypes.length],
    eventTypes[(number + 1) % eventTypes.length],
  ];
  if (first === undefined || second === undefined) throw new RangeError('there are no event types');
  return number < 2 * eventTypes.length ? [first, second] : [`${first} ${number}`, `${second} ${number}`];
}

function running(system: TestSystem): RunningContender {
  return {
    target: { baseUrl: system.url, headers: { authorization: `Bearer ${system.token}` } },
    cpuSeconds: () => cpuSecondsOf(system.system.services.map((service) => service.process.pid)),
    stop: () => system.stop(),
  };
}

/** The name of the ruleset that holds the rules. */
export const rulesetName = 'Benchmark';

async function createRules(system: TestSystem): Promise<void> {
  await configure(system, async (client) => {
    const ruleset = await client.call('createRuleset', {
      body: { name: rulesetName, score_type: 'engagement', active: true },
    });
    for (const { form } of workloadRules)
      await client.call('createRule', { body: { ruleset_id: ruleset.id, ...form } });
  });
}

/** Configures a system that has just been started; when that fails, the system is stopped. */
async function configure(system: TestSystem, work: (client: Client) => Promise<unknown>): Promise<void> {
  try {
    await work(createClient({ baseUrl: system.url, token: system.token }));
  } catch (error) {
    await system.stop();
    throw error;
  }
}
