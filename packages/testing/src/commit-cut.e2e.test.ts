// The connection to the transaction coordinator breaks at the end of transactions, before the broker gets EndTxn or after it has
// answered, so that the service does not know whether the transaction was committed. Every event counts once, and the service
// commits again within 15 s. `npm run test:chaos` cuts 200 transactions.
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '@lead-scoring/platform/waiting';
import { seededRandom, type Random } from '@lead-scoring/start/random';
import { startCommitCuttingProxy, type CommitCuttingProxy } from './commit-cutting-proxy.js';
import { isFullSize } from './full-size.js';
import { auditUntilRight, nothingWrong, traffic, untilVisible, type Ledger } from './ledger.js';
import { startBrokerBehind, startSystemOn, type OwnBrokers } from './own-servers.js';
import { upToScoring, type TestSystem } from './test-system.js';

const cutsAtLeast = isFullSize ? 200 : 6;
/** The share of transactions whose end is cut off. */
const share = 0.2;
/** Between two requests of a sender: transactions are to go on until the last cut, with few events in each. */
const pauseMs = isFullSize ? 50 : 0;
const healedWithinMs = 15_000;
// Another seed: other moments.
const seed = Number(process.env['SEED'] ?? 20_260_606);

let proxy: CommitCuttingProxy;
let broker: OwnBrokers;
let system: TestSystem;
let ledger: Ledger;
let stop: () => Promise<void>;

beforeAll(async () => {
  proxy = await startCommitCuttingProxy();
  broker = await startBrokerBehind(proxy);
  ({ system, ledger, stop } = await startSystemOn(broker, isFullSize ? {} : { instances: upToScoring }));
}, 240_000);

afterAll(async () => {
  await stop();
  await proxy.stop();
}, 60_000);

/** Requests without an end. */
function* endlessTraffic(random: Random, name: string) {
  for (let part = 0; ; part += 1)
    yield* traffic({
      random,
      events: 5_000,
      leads: 1_000,
      repeats: 0.05,
      batch: [1, 60],
      name: `${name}-${part}`,
    });
}

test(
  `${cutsAtLeast} transactions whose end is cut off under load: each event counts once, its service commits again within 15 s (seed ${seed})`,
  async () => {
    const random = seededRandom(seed);
    const over = new AbortController();
    const sender = async (name: string) => {
      for (const batch of endlessTraffic(random, name)) {
        if (over.signal.aborted) return;
        await ledger.deliver(batch, 60_000);
        await delay(pauseMs);
      }
    };
    const senders = [sender('one'), sender('other')];
    proxy.cutWhen(() => {
      if (proxy.cuts.length >= cutsAtLeast || random.next() >= share) return 'never';
      return random.next() < 0.5 ? 'before' : 'after';
    });
    await eventually(
      `${cutsAtLeast} ends of transactions are cut off`,
      () => proxy.cuts.length >= cutsAtLeast,
      isFullSize ? 1_200_000 : 120_000,
    );
    await eventually(
      'each service has ended another transaction',
      () => proxy.cuts.every(({ healedAfterMs }) => healedAfterMs !== undefined),
      60_000,
    );
    over.abort();
    await Promise.all(senders);
    expect(new Set(proxy.cuts.map(({ answered }) => answered)).size).toBe(2);
    expect(Math.max(...proxy.cuts.map(({ healedAfterMs = Infinity }) => healedAfterMs))).toBeLessThan(
      healedWithinMs,
    );
    await untilVisible(system, ledger, 120_000);
    expect(await auditUntilRight(system, ledger, 60_000)).toEqual(nothingWrong);
  },
  isFullSize ? 1_800_000 : 420_000,
);
