// The rescoring job: what the rules of now make of the recorded history, beside what is recorded. So far it only says what would change.
import type { Job, JobKind, JobStep, PartitionScope, Rejection } from '@lead-scoring/capability';
import { records, type JsonValue } from '@lead-scoring/contracts';
import { loadOne } from '../configuration/queries.js';
import { besideLog, plannedStep, planOf, type ReplayDependencies } from '../jobs/replay-plan.js';
import { joinedJson } from '../what-if/found-model.js';
import { readCauses, readDecisions } from '../what-if/history.js';
import { configurationAt, type StepContext } from '../what-if/replay-group.js';
import { GroupRescoring } from './rescored-model.js';

type Work = records.RescoringWork;
type RescoringJob = Job<Work>;

export function rescoring(dependencies: ReplayDependencies): JobKind<typeof records.startRescoring, Work> {
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
  { ou_id, score_type, ruleset_id, dry_run }: records.StartRescoring,
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
  const asked = { score_type, ...(ruleset_id !== undefined && { ruleset_id }), dry_run };
  return { work: { kind: 'rescoring', ...asked, configuration_version: version, partitions }, total };
}

async function takeStep(job: RescoringJob, context: StepContext): Promise<JobStep> {
  const { part, cursor, done } = plannedStep(job, context.signal);
  const { ou_id, work, started_at } = job;
  const configuration = await configurationAt({ ou_id, version: work.configuration_version }, context);
  const rescored = new GroupRescoring(configuration, work, started_at);
  const log = context.log();
  for await (const decisions of readDecisions(log, part)) rescored.takeDecisions(decisions);
  for await (const causes of readCauses(log, part)) rescored.takeCauses(causes);
  rescored.end();
  const found = rescored.found() as unknown as JsonValue;
  return { outcome: 'advanced', cursor, done, found, commands: [] };
}
