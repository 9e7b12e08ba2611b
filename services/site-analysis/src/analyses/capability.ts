// Analyses of websites as an effect: a request starts an analysis outside the log, and a command records its end and answers all
// callers that wait for it.
import {
  callerHeaders,
  callerOf,
  effect,
  type AggregateShape,
  type ChangedState,
  type EffectWork,
} from '@lead-scoring/capability';
import { records } from '@lead-scoring/contracts';
import type { ReadModel } from '@lead-scoring/read-model';
import type { AnalysisRunner } from '../running/runner.js';
import { conditionsAfter, decideAnalysis } from './decide.js';
import { analysisStorage, findRunning } from './documents.js';
import { evolveAnalysis } from './evolve.js';
import { aggregateKeyOf } from './keys.js';
import type { AnalysisCommand, AnalysisEvent, Conditions } from './messages.js';
import type { Analysis } from './state.js';

interface SiteAnalyses extends AggregateShape {
  state: Analysis | null;
  command: AnalysisCommand;
  event: AnalysisEvent;
  context: Conditions;
}

export interface SiteAnalysesDependencies {
  /** Shared by all partitions of a process; it is not stopped with one of them. */
  runner: AnalysisRunner;
  refusalOf: Conditions['refusalOf'];
  /** The time after a request at which its caller no longer waits. */
  wantedForMs: number;
  now: () => Date;
}

/** An unfinished analysis is run again by the next owner if its caller waits at least this much longer. */
const worthRunningMs = 4_000;

export function siteAnalyses({ runner, refusalOf, wantedForMs, now }: SiteAnalysesDependencies) {
  return effect<SiteAnalyses>({
    name: 'site-analyses',
    commands: { AnalyzeSite: records.analyzeSite, RecordSiteAnalysis: records.recordSiteAnalysis },
    events: {
      SiteAnalysisRequested: records.siteAnalysisRequested,
      SiteAnalyzed: records.siteAnalyzed,
      SiteAnalysisFailed: records.siteAnalysisFailed,
    },
    keyOf: ({ payload }) => aggregateKeyOf(payload),
    recordKeyOf: ({ payload }) => payload.ou_id,
    initial: () => null,
    commandFrom: (record) =>
      ({ type: record.type, payload: record.payload, caller: callerOf(record) }) as AnalysisCommand,
    eventFrom: (record) =>
      ({ type: record.type, payload: record.payload, caller: callerOf(record) }) as AnalysisEvent,
    headersOf: (event) => (event.type === 'SiteAnalysisRequested' ? callerHeaders(event.caller) : {}),
    contextOf: () => Promise.resolve({ refusalOf, room: runner.room() }),
    contextAfter: conditionsAfter,
    decide: decideAnalysis,
    evolve: (_, event) => evolveAnalysis(event),
    stored: analysisStorage,
    // A state may have a thousand paths, and repeats come soon: few states are cached.
    cachedStates: 10,
    work: ({ readModel, partition }) => analysisWork(readModel, partition, { runner, wantedForMs, now }),
  });
}

function analysisWork(
  readModel: ReadModel,
  partition: number,
  { runner, wantedForMs, now }: Omit<SiteAnalysesDependencies, 'refusalOf'>,
): EffectWork<readonly ChangedState<Analysis | null, AnalysisEvent>[]> {
  return {
    takeUp: async () => {
      for (const analysis of await findRunning(readModel, partition)) {
        const left = Date.parse(analysis.requested_at) + wantedForMs - now().getTime();
        if (left >= worthRunningMs) runner.start(analysis, left);
        else runner.giveUp(analysis);
      }
    },
    changed: (analyses) => {
      for (const { state } of analyses) if (state?.status === 'running') runner.start(state);
    },
  };
}
