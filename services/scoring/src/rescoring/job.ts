// The rescoring job: what the rules of now make of the recorded history, beside what is recorded. A dry run ends when all leads are compared.
// Otherwise the leads are prepared as they are compared, and then their new scores come into force, one group of leads after the other.
import type { Job, JobKind, JobStep, PartitionScope, Rejection } from '@lead-scoring/capability';
import { records } from '@lead-scoring/contracts';
import { outgoing, pause, type RecordWriter } from '@lead-scoring/event-log';
import { loadOne } from '../configuration/queries.js';
import { isOvertaken, overtaken } from '../event-deletions/overtaken.js';
import {
  besideLog,
  plannedSteps,
  stepsTaken,
  planOf,
  type PlannedStep,
  type ReplayDependencies,
} from '../jobs/replay-plan.js';
import { joinedJson } from '../what-if/found-model.js';
import { configurationAt, type StepContext } from '../what-if/replay-group.js';
import { defaultMaximumTail } from './capability.js';
import {
  arePrepared,
  deleteAllPrepared,
  deletePrepared,
  findPrepared,
  findPreparedUpTo,
  isActive,
  storePrepared,
  type PreparedUpTo,
  type RescoredGroup,
} from './documents.js';
import type { AdvancedGroup, RescoredLeads } from './group.js';
import type { Rescored } from './state-model.js';
import { scoringEnd } from './tail.js';

type Work = records.RescoringWork;
type RescoringJob = Job<Work>;

export interface RescoringDependencies extends ReplayDependencies {
  /** Sends the service its own commands. */
  readonly writer: Pick<RecordWriter, 'write'>;
  readonly now: () => Date;
  /** Records since the computed scores that one batch takes into account when these come into force. Default 20,000. */
  readonly maximumTail?: number | undefined;
}

type RescoringContext = StepContext & Pick<RescoringDependencies, 'writer' | 'tasks' | 'now' | 'maximumTail'>;

/** Of the cursor of a step that brings a group into force. */
const activating = 'activate ';
/** Groups that are brought into force at the same time. */
const groupsAtOnce = 2;
/** Milliseconds after which a group that is not in force is asked for again. */
const askAgainMs = 5_000;
const lookEveryMs = 50;

export function rescoring(dependencies: RescoringDependencies): JobKind<typeof records.startRescoring, Work> {
  return {
    name: 'rescoring',
    command: records.startRescoring,
    ...besideLog,
    begin: (start, scope) => begin(start, scope, dependencies),
    step: (job, scope, signal) => takeStep(job, { ...dependencies, scope, signal }),
    joined: ({ found }, more) => joinedJson(found, more),
  };
}

async function begin(
  { ou_id, score_type, ruleset_id, dry_run, fire_triggers = false }: records.StartRescoring,
  { readModel }: PartitionScope,
  dependencies: ReplayDependencies,
): Promise<Rejection | { work: Work; total: number }> {
  const { version, rulesets } = await loadOne(dependencies.configurations(), ou_id);
  if (ruleset_id !== undefined && rulesets.get(ruleset_id)?.score_type !== score_type)
    return {
      outcome: 'rejected',
      code: 'ruleset_not_found',
      message: `There is no ${score_type} ruleset with this id in the organizational unit. GET /engagement-scoring/rulesets and GET /profile-scoring/rulesets list the rulesets.`,
    };
  const { partitions, total } = await planOf(ou_id, readModel, dependencies);
  const asked = { score_type, ...(ruleset_id !== undefined && { ruleset_id }), dry_run, fire_triggers };
  return { work: { kind: 'rescoring', ...asked, configuration_version: version, partitions }, total };
}

function takeStep(job: RescoringJob, context: RescoringContext): Promise<JobStep> {
  const { cursor } = job;
  return cursor?.startsWith(activating) === true
    ? activate(
        job,
        plannedSteps({ ...job, cursor: cursor.slice(activating.length) }, groupsAtOnce, context.signal),
        context,
      )
    : compare(job, plannedSteps(job, context.tasks.width, context.signal), context);
}

/** Compares groups of leads, as many as can be replayed at the same time; what is to come into force is kept. */
async function compare(
  job: RescoringJob,
  planned: readonly PlannedStep[],
  context: RescoringContext,
): Promise<JobStep> {
  const { ou_id, work } = job;
  if (!work.dry_run && job.cursor === null) await deleteAllPrepared(context.scope.readModel, ou_id);
  const found = await Promise.all(
    planned.map(async (step) => {
      const rescored = await replayed(job, step, context);
      if (!work.dry_run) await prepare(job, step, rescored, context);
      return rescored.found;
    }),
  );
  return stepsTaken(planned, found, work.dry_run ? null : `${activating}0 0`);
}

