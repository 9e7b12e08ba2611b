// The search for the highest rate that is held under a limit of latency. Pure, but for the trials that it asks for.

/** What was seen at one rate. */
export interface Trial {
  eventsPerSecond: number;
  /** Whether it lasted as long as a rate must be held; a shorter one only shows where to look. */
  isHeld: boolean;
  /** Ended because events were far too late. */
  gaveUp: boolean;
  p50Ms: number;
  p99Ms: number;
}

const halvings = 3;
/** Rates that lie no further apart are not told apart by a short trial. */
const nearEnough = 1.05;
/** A rate that a short trial passed and a long one did not is tried a little lower. */
const holdAgainAt = 0.9;
const holdsAtMost = 6;
const leastRate = 5;

/**
 * Doubles the rate until the first limit is broken, and for each limit halves the step between the last rate that kept it and
 * the first that did not, three times, and then holds the best; where it is not held, nine tenths of it.
 * @param limitsMs the widest first
 * @param trial sends at a rate, for long where it is to be held
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

/** Looks between the highest rate that kept the limit and the lowest that broke it; where none kept it, further below. */
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

/** The highest rate below every one that broke the limit, 0 for none, and the lowest of those. */
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
