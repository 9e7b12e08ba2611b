// The what-if job. It begins with the ends of the log, so that its result is of one moment. A step is the history of some groups of leads,
// each of one partition. Nothing of a live score is touched.
import type { Job, JobKind, JobStep, PartitionScope, Rejection } from '@lead-scoring/capability';
import { records } from '@lead-scoring/contracts';
import type { ScoringConfiguration } from '@lead-scoring/scoring-domain';
import { loadOne } from '../configuration/queries.js';
import { besideLog, plannedSteps, planOf, stepsTaken, type ReplayDependencies } from '../jobs/replay-plan.js';
import { alwaysInForce, draftOf } from './draft-model.js';
import { joinedJson } from './found-model.js';
import { configurationAt, rangeOf, type StepContext } from './replay-group.js';
import type { Sides } from './replay-model.js';

type Work = records.WhatIfWork;
type WhatIfJob = Job<Work>;

export function whatIf(dependencies: ReplayDependencies): JobKind<typeof records.startWhatIf, Work> {
  return {
    name: 'what-if',
    command: records.startWhatIf,
    ...besideLog,
    begin: (start, scope) => begin(start, scope, dependencies),
    step: (job, scope, signal) => takeStep(job, { ...dependencies, scope, signal }),
    joined: ({ found }, more) => joinedJson(found, more),
  };
}

async function begin(
  start: records.StartWhatIf,
  { readModel }: PartitionScope,
  dependencies: ReplayDependencies,
): Promise<Rejection | { work: Work; total: number }> {
  const { ou_id, job_id, requested_at: at } = start;
  const asked = askedOf(start);
  const live = await loadOne(dependencies.configurations(), ou_id);
  const draft = draftOf(asked, live, { job_id, at });
  if (draft.outcome === 'rejected') return draft;
  const { partitions, total } = await planOf(ou_id, readModel, dependencies);
  return { work: { kind: 'what-if', ...asked, configuration_version: live.version, partitions }, total };
}

type Asked = Omit<records.StartWhatIf, 'ou_id' | 'job_id' | 'requested_at' | 'actor'>;

/** Fields of every command that asks for a job. */
const besidesWork = new Set(['ou_id', 'job_id', 'requested_at', 'actor']);

function askedOf(start: records.StartWhatIf): Asked {
  return Object.fromEntries(
    Object.entries(start).filter(([field]) => !besidesWork.has(field)),
  ) as unknown as Asked;
}

async function takeStep(
  job: WhatIfJob,
  { tasks, ...context }: StepContext & Pick<ReplayDependencies, 'tasks'>,
): Promise<JobStep> {
  const { started_at, work } = job;
  const { score_type, outcome } = work;
  const configurations = await configurationsOf(job, context);
  const asked = { configurations, range: rangeOf(work, started_at), score_type, outcome };
  // As many groups of leads as can be replayed at the same time.
  const steps = plannedSteps(job, tasks.width, context.signal);
  const found = await Promise.all(
    steps.map(({ part: { signal, ...part } }) => tasks.perform('what-if', { ...asked, part }, signal)),
  );
  return stepsTaken(steps, found);
}

/** The live rules of when the job began, and the draft of them. */
async function configurationsOf(
  { ou_id, job_id, work, started_at: at }: WhatIfJob,
  context: StepContext,
): Promise<Sides<ScoringConfiguration>> {
  const live = await configurationAt({ ou_id, version: work.configuration_version }, context);
  const draft = draftOf(work, live, { job_id, at });
  if (draft.outcome === 'rejected') throw new Error(`the draft of a what-if is refused: ${draft.message}`);
  return { live: alwaysInForce(live), draft: alwaysInForce(draft.configuration) };
}
