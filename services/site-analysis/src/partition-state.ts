// What the service knows of one partition: decides on analyses with it, folds its own events into it, and has those that
// were requested run.
import { records } from '@lead-scoring/contracts';
import {
  isRecord,
  outgoing,
  takenOf,
  type Checkpoint,
  type Decision,
  type FoldedRecord,
  type IncomingRecord,
  type OutgoingRecord,
  type PartitionState,
  type Reply,
} from '@lead-scoring/event-log';
import { createCheckpoints, deletePartition, offsetToNumber, type ReadModel } from '@lead-scoring/read-model';
import { decideEnd, decideRequest, replyOf } from './analyses/decide.js';
import type { AnalysisEvent, Caller, Refusal } from './analyses/events.js';
import { evolveAnalysis } from './analyses/evolve.js';
import type { Analysis } from './analyses/state.js';
import { analyses, analysisPlaces, createAnalysisStore, nameOf, runningAnalyses } from './analyses/store.js';
import { siteAnalysisInputs } from './inputs.js';
import type { AnalysisRunner } from './running/runner.js';

export const processorName = 'site-analysis';
export const siteAnalysisCollections = [analyses, runningAnalyses, analysisPlaces];

export interface PartitionOptions {
  /** Shared by the partitions of a process. */
  runner: AnalysisRunner;
  /** Why this address cannot be asked for, as far as its text tells; null when it can. */
  refusalOf: (url: string) => Refusal | null;
  /** Milliseconds from a request to the moment at which its caller no longer waits. */
  wantedForMs: number;
  now: () => Date;
}

/** An analysis taken over is run again when at least this is left of the time that its caller waits. */
const worthRunningMs = 4_000;

export function openPartition(
  readModel: ReadModel,
  partition: number,
  { runner, refusalOf, wantedForMs, now }: PartitionOptions,
): PartitionState {
  const checkpoints = createCheckpoints(readModel);
  const store = createAnalysisStore(readModel, partition);
  /** Requests for an analysis that runs already. Lost with the partition: such a caller gets 504 and asks again. */
  const awaiting = new Map<string, IncomingRecord[]>();
  let isCaughtUp = false;

  async function decide(incoming: IncomingRecord[]): Promise<Decision> {
    const commands = incoming.flatMap(
      (record) =>
        takenOf('site-analysis.commands', siteAnalysisInputs['site-analysis.commands'], record) ?? [],
    );
    const known: Map<string, Analysis> = await store.load(commands.map(({ payload }) => payload));
    const events: OutgoingRecord[] = [];
    const replies: Reply[] = [];
    let room = runner.room();
    const happen = (name: string, event: AnalysisEvent): Analysis => {
      const analysis = evolveAnalysis(event);
      known.set(name, analysis);
      events.push(eventRecord(event));
      return analysis;
    };
    const answer = (name: string, to: IncomingRecord, reply: records.CommandReplied) => {
      for (const one of [to, ...(awaiting.get(name) ?? [])]) replies.push({ to: one, reply });
      awaiting.delete(name);
    };
    for (const record of commands) {
      const name = nameOf(record.payload);
      switch (record.type) {
        case 'AnalyzeSite': {
          const { payload } = record;
          const decision = decideRequest(payload, callerOf(record), known.get(name) ?? null, {
            refusal: refusalOf(payload.url),
            full: room <= 0,
          });
          if (decision.outcome === 'started') {
            happen(name, decision.event);
            room -= 1;
          } else if (decision.outcome === 'awaited') {
            awaiting.set(name, [...(awaiting.get(name) ?? []), record]);
          } else replies.push({ to: record, reply: decision.reply });
          break;
        }
        case 'RecordSiteAnalysis': {
          const decision = decideEnd(record.payload, known.get(name) ?? null);
          if (decision.outcome === 'answered') answer(name, record, decision.reply);
          else if (decision.outcome === 'ended') {
            const ended = happen(name, decision.event);
            if (ended.status !== 'running') answer(name, record, replyOf(ended));
          }
          break;
        }
      }
    }
    return { events, replies };
  }

  return {
    checkpoint: () => checkpoints.load(processorName, partition),
    decide,
    fold: async (folded: FoldedRecord[]) => {
      const after = await store.fold(
        folded.flatMap((record) => {
          const event = analysisEvent(record);
          return event ? [{ event, offset: offsetToNumber(record.offset) }] : [];
        }),
      );
      if (!isCaughtUp) return;
      for (const analysis of after) if (analysis.status === 'running') runner.start(analysis);
    },
    caughtUp: async () => {
      isCaughtUp = true;
      for (const analysis of await store.running()) {
        const left = Date.parse(analysis.requested_at) + wantedForMs - now().getTime();
        if (left >= worthRunningMs) runner.start(analysis, left);
        else runner.giveUp(analysis);
      }
    },
    store: (checkpoint: Checkpoint) => checkpoints.store(processorName, partition, checkpoint),
    reset: async (touch) => {
      await checkpoints.reset(processorName, partition);
      await deletePartition(readModel, runningAnalyses, partition, touch);
      await deletePartition(readModel, analysisPlaces, partition, touch);
      await deletePartition(readModel, analyses, partition, touch);
    },
  };
}

function callerOf({ headers }: { headers: FoldedRecord['headers'] }): Caller | null {
  const { 'reply-to': reply_to, 'correlation-id': correlation_id } = headers;
  return reply_to !== undefined && correlation_id !== undefined ? { reply_to, correlation_id } : null;
}

function analysisEvent(record: FoldedRecord): AnalysisEvent | null {
  if (isRecord(record, records.siteAnalysisRequested))
    return { type: 'SiteAnalysisRequested', payload: record.payload, caller: callerOf(record) };
  if (isRecord(record, records.siteAnalyzed)) return { type: 'SiteAnalyzed', payload: record.payload };
  if (isRecord(record, records.siteAnalysisFailed))
    return { type: 'SiteAnalysisFailed', payload: record.payload };
  return null;
}

function eventRecord(event: AnalysisEvent): OutgoingRecord {
  const key = event.payload.ou_id;
  switch (event.type) {
    case 'SiteAnalysisRequested': {
      const { payload, caller } = event;
      return outgoing(records.siteAnalysisRequested, {
        key,
        payload,
        ...(caller && {
          headers: { 'reply-to': caller.reply_to, 'correlation-id': caller.correlation_id },
        }),
      });
    }
    case 'SiteAnalyzed':
      return outgoing(records.siteAnalyzed, { key, payload: event.payload });
    case 'SiteAnalysisFailed':
      return outgoing(records.siteAnalysisFailed, { key, payload: event.payload });
  }
}
