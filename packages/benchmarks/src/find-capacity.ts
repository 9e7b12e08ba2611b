// The search for the highest rate that a contender holds under a limit of latency. Pure, except for the trials, which a parameter runs.

/** The latencies at one rate. */
export interface Trial {
  eventsPerSecond: number;
  /** Whether the trial lasted as long as a rate must be held. A shorter trial only narrows the search. */
  isHeld: boolean;
  /** Whether the trial ended early because an event was not readable within 3 s. */
  gaveUp: boolean;
  p50Ms: number;
  p99Ms: number;
}

const halvings = 3;
/** A short trial does not distinguish rates whose ratio is smaller. */
const nearEnough = 1.05;
/** After a long trial has failed at a rate that passed a short one, the next long trial has this part of the rate. */
const holdAgainAt = 0.9;
const holdsAtMost = 6;
const leastRate = 5;

/**
 * Doubles the rate until a trial breaks the first limit. Then, for each limit, it narrows the range between the highest rate that
 * kept the limit and the lowest that broke it in three trials, each at their geometric mean, and runs a long trial at the highest
 * rate that kept it; when that fails, long trials follow at 0.9 of the rate before.
 * @param limitsMs the widest first
 * @param trial sends events at a rate; `isHeld` asks for a long trial
 */
export async function findCapacity(
  limitsMs: readonly number[],
  firstRate: number,
  trial: (eventsPerSecond: number, isHeld: boolean) => Promise<Trial>,
): Promise<{ trials: Trial[]; held: { limitMs: number; eventsPerSecond: number }[] }> {
  const trials: Trial[] = [];
  const run = async (rate: number, isHeld = false): Promise<Trial> => {
    const done = await trial(Math.round(rate), isHeld);
    trials.push(done);
    return done;
  };
  const [widest = Infinity] = limitsMs;
  for (let rate = firstRate; isWithin(await run(rate), widest);) rate *= 2;
  const held: { limitMs: number; eventsPerSecond: number }[] = [];
  for (const limitMs of limitsMs) {
    await narrow(trials, limitMs, run);
    held.push({ limitMs, eventsPerSecond: await hold(trials, limitMs, run) });
  }
  return { trials, held };
}

type Run = (rate: number, isHeld?: boolean) => Promise<Trial>;

/** Tries rates between the highest that kept the limit and the lowest that broke it; where none kept it, lower ones first. */
async function narrow(trials: readonly Trial[], limitMs: number, run: Run): Promise<void> {
  for (
    let { kept, broken } = boundsOf(trials, limitMs);
    kept === 0;
    { kept, broken } = boundsOf(trials, limitMs)
  ) {
    if (broken / 2 < leastRate) return;
    await run(broken / 2);
  }
  for (let halving = 0; halving < halvings; halving += 1) {
    const { kept, broken } = boundsOf(trials, limitMs);
    if (broken / kept < nearEnough) return;
    await run(Math.sqrt(kept * broken));
  }
}

async function hold(trials: readonly Trial[], limitMs: number, run: Run): Promise<number> {
  let rate = boundsOf(trials, limitMs).kept;
  for (let attempt = 0; attempt < holdsAtMost && rate >= leastRate; attempt += 1) {
    const known = trials.find((one) => one.isHeld && one.eventsPerSecond === Math.round(rate));
    const done = known ?? (await run(rate, true));
    if (isWithin(done, limitMs)) return done.eventsPerSecond;
    rate *= holdAgainAt;
  }
  return 0;
}

/** The lowest rate that broke the limit, and the highest rate below it that kept the limit; 0 where none did. */
function boundsOf(trials: readonly Trial[], limitMs: number): { kept: number; broken: number } {
  const broken = Math.min(
    ...trials.filter((one) => !isWithin(one, limitMs)).map(({ eventsPerSecond }) => eventsPerSecond),
  );
  const kept = trials
    .filter((one) => isWithin(one, limitMs) && one.eventsPerSecond < broken)
    .map(({ eventsPerSecond }) => eventsPerSecond);
  return { kept: Math.max(0, ...kept), broken };
}

function isWithin({ p99Ms, gaveUp }: Trial, limitMs: number): boolean {
  return !gaveUp && p99Ms < limitMs;
}
