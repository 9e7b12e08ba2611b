// (d) From POST /ingest to the first byte at a webhook, while events come in at a fixed rate: with few triggers and with
// many, to see that triggers which are not concerned cost nothing.
import { freePort, type PlatformEndpoints } from '@lead-scoring/platform';
import { startNotifier } from './contenders/whole-system.js';
import type { LoadGenerator } from './load/load-generator.js';
import type { Pace } from './load/protocol.js';
import { interleaved } from './rounds.js';
import type { Latencies } from './statistics.js';
import type { WorkloadPlan } from './workload.js';

export interface NotifyingSizes {
  leads: number;
  eventsPerSecond: number;
  warmUpMs: number;
  measuredMs: number;
}

interface NotifyingRound {
  /** From the moment an event is due to be sent to the first byte of its notification. */
  told: Latencies;
  /** Processor time of the notification service, microseconds an event. */
  notifierCpuPerEventUs: number;
}

export interface NotifyingResult {
  leads: number;
  eventsPerSecond: number;
  contenders: { triggers: number; rounds: NotifyingRound[] }[];
}

const triggerCounts = [21, 200];
const probesPerSecond = 10;
const timeoutMs = 60_000;

export async function measureNotifying(
  endpoints: PlatformEndpoints,
  generator: LoadGenerator,
  { leads, eventsPerSecond, warmUpMs, measuredMs }: NotifyingSizes,
  rounds: number,
  say: (message: string) => void,
): Promise<NotifyingResult> {
  const measure = async ({ triggers }: { triggers: number }): Promise<NotifyingRound> => {
    const port = await freePort();
    const notifier = await startNotifier(endpoints, triggers, `http://127.0.0.1:${port}/`);
    try {
      const pace = (name: string, forMs: number): Pace => ({
        do: 'pace',
        target: notifier.target,
        plan: planOf(name, leads),
        connections: 64,
        eventsPerSecond,
        forMs,
        probes: {
          perSecond: probesPerSecond,
          eventType: notifier.probeType,
          readable: { way: 'webhook', port, ouId: notifier.ouId },
          timeoutMs,
        },
      });
      await generator.perform(pace('warmup', warmUpMs));
      const cpuBefore = notifier.notifierCpuSeconds();
      const { events, probes, probeLatencies } = await generator.perform(pace('notify', measuredMs));
      if (!probeLatencies) throw new Error('no notification was timed');
      return {
        told: probeLatencies,
        notifierCpuPerEventUs: ((notifier.notifierCpuSeconds() - cpuBefore) * 1_000_000) / (events + probes),
      };
    } finally {
      await notifier.stop();
    }
  };
  const contenders = triggerCounts.map((triggers) => ({ name: `${triggers} triggers`, triggers }));
  const measured = await interleaved(contenders, rounds, measure, {
    say,
    describe: ({ told, notifierCpuPerEventUs }) =>
      `POST to webhook p50 ${told.p50.toFixed(0)} ms, p99 ${told.p99.toFixed(0)} ms, ` +
      `${notifierCpuPerEventUs.toFixed(1)} µs of notification an event`,
  });
  return {
    leads,
    eventsPerSecond,
    contenders: measured.map((one, index) => ({
      triggers: triggerCounts[index] ?? 0,
      rounds: one.rounds,
    })),
  };
}

function planOf(name: string, leads: number): WorkloadPlan {
  const events = leads * 5;
  return {
    name,
    seed: 13,
    leads,
    events,
    eventsPerRequest: 100,
    distribution: 'even',
    firstEventAt: Date.now() - 3_600_000 - events,
  };
}
