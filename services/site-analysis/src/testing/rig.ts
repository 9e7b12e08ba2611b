// The site-analysis service in this process on real servers: commands in through the log, reads through the query port,
// and analyses that end when a test says so.
import { createServiceProcessor } from '@lead-scoring/capability';
import { records as declarations, type SiteAnalysis } from '@lead-scoring/contracts';
import { outgoing } from '@lead-scoring/event-log';
import { eventually, openServiceRig, type ServiceRig } from '@lead-scoring/testing/service-rig';
import { analysisQueries } from '../analyses/queries.js';
import { createAnalysisRunner } from '../running/runner.js';
import { siteAnalysisCollections, siteAnalysisService } from '../service.js';
import { at, ouId } from './builders.js';

/** An analysis that a process has started. */
export interface StartedAnalysis {
  url: string;
  signal: AbortSignal;
  succeed(result: SiteAnalysis): void;
  /** Fails the analysis; a RangeError means that the site is unreachable. */
  fail(error: Error): void;
}

export interface Rig extends Omit<ServiceRig, 'request'> {
  /** The started analyses, in order. */
  started: StartedAnalysis[];
  /** Waits until `count` analyses of this URL have started; resolves with the last. */
  beginning: (url: string, count?: number) => Promise<StartedAnalysis>;
  /** Ends the process and its analyses without a result, as its death would; then starts another process. */
  restart: () => Promise<void>;
  request: (payload: declarations.AnalyzeSite) => Promise<declarations.CommandReplied>;
  /** The milliseconds by which the service's clock is ahead of the time of all requests. */
  clock: { aheadMs: number };
}

export const maximumAtOnce = 3;

export async function startRig({ partitions = 2 } = {}): Promise<Rig> {
  const rig = await openServiceRig({
    service: 'site-analysis',
    collections: siteAnalysisCollections,
    ouId,
    partitions,
  });
  const { log, readModel, writer, logger, onFatal } = rig;
  await rig.serve(analysisQueries(readModel));
  const started: StartedAnalysis[] = [];
  const clock = { aheadMs: 0 };
  const now = () => new Date(Date.parse(at) + clock.aheadMs);

  async function startProcess(): Promise<() => Promise<void>> {
    const runner = await createAnalysisRunner(
      {
        analyze: (url, signal) =>
          new Promise((succeed, fail) => {
            started.push({ url, signal, succeed, fail });
            signal.addEventListener('abort', () => {
              fail(new Error('stopped'));
            });
          }),
        failureOf: (error) =>
          error instanceof RangeError ? { code: 'site_unreachable', message: error.message } : null,
        writer,
        now,
        logger,
      },
      { maximumAtOnce, budgetMs: 60_000 },
    ).start();
    const stopProcessor = await rig.run(
      createServiceProcessor(
        log,
        siteAnalysisService({
          runner: runner.value,
          refusalOf: (url) =>
            url.startsWith('ftp:') ? { code: 'scheme_not_allowed', message: 'Use https.' } : null,
          wantedForMs: 24_000,
          now,
        }),
        { readModel, logger, onFatal },
      ),
    );
    return async () => {
      await stopProcessor();
      await runner.stop();
    };
  }

  let stopProcess = await startProcess();

  return {
    ...rig,
    started,
    clock,
    restart: async () => {
      await stopProcess();
      stopProcess = await startProcess();
    },
    beginning: async (url, count = 1) => {
      const found = () => started.filter((one) => one.url === url);
      await eventually(`${url} is analysed`, () => found().length >= count);
      const last = found().at(-1);
      if (!last) throw new Error(`nobody analyses ${url}`);
      return last;
    },
    request: (payload) =>
      rig.request(outgoing(declarations.analyzeSite, { key: payload.ou_id, payload }), 30_000),
    stop: async () => {
      await stopProcess();
      await rig.stop();
    },
  };
}
