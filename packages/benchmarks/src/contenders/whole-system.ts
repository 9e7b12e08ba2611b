// The system itself, as processes of their own, with 50 rules where scores matter.
import { createClient } from '@lead-scoring/client';
import { serviceNames, type ServiceName } from '@lead-scoring/contracts';
import type { PlatformEndpoints } from '@lead-scoring/platform';
import { startTestSystem, type TestSystem } from '@lead-scoring/testing';
import { workloadRules } from '../workload.js';
import { totalsOfLeads } from './baselines.js';
import type { Contender, RunningContender, RunningScoringContender, ScoringContender } from './contender.js';
import { cpuSecondsOf } from './processor-time.js';

/**
 * The side of the system that accepts: authentication, limits, validation, identity, and the log. Nothing consumes, as
 * nothing consumes what the bare handler writes.
 */
export const gatewayAlone: Contender = {
  name: 'gateway, nothing consuming',
  start: async (endpoints) => running(await startTestSystem({ endpoints, instances: only('gateway') })),
};

function only(...wanted: ServiceName[]): Record<ServiceName, number> {
  return Object.fromEntries(serviceNames.map((name) => [name, wanted.includes(name) ? 1 : 0])) as Record<
    ServiceName,
    number
  >;
}

/** Accepting, while ingest and scoring handle on the same machine what was accepted. */
export const systemAccepting: Contender = {
  name: 'whole system at work',
  start: async (endpoints) => {
    const system = await startTestSystem({ endpoints });
    await createRules(system);
    return running(system);
  },
};

export const wholeSystem: ScoringContender = {
  name: 'the system',
  scoring: 'rules',
  start: startWholeSystem,
};

/** The services between an event and its readable score; the others have machines of their own where load is high. */
export async function startWholeSystem(
  endpoints: PlatformEndpoints,
): Promise<RunningScoringContender & { ouId: string }> {
  const system = await startTestSystem({ endpoints, instances: only('gateway', 'ingest', 'scoring') });
  await createRules(system);
  const contender = running(system);
  return {
    ...contender,
    ouId: system.ouId,
    readable: { way: 'min-position', target: contender.target, ouId: system.ouId },
    totals: () => totalsOfLeads(endpoints, `${system.namespace}_scoring`),
  };
}

function running(system: TestSystem): RunningContender {
  return {
    target: { baseUrl: system.url, headers: { authorization: `Bearer ${system.token}` } },
    cpuSeconds: () => cpuSecondsOf(system.system.services.map((service) => service.process.pid)),
    stop: () => system.stop(),
  };
}

async function createRules(system: TestSystem): Promise<void> {
  const client = createClient({ baseUrl: system.url, token: system.token });
  try {
    const ruleset = await client.call('createRuleset', {
      body: { name: 'Benchmark', score_type: 'engagement', active: true },
    });
    for (const { form } of workloadRules)
      await client.call('createRule', { body: { ruleset_id: ruleset.id, ...form } });
  } catch (error) {
    await system.stop();
    throw error;
  }
}
