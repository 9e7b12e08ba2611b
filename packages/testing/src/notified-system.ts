// A running system whose notifications go to receivers on this machine, with helpers to send events of a lead and to read its
// firings and deliveries.
import {
  leadIdOf,
  namedEventIdOf,
  routes,
  type routeDeclarations as answers,
  type FiredPayload,
  type records,
  type RouteName,
} from '@lead-scoring/contracts';
import { eventually } from '@lead-scoring/platform/waiting';
import { readTopic } from './public-topics.js';
import { send, type RouteExample } from './route-examples.js';
import { startTestSystem, type TestSystem, type TestSystemOptions } from './test-system.js';

/** Every receiver of a test, and the gateway itself. */
const anyReceiver = '127.0.0.1:1024-65535';

/** Weights by event type. The bell events fire triggers once everything before them has been decided. */
const weights = {
  'Page View': 1,
  'Pricing View': 10,
  'Form Submit': 25,
  'Email Unsubscribe': -15,
  'Demo Requested': 25,
  'Trial Started': 25,
  'Chat Started': 10,
  'Went Up': 20,
  'Went Down': -20,
  'Bell Rung': 1,
  'Bell Answered': 1,
} as const;

export interface Happening {
  event_type: string;
  event_id?: string;
  timestamp?: string;
  metadata?: Record<string, unknown>;
}

export interface NotifiedSystem extends TestSystem {
  /** Sends the route's request and returns the answer's body. @throws Error unless the answer is a declared success */
  call<Body>(name: RouteName, example?: RouteExample): Promise<Body>;
  /** A webhook channel and its signing secret. */
  webhook(
    name: string,
    url: string,
    config?: { auth_header?: string },
  ): Promise<{ id: string; signing_secret: string }>;
  /** Posts events of a lead in one request, a millisecond apart; returns the position of the 202. */
  happen(alias: string, ...events: readonly Happening[]): Promise<string>;
  leadOf(alias: string): string;
  /**
   * Waits until all events of the lead so far have been decided, and all firings for it have been delivered; returns the
   * firings.
   */
  settled(alias: string): Promise<Firings>;
}

export interface Firings {
  milestones: answers.LeadMilestoneEvent[];
  sequences: answers.SequenceEvent[];
  surges: answers.SurgeEvent[];
}

/** A notification of a lead. */
export type FiredNotification = FiredPayload;

/**
 * @param retrySchedule seconds before each attempt
 */
export async function startNotifiedSystem(
  retrySchedule: readonly number[],
  { environment, ...options }: TestSystemOptions = {},
): Promise<NotifiedSystem> {
  const system = await startTestSystem({
    ...options,
    environment: {
      ...environment,
      ALLOW_PRIVATE_TARGETS: anyReceiver,
      RETRY_SCHEDULE_SECONDS: retrySchedule.join(','),
    },
  });
  const call: NotifiedSystem['call'] = async (name, example = {}) => {
    const answer = await send(system, name, example);
    const declared = routes[name].responses as Record<number, unknown>;
    if (answer.status >= 300 || !Object.hasOwn(declared, answer.status))
      throw new Error(`${name} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
    return answer.body as never;
  };
  const leadOf = (alias: string) => leadIdOf(system.ouId, 'email', alias);
  let happened = 0;
  const happen: NotifiedSystem['happen'] = async (alias, ...events) => {
    const now = Date.now();
    const { position } = await call<{ position: string }>('ingest', {
      body: events.map((event, index) => ({
        alias_kind: 'email',
        alias,
        timestamp: new Date(now + index).toISOString(),
        event_id: `happening-${happened++}`,
        ...event,
      })),
    });
    return position;
  };
  const firingsOf = async (alias: string): Promise<Firings> => {
    const query = { lead_id: leadOf(alias), limit: '100' };
    const all = async <Firing>(name: RouteName) => (await call<{ data: Firing[] }>(name, { query })).data;
    return {
      milestones: await all('listMilestoneEvents'),
      sequences: await all('listSequenceEvents'),
      surges: await all('listSurgeEvents'),
    };
  };
  try {
    const ruleset = await call<{ id: string }>('createRuleset', {
      body: { name: 'Behaviour', score_type: 'engagement', active: true },
    });
    for (const [event_type, weight] of Object.entries(weights))
      await call('createRule', { body: { ruleset_id: ruleset.id, event_type, weight } });
    // Surges are decided from scores and sequences from events: one trigger for each.
    const heard = [
      await call<{ id: string }>('createSurgeTrigger', {
        body: { name: 'Bell', event_type: 'Bell Rung', threshold: 1, window_seconds: 1, cooldown_seconds: 0 },
      }),
      await call<{ id: string }>('createSequence', {
        body: {
          name: 'Bell',
          event_types: ['Bell Rung', 'Bell Answered'],
          window_seconds: 1,
          ordered: true,
        },
      }),
    ].map(({ id }) => id);
    return {
      ...system,
      call,
      webhook: (name, url, config = {}) =>
        call('createChannel', { body: { name, type: 'webhook', config: { url, ...config } } }),
      happen,
      leadOf,
      settled: async (alias) => {
        const rung = `bell-${happened++}`;
        await happen(
          alias,
          { event_type: 'Bell Rung', event_id: rung },
          { event_type: 'Bell Answered', event_id: `${rung}-answer` },
        );
        const [bell, answer] = [rung, `${rung}-answer`].map((event) =>
          namedEventIdOf(system.ouId, 'email', alias, event),
        );
        return eventually(
          'what the lead did is settled',
          async () => {
            const { surges, sequences } = await firingsOf(alias);
            const decided =
              surges.some(({ cause }) => cause.event_id === bell) &&
              sequences.some(({ cause }) => cause.event_id === answer);
            if (!decided) return undefined;
            // Read again: a firing from before the bell may have been missing when the first lists were read one after another.
            const firings = await firingsOf(alias);
            const all = [...firings.milestones, ...firings.sequences, ...firings.surges];
            const delivered = all.every(({ deliveries }) =>
              deliveries.every(({ status }) => status !== 'pending'),
            );
            if (!delivered) return undefined;
            const others = <Firing extends { trigger: { id: string } }>(some: Firing[]) =>
              some.filter(({ trigger }) => !heard.includes(trigger.id));
            return {
              milestones: others(firings.milestones),
              sequences: others(firings.sequences),
              surges: others(firings.surges),
            };
          },
          60_000,
        );
      },
    };
  } catch (error) {
    await system.stop();
    throw error;
  }
}

interface NotificationEvents {
  MilestoneFired: records.MilestoneFired;
  TriggerSuppressed: records.TriggerSuppressed;
  NotificationAttempted: records.NotificationAttempted;
}

/** All events of this type on the public topic, in order within each partition. */
export async function notificationEvents<Type extends keyof NotificationEvents>(
  system: TestSystem,
  type: Type,
): Promise<NotificationEvents[Type][]> {
  const all = await readTopic(system.endpoints, `${system.namespace}.notification.events`);
  return all
    .filter((record) => record.type === type)
    .map(({ payload }) => payload as NotificationEvents[Type]);
}
