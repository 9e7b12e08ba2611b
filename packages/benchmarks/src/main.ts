// `npm run bench`: starts the servers, measures, prints the tables and writes them to RESULTS.md.
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { startPlatform, type PlatformEndpoints } from '@lead-scoring/platform';
import { MongoClient } from 'mongodb';
import { measureAccepting } from './accepting.js';
import { measureCapacity } from './capacity.js';
import { capacityPlot, capacityPlotFile } from './capacity-plot.js';
import { measureAnalytics } from './analytics.js';
import { measureDecay } from './decay.js';
import { measureDeletions } from './deletions.js';
import { measureImports } from './imports.js';
import { measureJoins } from './joins.js';
import { startLoadGenerator, type LoadGenerator } from './load/load-generator.js';
import { describeMachine } from './machine.js';
import { measureNotifying } from './notifying.js';
import { allParts, readOptions, usage, type Options } from './options.js';
import { measurePostToReadable } from './post-to-readable.js';
import { measureQueries } from './queries.js';
import { reportOf, withPartsOf, type Results } from './report.js';
import { measureRules } from './rules.js';
import { measureScaling } from './scaling.js';
import { measureSigningIn } from './signing-in.js';
import { measureSources } from './sources.js';
import { measureWhatIf } from './what-if.js';

const fullSizes = {
  accepting: { warmUpMs: 3_000, measuredMs: 10_000 },
  postToReadable: {
    warmUpEvents: 20_000,
    sizes: [
      { leads: 1_000, events: 200_000, latency: false },
      { leads: 20_000, events: 200_000, latency: true },
      { leads: 200_000, events: 400_000, latency: false },
    ],
    latencyMs: 30_000,
  },
  queries: {
    leads: 200_000,
    events: 1_000_000,
    forMs: 10_000,
    atLeast: 200,
    backgroundEventsPerSecond: 2_000,
  },
  notifying: { leads: 20_000, eventsPerSecond: 2_000, warmUpMs: 60_000, measuredMs: 30_000 },
  capacity: {
    cells: [
      { eventsPerRequest: 100, leads: 20_000, partitions: 6 },
      { eventsPerRequest: 1, leads: 20_000, partitions: 6 },
      { eventsPerRequest: 500, leads: 20_000, partitions: 6 },
      { eventsPerRequest: 100, leads: 20_000, partitions: 1 },
      { eventsPerRequest: 100, leads: 20_000, partitions: 48 },
      { eventsPerRequest: 100, leads: 200_000, partitions: 6 },
    ],
    firstRate: 500,
    trialMs: 15_000,
    heldMs: 60_000,
  },
  rules: { leads: 20_000, warmUpEvents: 40_000, events: 40_000, turnsInRound: 5, updates: 20 },
  decay: {
    leads: 100_000,
    warmUpEvents: 200_000,
    dueAfterMs: 60_000,
    live: { leads: 5_000, eventsPerSecond: 2_000 },
  },
  analytics: {
    leads: 20_000,
    events: 1_000_000,
    forMs: 5_000,
    atLeast: 200,
    exports: { pages: 500, rounds: 1 },
  },
  whatIf: {
    leads: 20_000,
    warmUpEvents: 40_000,
    events: 1_000_000,
    live: { leads: 5_000, eventsPerSecond: 1_000, forMs: 30_000 },
    switchedLeads: 200_000,
  },
  // The large upload has 4 million events of 250 bytes: a gigabyte.
  imports: { leads: 20_000, events: 200_000, largeTimes: 20, rows: 200_000 },
  deletions: {
    leads: 10_000,
    events: 100_000,
    live: { leads: 5_000, eventsPerSecond: 1_000, warmUpMs: 30_000 },
  },
  joins: {
    pastEvents: 50,
    live: { leads: 5_000, eventsPerSecond: 500 },
    fewPerSecond: 10,
    manyPerSecond: 100,
    forMs: 20_000,
    segment: { warmUpMs: 3_000, turnMs: 2_000 },
  },
  sources: { leads: 20_000, warmUpEvents: 40_000, events: 200_000, doorMs: 10_000 },
  signingIn: { warmUpMs: 3_000, turnMs: 2_000 },
  scaling: { leads: 20_000, warmUpEvents: 40_000, events: 40_000, sharePercent: 20 },
};

