// (f) Costs of rules: what an event costs with 1,000 rules, of which 20 concern its type, against those 20 alone; and how long it takes
// to change 100 of 1,000 rules at once.
import { createClient, type Client } from '@lead-scoring/client';
import type { PlatformEndpoints } from '@lead-scoring/platform';
import { rulesetName, startSystemWithRules, type RunningRuledSystem } from './contenders/whole-system.js';
import { floodUntilReadable, type LoadGenerator } from './load/load-generator.js';
import { interleaved } from './rounds.js';
import { latenciesOf, type Latencies } from './statistics.js';
import { checkTotals, expectedTotals } from './totals.js';
import {
  eventTypes,
  pageViewRules,
  rulesOfOtherTypes,
  type RuleForm,
  type WorkloadPlan,
} from './workload.js';

export interface RulesSizes {
  leads: number;
  warmUpEvents: number;
  /** Events of one turn of a contender. */
  events: number;
  turnsInRound: number;
  /** How often 100 rules are switched off and on again, and are given another weight twice. */
  updates: number;
}

interface RulesRound {
  /** Over the time from the first POST until all events were readable. */
  eventsPerSecond: number;
  /** Processor time of the contender's own processes, in microseconds per event. */
  cpuPerEventUs: number;
}

export interface RulesResult {
  leads: number;
  events: number;
  /** First the one with the fewest rules. */
  contenders: { name: string; rounds: RulesRound[] }[];
  /** From the request until its answer, which comes when the changed rules are in force. */
  updates: { name: string; latencies: Latencies }[];
}

type Running = RunningRuledSystem & { name: string };

const ofType: readonly RuleForm[] = pageViewRules.map(({ form }) => form);
const mostRules = 1_000;
const contenders: readonly { name: string; rules: readonly RuleForm[] }[] = [
  { name: "20 rules, all of the events' type", rules: ofType },
  {
    name: "1,000 rules, 20 of them of the events' type",
    rules: [...ofType, ...rulesOfOtherTypes(mostRules - ofType.length)],
  },
];
const changedAtOnce = 100;

/** The contenders run at the same time and take short turns, so that a slowdown of the machine affects both. */
export async function measureRules(
  endpoints: PlatformEndpoints,
  generator: LoadGenerator,
  { leads, warmUpEvents, events, turnsInRound, updates }: RulesSizes,
  rounds: number,
  say: (message: string) => void,
): Promise<RulesResult> {
  const warmUp = planOf(leads, warmUpEvents);
  const plan = planOf(leads, events);
  const turns = rounds * turnsInRound;
  const running: Running[] = [];
  try {
    for (const { name, rules } of contenders)
      running.push({ name, ...(await startSystemWithRules(endpoints, rules)) });
    for (const one of running) await flood(generator, one, warmUp);
    const measured = await interleaved(running, turns, (one) => flood(generator, one, plan), {
      say,
      describe: ({ eventsPerSecond, cpuPerEventUs }) =>
        `${Math.round(eventsPerSecond)} events/s to readable, ${cpuPerEventUs.toFixed(1)} µs an event`,
    });
    for (const one of running) await checkScores(one, warmUp, plan, turns);
    const largest = running.at(-1);
    if (!largest) throw new RangeError('there is no contender');
    return { leads, events, contenders: measured, updates: await measureUpdates(largest, updates, say) };
  } finally {
    for (const one of running) await one.stop();
  }
}

async function flood(generator: LoadGenerator, running: Running, plan: WorkloadPlan): Promise<RulesRound> {
  const cpuBefore = running.cpuSeconds();
  const result = await floodUntilReadable(generator, running, plan);
  return {
    eventsPerSecond: result.events / (result.readableMs / 1_000),
    cpuPerEventUs: ((running.cpuSeconds() - cpuBefore) * 1_000_000) / result.events,
  };
}

/** @throws Error when the leads have other scores than the rules of the events' type give */
async function checkScores(
  running: Running,
  warmUp: WorkloadPlan,
  plan: WorkloadPlan,
  turns: number,
): Promise<void> {
  const first = expectedTotals(warmUp, 'page-view-rules');
  const turn = expectedTotals(plan, 'page-view-rules');
  checkTotals(running.name, await running.totals(), {
    // Both plans have the same leads.
    leads: plan.leads,
    events: first.events + turns * turn.events,
    score: first.score + turns * turn.score,
  });
}

async function measureUpdates(
  { target, token, ouId }: RunningRuledSystem,
  times: number,
  say: (message: string) => void,
): Promise<RulesResult['updates']> {
  const client = createClient({ baseUrl: target.baseUrl, token });
  const rule_ids = await lastRules(client);
  const switching = await timed(2 * times, async (number) => {
    const updates = { active: number % 2 === 1 };
    const { updated_count } = await client.call('setRulesActive', {
      parameters: { ouId },
      body: { rule_ids, updates },
    });
    if (updated_count !== changedAtOnce) throw new Error(`${updated_count} rules were switched`);
  });
  const changing = await timed(2 * times, async (number) => {
    const rules = [...ofType, ...rulesOfOtherTypes(mostRules - ofType.length)].map((rule, index) =>
      index < mostRules - changedAtOnce ? rule : { ...rule, weight: 2 + number },
    );
    const { total } = await client.call('putConfiguration', {
      body: { engagement_rulesets: [{ name: rulesetName, rules }] },
    });
    if (total !== changedAtOnce) throw new Error(`${total} changes were made`);
  });
  const updates = [
    { name: `PATCH …/scoring-rules/bulk: ${changedAtOnce} rules switched on or off`, latencies: switching },
    { name: `PUT /scoring/configuration: ${changedAtOnce} rules with another weight`, latencies: changing },
  ];
  for (const { name, latencies } of updates)
    say(`  ${name}: p50 ${latencies.p50.toFixed(0)} ms, at most ${latencies.max.toFixed(0)} ms`);
  return updates;
}

/** The ids of the rules that were created last. */
async function lastRules(client: Client): Promise<string[]> {
  const { data } = await client.call('listRules', {
    query: { page: mostRules / changedAtOnce, limit: changedAtOnce },
  });
  return data.map(({ id }) => id);
}

async function timed(times: number, work: (number: number) => Promise<void>): Promise<Latencies> {
  const latencies: number[] = [];
  for (let number = 0; number < times; number += 1) {
    const begun = performance.now();
    await work(number);
    latencies.push(performance.now() - begun);
  }
  return latenciesOf(Float64Array.from(latencies));
}

function planOf(leads: number, events: number): WorkloadPlan {
  return {
    name: 'rules',
    seed: 13,
    leads,
    events,
    eventsPerRequest: 500,
    distribution: 'even',
    firstEventAt: Date.now() - 3_600_000,
    eventType: eventTypes[0],
  };
}
