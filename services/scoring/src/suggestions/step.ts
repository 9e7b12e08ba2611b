// What a step of a suggestion finds out. Input and result are plain data, so that a thread of its own can do it.
import type { Job, JobStep } from '@lead-scoring/capability';
import type { records } from '@lead-scoring/contracts';
import type { EventLog } from '@lead-scoring/event-log';
import type { ScoringConfiguration } from '@lead-scoring/scoring-domain';
import { compileRules } from '../scores/rule-model.js';
import { alwaysInForce, draftOf, type DraftDecision } from '../what-if/draft-model.js';
import { foundIn } from '../what-if/found-model.js';
import { readCauses, type HistoryPart } from '../what-if/history.js';
import { rangeOf, readOutcomes, replayed } from '../what-if/replay-group.js';
import { isHeldOut } from './held-out-model.js';
import { packRows, TraitRows, unpackRows } from './rows-model.js';
import { suggestedBy } from './suggest-model.js';
import { chosenTraits, TraitSurvey } from './survey-model.js';
import { coveredBy, EventWalk, eventTraits, profileTraits, type TraitSink } from './trait-model.js';

type Found = records.SuggestionFound;
type FailedStep = Extract<JobStep, { outcome: 'failed' }>;
type StepJob = Pick<Job<records.SuggestionWork>, 'job_id' | 'ou_id' | 'work' | 'started_at' | 'found'>;

/** Each reads the whole log. */
export const phases = ['survey', 'rows', 'judge'] as const;
type Phase = (typeof phases)[number];

/** Where a job goes on: with a partition in a phase. */
export interface Place {
  readonly phase: Phase;
  readonly partition: number;
}

export interface SuggestionStep {
  readonly job: StepJob;
  readonly place: Place;
  /** The rules of when the job began. */
  readonly live: ScoringConfiguration;
}

export function foundBy({ found }: Pick<StepJob, 'found'>): Found {
  return (found ?? {}) as unknown as Found;
}

interface LearningContext {
  readonly live: ScoringConfiguration;
  readonly log: EventLog;
  readonly signal: AbortSignal;
}

/** @returns the findings; failed where the rules refuse what is suggested */
export async function findForSuggestion(
  { job, place, live }: SuggestionStep,
  log: EventLog,
  signal: AbortSignal,
): Promise<Found | FailedStep> {
  const context = { live, log, signal };
  if (place.phase === 'judge') return { judged: await judge(job, place, context) };
  const outcomeTimes = await outcomeTimesIn(job, place, context);
  const hasOutcome = (leadId: string) => outcomeTimes.has(leadId);
  switch (place.phase) {
    case 'survey': {
      const survey = new TraitSurvey(hasOutcome);
      await learn(job, place, { ...context, outcomeTimes, sink: survey });
      return { survey: survey.found(coveredBy(context.live)) };
    }
    case 'rows': {
      const chosen = chosenTraits(foundBy(job).survey ?? { leads: 0, won: 0, traits: [] });
      const rows = new TraitRows(chosen, hasOutcome);
      await learn(job, place, { ...context, outcomeTimes, sink: rows });
      const found = rows.found();
      if (place.partition + 1 < job.work.partitions.length) return { rows: found };
      const known = foundBy(job).rows;
      const all = unpackRows(packRows([...(known ? unpackRows(known) : []), ...unpackRows(found)]));
      const suggested = suggestedBy(chosen, all, {
        configuration: context.live,
        ruleset_id: job.work.ruleset_id,
      });
      const draft = draftBy(job, suggested.changes, context.live);
      if (draft.outcome === 'rejected')
        return { outcome: 'failed', error: { code: draft.code, message: draft.message } };
      return { suggested };
    }
  }
}

function draftBy(
  { job_id, started_at, work }: StepJob,
  changes: records.DraftChange[],
  live: ScoringConfiguration,
): DraftDecision {
  return draftOf({ changes, score_type: work.dimension }, live, { job_id, at: started_at });
}

const noPartition: records.SuggestionWork['partitions'][number] = { ingest_end: 0, scoring_end: 0 };

/** The leads of the sample in a partition: those to learn from or, to judge, those that are held out. */
function partOf(
  { ou_id: ouId, work }: StepJob,
  { phase, partition }: Place,
  signal: AbortSignal,
): HistoryPart {
  const { deleted, ingest_end, scoring_end } = work.partitions[partition] ?? noPartition;
  return {
    ouId,
    partition,
    ends: { ingest_end, scoring_end },
    deleted,
    leads: { from: 0, to: work.sample_end },
    chosen: (leadId) => isHeldOut(leadId) === (phase === 'judge'),
    signal,
  };
}

function outcomeTimesIn(
  job: StepJob,
  place: Place,
  { log, signal }: LearningContext,
): Promise<ReadonlyMap<string, string>> {
  const { work, started_at } = job;
  return readOutcomes(log, partOf(job, place, signal), {
    outcome: work.outcome,
    range: rangeOf(work, started_at),
  });
}

interface OutcomeContext extends LearningContext {
  readonly outcomeTimes: ReadonlyMap<string, string>;
}

/** Tells a sink of the leads to learn from. */
async function learn(
  job: StepJob,
  place: Place,
  { log, signal, live, outcomeTimes, sink }: OutcomeContext & { readonly sink: TraitSink },
): Promise<void> {
  const part = partOf(job, place, signal);
  const range = rangeOf(job.work, job.started_at);
  const rules = compileRules(live);
  if (job.work.dimension === 'engagement') {
    const walk = new EventWalk(sink, eventTraits(rules), { range, outcomeTimes });
    for await (const causes of readCauses(log, part)) walk.take(causes);
    return;
  }
  const replay = await replayed(log, part, {
    configurations: { live, draft: live },
    range,
    outcome: job.work.outcome,
  });
  const traitsOf = profileTraits(rules);
  for (const [leadId, lead] of replay.whole.live.leads) {
    sink.meet(leadId);
    const judged = outcomeTimes.has(leadId) ? replay.before.live.leads.get(leadId) : lead;
    for (const trait of judged ? traitsOf(judged) : []) sink.see(leadId, trait);
  }
}

async function judge(
  job: StepJob,
  place: Place,
  { log, signal, live }: LearningContext,
): Promise<NonNullable<Found['judged']>> {
  const { dimension: score_type } = job.work;
  const draft = draftBy(job, foundBy(job).suggested?.changes ?? [], live);
  if (draft.outcome === 'rejected') throw new Error(`suggested changes are refused: ${draft.message}`);
  const configurations = { live: alwaysInForce(live), draft: alwaysInForce(draft.configuration) };
  const replay = await replayed(log, partOf(job, place, signal), {
    configurations,
    range: rangeOf(job.work, job.started_at),
    outcome: job.work.outcome,
  });
  const found = foundIn(replay, { configurations, score_type });
  const nobody = { won: [], others: [] };
  return { live: found.live.outcome ?? nobody, draft: found.draft.outcome ?? nobody };
}