const quickSizes: typeof fullSizes = {
  accepting: { warmUpMs: 500, measuredMs: 1_500 },
  postToReadable: {
    warmUpEvents: 2_000,
    sizes: [
      { leads: 500, events: 10_000, latency: false },
      { leads: 2_000, events: 10_000, latency: true },
    ],
    latencyMs: 3_000,
  },
  queries: { leads: 2_000, events: 10_000, forMs: 500, atLeast: 20, backgroundEventsPerSecond: 1_000 },
  notifying: { leads: 500, eventsPerSecond: 1_000, warmUpMs: 1_000, measuredMs: 3_000 },
  capacity: {
    cells: [{ eventsPerRequest: 100, leads: 1_000, partitions: 6 }],
    firstRate: 2_000,
    trialMs: 2_000,
    heldMs: 4_000,
  },
  rules: { leads: 500, warmUpEvents: 2_000, events: 5_000, turnsInRound: 2, updates: 2 },
  decay: {
    leads: 2_000,
    warmUpEvents: 2_000,
    dueAfterMs: 10_000,
    live: { leads: 500, eventsPerSecond: 500 },
  },
  analytics: { leads: 500, events: 5_000, forMs: 500, atLeast: 20, exports: { pages: 10, rounds: 1 } },
  whatIf: {
    leads: 500,
    warmUpEvents: 2_000,
    events: 5_000,
    live: { leads: 500, eventsPerSecond: 500, forMs: 3_000 },
    switchedLeads: 1_000,
  },
  imports: { leads: 500, events: 5_000, largeTimes: 4, rows: 5_000 },
  deletions: { leads: 500, events: 5_000, live: { leads: 500, eventsPerSecond: 500, warmUpMs: 1_000 } },
  joins: {
    pastEvents: 50,
    live: { leads: 500, eventsPerSecond: 500 },
    fewPerSecond: 5,
    manyPerSecond: 20,
    forMs: 3_000,
    segment: { warmUpMs: 500, turnMs: 300 },
  },
  sources: { leads: 500, warmUpEvents: 2_000, events: 10_000, doorMs: 1_500 },
  signingIn: { warmUpMs: 500, turnMs: 300 },
  scaling: { leads: 500, warmUpEvents: 2_000, events: 2_000, sharePercent: 15 },
};

/**
 * @param root the checkout, its dependencies installed and its packages built
 * @param flags see `usage`
 */
