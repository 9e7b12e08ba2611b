// The what-if job. It begins with the ends of the log, so that its result is of one moment. A step is the history of some groups of leads,
// each of one partition. Nothing of a live score is touched.
import type { Job, JobKind, JobStep, PartitionScope, Rejection } from '@lead-scoring/capability';
import { records } from '@lead-scoring/contracts';
import { loadOne } from '../configuration/queries.js';
import {
  besideLog,
  defaultLeadsPerStep,
  plannedSteps,
  planOf,
  stepsTaken,
  type ReplayDependencies,
} from '../jobs/replay-plan.js';
import { readTriggers } from '../trigger-definitions/documents.js';
import { draftOf } from './draft-model.js';
import { joinedJson } from './found-model.js';
import { configurationsOf, rangeOf, type StepContext } from './replay-group.js';
import { isEvaluated, rememberEvents, unchangedTriggers } from './trigger-model.js';

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
  const triggers = (await readTriggers(readModel, ou_id)).filter(isEvaluated);
  const { leadsPerStep = defaultLeadsPerStep } = dependencies;
  const { partitions, total } = await planOf(ou_id, readModel, {
    ...dependencies,
    leadsPerStep: rememberEvents(triggers) ? Math.ceil(leadsPerStep / 2) : leadsPerStep,
  });
  const { version: configuration_version } = live;
  const ids = triggers.slice(0, records.whatIfLimits.triggers).map(({ id }) => id);
  return {
    work: { kind: 'what-if', ...asked, configuration_version, partitions, triggers: ids },
    total,
  };
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
  const configurations = await configurationsOf({ ...job, at: started_at }, context);
  const triggers = unchangedTriggers(await readTriggers(context.scope.readModel, job.ou_id), job);
  const asked = { configurations, range: rangeOf(work, started_at), score_type, outcome, triggers };
  // As many groups of leads as can be replayed at the same time.
  const steps = plannedSteps(job, tasks.width, context.signal);
  const found = await Promise.all(
    steps.map(({ part: { signal, ...part } }) => tasks.perform('what-if', { ...asked, part }, signal)),
  );
  return stepsTaken(steps, found);
}
