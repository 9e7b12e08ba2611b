// The job that suggests rules. It reads the log three times, each time a partition a step: for the traits that many leads have; for the
// chosen traits of each lead; and, when rules are suggested, for the scores that they give the leads that were held out.
import type { Job, JobKind, JobStep, PartitionScope, Rejection } from '@lead-scoring/capability';
import { records, type JsonValue } from '@lead-scoring/contracts';
import type { ScoringConfiguration } from '@lead-scoring/scoring-domain';
import { loadOne } from '../configuration/queries.js';
import { besideLog, endsOfLog, leadsByPartition } from '../jobs/replay-plan.js';
import { compileRules } from '../scores/rule-model.js';
import { alwaysInForce, draftOf, type DraftDecision } from '../what-if/draft-model.js';
import { foundIn } from '../what-if/found-model.js';
import { readCauses, type HistoryPart } from '../what-if/history.js';
import {
  configurationAt,
  rangeOf,
  readOutcomes,
  replayed,
  type StepContext,
  type StepSources,
} from '../what-if/replay-group.js';
import { joinedFound } from './found-model.js';
import { isHeldOut } from './held-out-model.js';
import { packRows, TraitRows, unpackRows } from './rows-model.js';
import { suggestedBy } from './suggest-model.js';
import { chosenTraits, TraitSurvey } from './survey-model.js';
import { coveredBy, EventWalk, eventTraits, profileTraits, type TraitSink } from './trait-model.js';

type Work = records.SuggestionWork;
type Found = records.SuggestionFound;
type SuggestionJob = Job<Work>;

export function suggestion(sources: StepSources): JobKind<typeof records.startSuggestion, Work> {
  return {
    name: 'suggestion',
    command: records.startSuggestion,
    ...besideLog,
    begin: (start, scope) => begin(start, scope, sources),
    step: (job, scope, signal) => takeStep(job, { ...sources, scope, signal }),
    joined: (job, found) => joinedFound(foundBy(job), found as unknown as Found) as unknown as JsonValue,
  };
}

function foundBy({ found }: SuggestionJob): Found {
  return (found ?? {}) as unknown as Found;
}

async function begin(
  { ou_id, outcome, from, to, dimension }: records.StartSuggestion,
  { readModel }: PartitionScope,
  { log, configurations }: StepSources,
): Promise<Rejection | { work: Work; total: number }> {
  const live = await loadOne(configurations(), ou_id);
  const ruleset_id = dimension === 'profile' ? profileRulesetIn(live) : undefined;
  if (ruleset_id === null)
    return {
      outcome: 'rejected',
      code: 'ruleset_not_found',
      message:
        'No active profile ruleset could take the suggested rules. Create one with POST /rulesets and score_type profile.',
    };
  const [partitions, leads] = await Promise.all([endsOfLog(log()), leadsByPartition(readModel, ou_id)]);
  const known = [...leads.values()].reduce((sum, count) => sum + count, 0);
  const work: Work = {
    kind: 'suggestion',
    outcome,
    dimension,
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
    ...(ruleset_id !== undefined && { ruleset_id }),
    configuration_version: live.version,
    sample_end: Math.ceil(2 ** 32 * Math.min(1, records.suggestionLimits.leads / Math.max(1, known))),
    partitions,
  };
  return { work, total: readings * partitions.reduce((sum, { ingest_end }) => sum + ingest_end, 0) };
}

function profileRulesetIn({ rulesets }: ScoringConfiguration): string | null {
  const found = [...rulesets.values()].find(({ active, score_type }) => active && score_type === 'profile');
  return found?.id ?? null;
}

/** Each reads the whole log. */
const readings = 3;
const phases = ['survey', 'rows', 'judge'] as const;
type Phase = (typeof phases)[number];

/** Where a job goes on: with a partition in a phase. */
interface Place {
  readonly phase: Phase;
  readonly partition: number;
}

function placeOf(cursor: string | null): Place {
  const [phase = 'survey', partition = '0'] = cursor?.split(' ') ?? [];
  return { phase: phase as Phase, partition: Number(partition) };
}