async function replayed(
  { ou_id, work, started_at }: RescoringJob,
  { part: { signal, ...part } }: PlannedStep,
  context: RescoringContext,
): Promise<RescoredLeads> {
  const configuration = await configurationAt({ ou_id, version: work.configuration_version }, context);
  const input = {
    part,
    configuration,
    rescored: rescoredOf(work),
    at: started_at,
    isPreparing: !work.dry_run,
  };
  return context.tasks.perform('rescoring', input, signal);
}

function rescoredOf({ score_type, ruleset_id }: Work): Rescored {
  return { score_type, ...(ruleset_id !== undefined && { ruleset_id }) };
}

function prepare(
  job: RescoringJob,
  planned: PlannedStep,
  { prepared }: RescoredLeads,
  { scope, tasks }: RescoringContext,
): Promise<PreparedUpTo> {
  const { scoring_end } = planned.part.ends;
  return tasks.apart(() => storePrepared(scope.readModel, groupOf(job, planned), scoring_end, prepared));
}

function groupOf(
  { ou_id, job_id }: RescoringJob,
  { part: { partition }, group }: PlannedStep,
): RescoredGroup {
  return { ou_id, job_id, partition, group };
}

/** Brings groups into force: while the database stores what one has decided, another is decided. */
async function activate(
  job: RescoringJob,
  planned: readonly PlannedStep[],
  context: RescoringContext,
): Promise<JobStep> {
  const areActive = await Promise.all(planned.map((step) => bringIntoForce(job, step, context)));
  if (areActive.includes(false)) return overtaken;
  const cursor = planned.at(-1)?.cursor ?? null;
  return {
    outcome: 'advanced',
    cursor: cursor === null ? null : `${activating}${cursor}`,
    done: 0,
    commands: [],
  };
}

/** Asks until the new scores of a group are in force. @returns false when a deletion of events has overtaken the job */
async function bringIntoForce(
  job: RescoringJob,
  planned: PlannedStep,
  context: RescoringContext,
): Promise<boolean> {
  const { readModel } = context.scope;
  const of = groupOf(job, planned);
  while (!(await isActive(readModel, of))) {
    if (await isOvertaken(readModel, job)) return false;
    const upTo = await preparedUpTo(job, planned, context);
    await context.writer.write([activation(job, planned, upTo, context)]);
    const until = Date.now() + askAgainMs;
    while (Date.now() < until && !(await isActive(readModel, of))) await pause(lookEveryMs, context.signal);
    context.signal.throwIfAborted();
  }
  const upTo = await findPreparedUpTo(readModel, of);
  if (upTo) await deletePrepared(readModel, of, upTo);
  return true;
}

function activation(
  { ou_id, job_id, work }: RescoringJob,
  { part: { partition }, group, groups }: PlannedStep,
  upTo: PreparedUpTo,
  { now }: RescoringContext,
) {
  const { score_type, ruleset_id, configuration_version, fire_triggers = false } = work;
  const payload: records.ActivateScoringEpoch = {
    ...{ ou_id, job_id, partition, group, groups, score_type },
    ...(ruleset_id !== undefined && { ruleset_id }),
    configuration_version,
    fire_triggers,
    ...upTo,
    requested_at: now().toISOString(),
  };
  return outgoing(records.activateScoringEpoch, { key: String(partition), partition, payload });
}

/** Brings the prepared leads of a group near the end of the log, so that one batch can take the rest into account. */
async function preparedUpTo(
  job: RescoringJob,
  planned: PlannedStep,
  context: RescoringContext,
): Promise<PreparedUpTo> {
  const { maximumTail = defaultMaximumTail } = context;
  const { readModel } = context.scope;
  const of = groupOf(job, planned);
  let known = await findPreparedUpTo(readModel, of);
  if (!known || !(await arePrepared(readModel, of, known)))
    known = await prepare(job, planned, await replayed(job, planned, context), context);
  const end = await scoringEnd(context.log(), planned.part.partition);
  if (end - known.scoring_end <= maximumTail / 4) return known;
  const packed = await findPrepared(readModel, of, known);
  if (!packed) return known;
  const { ou_id, work } = job;
  const { ouId, partition, leads, deleted, signal } = planned.part;
  const input: AdvancedGroup = {
    part: { ouId, partition, leads, deleted },
    configuration: await configurationAt({ ou_id, version: work.configuration_version }, context),
    rescored: rescoredOf(work),
    packed,
    range: { from: known.scoring_end, to: end },
    recordsAtOnce: maximumTail,
  };
  const advanced = await context.tasks.perform('advance', input, signal);
  const next = await context.tasks.apart(() => storePrepared(readModel, of, end, advanced));
  await deletePrepared(readModel, of, known);
  return next;
}
