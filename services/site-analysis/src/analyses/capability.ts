// Analyses of websites as a capability: a request begins one beside the log, and its end is a command that answers all that
// wait for it.
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
import { nameOf } from './keys.js';
import type { AnalysisCommand, AnalysisEvent, Conditions } from './messages.js';
import type { Analysis } from './state.js';

interface SiteAnalyses extends AggregateShape {
  state: Analysis | null;
  command: AnalysisCommand;
  event: AnalysisEvent;
  context: Conditions;
}

export interface SiteAnalysesDependencies {
  /** Shared by the partitions of a process, and not stopped with one of them. */
  runner: AnalysisRunner;
  refusalOf: Conditions['refusalOf'];
  /** Milliseconds from a request to the moment at which its caller no longer waits. */
  wantedForMs: number;
  now: () => Date;
}

/** An analysis taken over is run again when at least this is left of the time that its caller waits. */
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
    keyOf: ({ payload }) => nameOf(payload),
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
    // A result may have a thousand paths, and whoever asks again asks soon.
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