/** null: that was the last place. */
function placeAfter({ phase, partition }: Place, { partitions }: Work): Place | null {
  if (partition + 1 < partitions.length) return { phase, partition: partition + 1 };
  const next = phases[phases.indexOf(phase) + 1];
  return next ? { phase: next, partition: 0 } : null;
}

async function takeStep(job: SuggestionJob, context: StepContext): Promise<JobStep> {
  const place = placeOf(job.cursor);
  const next = placeAfter(place, job.work);
  const live = await configurationAt({ ou_id: job.ou_id, version: job.work.configuration_version }, context);
  const found = await findIn(job, place, { ...context, live });
  if ('outcome' in found) return found;
  return {
    outcome: 'advanced',
    cursor: next && `${next.phase} ${String(next.partition)}`,
    done: job.work.partitions[place.partition]?.ingest_end ?? 0,
    found: found as unknown as JsonValue,
    commands: [],
  };
}

interface LearningContext extends StepContext {
  readonly live: ScoringConfiguration;
}

async function findIn(
  job: SuggestionJob,
  place: Place,
  context: LearningContext,
): Promise<Found | Extract<JobStep, { outcome: 'failed' }>> {
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
  { job_id, started_at, work }: SuggestionJob,
  changes: records.DraftChange[],
  live: ScoringConfiguration,
): DraftDecision {
  return draftOf({ changes, score_type: work.dimension }, live, { job_id, at: started_at });
}

/** The leads of the sample in a partition: those to learn from or, to judge, those that are held out. */
function partOf(
  { ou_id: ouId, work }: SuggestionJob,
  { phase, partition }: Place,
  signal: AbortSignal,
): HistoryPart {
  return {
    ouId,
    partition,
    ends: work.partitions[partition] ?? { ingest_end: 0, scoring_end: 0 },
    leads: { from: 0, to: work.sample_end },
    chosen: (leadId) => isHeldOut(leadId) === (phase === 'judge'),
    signal,
  };
}

function outcomeTimesIn(
  job: SuggestionJob,
  place: Place,
  { log, signal }: StepContext,
): Promise<ReadonlyMap<string, string>> {
  const { work, started_at } = job;
  return readOutcomes(log(), partOf(job, place, signal), {
    outcome: work.outcome,
    range: rangeOf(work, started_at),
  });
}

interface OutcomeContext extends LearningContext {
  readonly outcomeTimes: ReadonlyMap<string, string>;
}

/** Tells a sink of the leads to learn from. */
async function learn(
  job: SuggestionJob,
  place: Place,
  { log, signal, live, outcomeTimes, sink }: OutcomeContext & { readonly sink: TraitSink },
): Promise<void> {
  const part = partOf(job, place, signal);
  const range = rangeOf(job.work, job.started_at);
  const rules = compileRules(live);
  if (job.work.dimension === 'engagement') {
    const walk = new EventWalk(sink, eventTraits(rules), { range, outcomeTimes });
    for await (const causes of readCauses(log(), part)) walk.take(causes);
    return;
  }
  const replay = await replayed(log(), part, {
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
  job: SuggestionJob,
  place: Place,
  { log, signal, live }: LearningContext,
): Promise<NonNullable<Found['judged']>> {
  const { dimension: score_type } = job.work;
  const draft = draftBy(job, foundBy(job).suggested?.changes ?? [], live);
  if (draft.outcome === 'rejected') throw new Error(`suggested changes are refused: ${draft.message}`);
  const configurations = { live: alwaysInForce(live), draft: alwaysInForce(draft.configuration) };
  const replay = await replayed(log(), partOf(job, place, signal), {
    configurations,
    range: rangeOf(job.work, job.started_at),
    outcome: job.work.outcome,
  });
  const found = foundIn(replay, { configurations, score_type });
  const nobody = { won: [], others: [] };
  return { live: found.live.outcome ?? nobody, draft: found.draft.outcome ?? nobody };
}
