// The system as a contender with a write key: a service account that may only ingest, for senders that are not the load generator.
import { createClient } from '@lead-scoring/client';
import type { PlatformEndpoints } from '@lead-scoring/platform';
import type { RunningContender } from './contender.js';
import {
  startGatewayAlone,
  startSystemWithRules,
  type RunningRuledSystem,
  type StartedSystem,
} from './whole-system.js';
import { workloadRules } from '../workload.js';

export interface KeyedContender {
  namespace: string;
  /** `<client id>.<client secret>` */
  writeKey: string;
}

export type RunningKeyedSystem = RunningRuledSystem & KeyedContender;

/** The gateway, while no service consumes what it writes. */
export async function startGatewayWithWriteKey(
  endpoints: PlatformEndpoints,
): Promise<RunningContender & KeyedContender> {
  return withWriteKey(await startGatewayAlone(endpoints));
}

/** The services that an event passes on its way to a readable score, with the rules of the workload. */
export async function startRuledSystemWithWriteKey(
  endpoints: PlatformEndpoints,
): Promise<RunningKeyedSystem> {
  const rules = workloadRules.map(({ form }) => form);
  return withWriteKey(await startSystemWithRules(endpoints, rules));
}

async function withWriteKey<Running extends RunningContender & StartedSystem>(
  running: Running,
): Promise<Running & { writeKey: string }> {
  try {
    const client = createClient({ baseUrl: running.target.baseUrl, token: running.token });
    const { client_id, client_secret } = await client.call('createServiceAccount', {
      body: { name: 'Sender', scopes: ['ingest'], ou_ids: [running.ouId] },
    });
    return { ...running, writeKey: `${client_id}.${client_secret}` };
  } catch (error) {
    await running.stop();
    throw error;
  }
}
