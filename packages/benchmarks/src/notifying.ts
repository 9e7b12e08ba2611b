// (d) Latency from POST /ingest to the first byte at a webhook, while events come in at a fixed rate. With few triggers and with
// many, to show that triggers of other event types cost nothing; with the default number of partitions and with one, to show the
// cost of partitions on two cores; and with two processes of notification, of which each has its own garbage collector.
import { freePort, type PlatformEndpoints } from '@lead-scoring/platform';
import { startNotifier } from './contenders/whole-system.js';
import type { LoadGenerator } from './load/load-generator.js';
import type { Pace } from './load/protocol.js';
import { interleaved } from './rounds.js';
import type { Latencies } from './statistics.js';
import { counted } from './words.js';
import type { WorkloadPlan } from './workload.js';

export interface NotifyingSizes {
  leads: number;
  eventsPerSecond: number;
  warmUpMs: number;
  measuredMs: number;
}

interface NotifyingRound {
  /** From the moment at which an event was due to be sent to the first byte of its notification. */
  latencies: Latencies;
  /** Processor time of the notification service, in microseconds per event. */
  notifierCpuPerEventUs: number;
}

export interface NotifyingResult {
  leads: number;
  eventsPerSecond: number;
  contenders: (NotifyingSetup & { rounds: NotifyingRound[] })[];
}

interface NotifyingSetup {
  triggers: number;
  partitions: number;
  /** Processes of the notification service. */
  notifiers: number;
}

const settings: readonly NotifyingSetup[] = [
  { triggers: 200, partitions: 6, notifiers: 1 },
  { triggers: 200, partitions: 6, notifiers: 2 },
  { triggers: 21, partitions: 1, notifiers: 1 },
  { triggers: 200, partitions: 1, notifiers: 1 },
];
/** The rate of the warm-up as a share of the measured rate: cold processes could not keep up with the full rate. */
const warmUpShare = 0.5;
const probesPerSecond = 10;
const timeoutMs = 60_000;

export async function measureNotifying(
  endpoints: PlatformEndpoints,
  generator: LoadGenerator,
  { leads, eventsPerSecond, warmUpMs, measuredMs }: NotifyingSizes,
  rounds: number,
  say: (message: string) => void,
): Promise<NotifyingResult> {
  const measure = async (setting: NotifyingSetup): Promise<NotifyingRound> => {
    const port = await freePort();
    const notifier = await startNotifier(endpoints, setting, `http://127.0.0.1:${port}/`);
    try {
      const pace = (plan: WorkloadPlan, rate: number, forMs: number): Pace => ({
        do: 'pace',
        target: notifier.target,
        plan,
        connections: 64,
        eventsPerSecond: rate,
        forMs,
        probes: {
          perSecond: probesPerSecond,
          eventType: notifier.probeType,
          readable: { way: 'webhook', port, ouId: notifier.ouId },
          timeoutMs,
        },
      });
      await generator.perform(pace(planOf(leads, 1), eventsPerSecond * warmUpShare, warmUpMs));
      const cpuBefore = notifier.notifierCpuSeconds();
      const { events, probes, probeLatencies } = await generator.perform(
        pace(planOf(leads, 2), eventsPerSecond, measuredMs),
      );
      if (!probeLatencies) throw new Error('no notification was timed');
      return {
        latencies: probeLatencies,
        notifierCpuPerEventUs: ((notifier.notifierCpuSeconds() - cpuBefore) * 1_000_000) / (events + probes),
      };
    } finally {
      await notifier.stop();
    }
  };
  const contenders = settings.map((setting) => ({
    ...setting,
    name:
      `${setting.triggers} triggers, ${counted(setting.partitions, 'partition')}, ` +
      counted(setting.notifiers, 'notifier'),
  }));
  const measured = await interleaved(contenders, rounds, measure, {
    say,
    describe: ({ latencies, notifierCpuPerEventUs }) =>
      `POST to webhook p50 ${latencies.p50.toFixed(0)} ms, p99 ${latencies.p99.toFixed(0)} ms, ` +
      `${notifierCpuPerEventUs.toFixed(1)} µs of notification an event`,
  });
  return {
    leads,
    eventsPerSecond,
    contenders: settings.map((setting, index) => ({ ...setting, rounds: measured[index]?.rounds ?? [] })),
  };
}

/** Warm-up (1) and measurement (2) have the same leads, so that the measurement is of known leads. */
function planOf(leads: number, time: 1 | 2): WorkloadPlan {
  const events = leads * 5;
  return {
    name: 'notify',
    seed: time,
    leads,
    events,
    eventsPerRequest: 100,
    distribution: 'even',
    firstEventAt: Date.now() - 3_600_000 + (time - 3) * events,
  };
}