export async function main(root: string, flags: readonly string[]): Promise<void> {
  const options = optionsOrExit(root, flags);
  const shutdown = new Shutdown();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => void shutdown.exit(130));
  try {
    const platform = await startPlatform({ environment: process.env, onProgress: say });
    shutdown.stopLater(() => platform.stop());
    const generator = startLoadGenerator();
    shutdown.stopLater(() => generator.stop());
    const { endpoints } = platform;
    const { rounds, quick } = options;
    const results: Results = {
      machine: describeMachine(root, platform, await mongodbVersionOf(endpoints)),
      startedAt: new Date().toISOString(),
      rounds,
      quick,
    };
    await measureParts(results, options, endpoints, generator);
    await publish(results, options);
    await shutdown.exit(0);
  } catch (error) {
    process.stderr.write(`\n${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    await shutdown.exit(1);
  }
}

function optionsOrExit(root: string, flags: readonly string[]): Options {
  try {
    return readOptions(flags, join(root, 'packages/benchmarks/RESULTS.md'));
  } catch (error) {
    process.stderr.write(`${messageOf(error)}\n${usage}`);
    process.exit(64);
  }
}

/** Runs the registered functions, the last first, and ends the process; a second call does nothing. */
class Shutdown {
  readonly #stops: (() => Promise<void> | void)[] = [];
  #begun = false;

  stopLater(stop: () => Promise<void> | void): void {
    this.#stops.push(stop);
  }

  async exit(code: number): Promise<void> {
    if (this.#begun) return;
    this.#begun = true;
    for (const stop of this.#stops.reverse()) await stop();
    process.exit(code);
  }
}

/** Measures a part if it is requested. */
type Part = (letter: Options['parts'][number], title: string, measure: () => Promise<void>) => Promise<void>;

/** Runs each requested part and adds its result to the results. */
async function measureParts(
  results: Results,
  options: Options,
  endpoints: PlatformEndpoints,
  generator: LoadGenerator,
): Promise<void> {
  const { parts, rounds, quick } = options;
  const sizes = quick ? quickSizes : fullSizes;
  const before = options.before === undefined ? undefined : { root: resolve(options.before) };
  const part: Part = async (letter, title, measure) => {
    if (!parts.includes(letter)) return;
    say(`(${letter}) ${title}`);
    await measure();
  };
  await part('a', 'Accepting: POST /ingest', async () => {
    results.accepting = await measureAccepting(endpoints, generator, sizes.accepting, rounds, before, say);
  });
  await part('b', 'From POST to readable score', async () => {
    results.postToReadable = await measurePostToReadable(
      endpoints,
      generator,
      sizes.postToReadable,
      rounds,
      before,
      say,
    );
  });
  await part('c', 'Latencies of reads', async () => {
    results.queries = await measureQueries(endpoints, generator, sizes.queries, say);
  });
  await part('d', 'From POST to notification', async () => {
    results.notifying = await measureNotifying(endpoints, generator, sizes.notifying, rounds, say);
  });
  await part('e', 'Capacity', async () => {
    const cells = options.cells ?? sizes.capacity.cells;
    results.capacity = await measureCapacity(endpoints, generator, { ...sizes.capacity, cells }, before, say);
  });
  await part('f', 'Costs of rules', async () => {
    results.rules = await measureRules(endpoints, generator, sizes.rules, rounds, say);
  });
  await measureWork(results, part, { endpoints, generator, sizes, rounds });
}

/** The parts about other work than single events: ticks, reads of many, jobs, and other ways in. */
async function measureWork(
  results: Results,
  part: Part,
  {
    endpoints,
    generator,
    sizes,
    rounds,
  }: {
    endpoints: PlatformEndpoints;
    generator: LoadGenerator;
    sizes: typeof fullSizes;
    rounds: number;
  },
): Promise<void> {
  await part('g', 'Decay', async () => {
    results.decay = await measureDecay(endpoints, generator, sizes.decay, rounds, say);
  });
  await part('h', 'Analytics', async () => {
    results.analytics = await measureAnalytics(endpoints, generator, sizes.analytics, say);
  });
  await part('i', 'What-ifs and rescorings', async () => {
    results.whatIf = await measureWhatIf(endpoints, generator, sizes.whatIf, rounds, say);
  });
  await part('j', 'Imports', async () => {
    results.imports = await measureImports(endpoints, generator, sizes.imports, rounds, say);
  });
  await part('k', 'Deletion of events', async () => {
    results.deletions = await measureDeletions(endpoints, generator, sizes.deletions, rounds, say);
  });
  await part('l', 'Visitors who say who they are, and Segment', async () => {
    results.joins = await measureJoins(endpoints, generator, sizes.joins, rounds, say);
  });
  await part('m', 'A Kafka topic as a source', async () => {
    results.sources = await measureSources(endpoints, generator, sizes.sources, rounds, say);
  });
  await part('n', 'Signing in', async () => {
    results.signingIn = await measureSigningIn(endpoints, generator, sizes.signingIn, rounds, say);
  });
  await part('o', 'Several processes of a service', async () => {
    results.scaling = await measureScaling(endpoints, generator, sizes.scaling, rounds, say);
  });
}

/** Prints the report and, when there is an output file, writes the report to it and the plot of the capacity beside it. */
async function publish(results: Results, { output, parts }: Options): Promise<void> {
  const report = reportOf(results);
  say(`\n${report}`);
  if (output === undefined) {
    say('Not written to a file: a quick run or a comparison is only written with --output FILE.');
    return;
  }
  await write(output, report, parts.length === allParts.length);
  if (results.capacity)
    await writeFile(join(dirname(output), capacityPlotFile), capacityPlot(results.capacity));
}

/** Writes the report. When only some parts were measured, they replace those parts of the file. */
async function write(file: string, report: string, isWhole: boolean): Promise<void> {
  const known = isWhole ? null : await readFile(file, 'utf8').catch(() => null);
  await writeFile(file, known === null ? report : withPartsOf(known, report));
}

/** The name and version of the database, which may be FerretDB. */
async function mongodbVersionOf(endpoints: PlatformEndpoints): Promise<string> {
  const client = await MongoClient.connect(endpoints.mongodbUri);
  try {
    const build = await client.db('admin').command({ buildInfo: 1 });
    const ferretdb = (build.ferretdb as { version?: string } | undefined)?.version;
    return ferretdb === undefined
      ? `MongoDB ${String(build.version)}`
      : `FerretDB ${ferretdb.replace(/^v/, '')}`;
  } finally {
    await client.close();
  }
}

function say(message: string): void {
  process.stdout.write(`${message}\n`);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
