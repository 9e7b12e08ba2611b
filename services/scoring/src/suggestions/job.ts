// The job that suggests rules. It reads the log three times, each time a partition a step: for the traits that many leads have; for the
// chosen traits of each lead; and, when rules are suggested, for the scores that they give the leads that were held out.
import type { Job, JobKind, JobStep, PartitionScope, Rejection } from '@lead-scoring/capability';
import { records, type JsonValue } from '@lead-scoring/contracts';
import type { ScoringConfiguration } from '@lead-scoring/scoring-domain';
import { loadOne } from '../configuration/queries.js';
import { besideLog, historyOfNow, leadsByPartition, type ReplayDependencies } from '../jobs/replay-plan.js';
import { configurationAt, type StepContext, type StepSources } from '../what-if/replay-group.js';
import { joinedFound } from './found-model.js';
import { foundBy, phases, type Place } from './step.js';

type Work = records.SuggestionWork;
type Found = records.SuggestionFound;
type SuggestionJob = Job<Work>;

export function suggestion(dependencies: ReplayDependencies): JobKind<typeof records.startSuggestion, Work> {
  return {
    name: 'suggestion',
    command: records.startSuggestion,
    ...besideLog,
    begin: (start, scope) => begin(start, scope, dependencies),
    step: (job, scope, signal) => takeStep(job, { ...dependencies, scope, signal }),
    joined: (job, found) => joinedFound(foundBy(job), found as unknown as Found) as unknown as JsonValue,
  };
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
  const [partitions, leads] = await Promise.all([
    historyOfNow(log(), readModel, ou_id),
    leadsByPartition(readModel, ou_id),
  ]);
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
  return { work, total: phases.length * partitions.reduce((sum, { ingest_end }) => sum + ingest_end, 0) };
}

function profileRulesetIn({ rulesets }: ScoringConfiguration): string | null {
  const found = [...rulesets.values()].find(({ active, score_type }) => active && score_type === 'profile');
  return found?.id ?? null;
}

function placeOf(cursor: string | null): Place {
  const [phase = 'survey', partition = '0'] = cursor?.split(' ') ?? [];
  return { phase: phase as Place['phase'], partition: Number(partition) };
}

/** null: that was the last place. */
function placeAfter({ phase, partition }: Place, { partitions }: Work): Place | null {
  if (partition + 1 < partitions.length) return { phase, partition: partition + 1 };
  const next = phases[phases.indexOf(phase) + 1];
  return next ? { phase: next, partition: 0 } : null;
}

async function takeStep(
  job: SuggestionJob,
  { tasks, ...context }: StepContext & Pick<ReplayDependencies, 'tasks'>,
): Promise<JobStep> {
  const place = placeOf(job.cursor);
  const next = placeAfter(place, job.work);
  const live = await configurationAt({ ou_id: job.ou_id, version: job.work.configuration_version }, context);
  const found = await tasks.perform('suggestion', { job, place, live }, context.signal);
  if ('outcome' in found) return found;
  return {
    outcome: 'advanced',
    cursor: next && `${next.phase} ${String(next.partition)}`,
    done: job.work.partitions[place.partition]?.ingest_end ?? 0,
    found: found as unknown as JsonValue,
    commands: [],
  };
}
