// The job that compares the level of each lead of an OU with the one that was told last, and has told what differs.
import type { Job, JobKind, JobStep } from '@lead-scoring/capability';
import { records } from '@lead-scoring/contracts';
import { outgoing } from '@lead-scoring/event-log';
import { loadOne } from '../configuration/queries.js';
import { besideLog, endsOfLog, plannedStep, planOf, type ReplayDependencies } from '../jobs/replay-plan.js';
import { storedLeads } from '../jobs/stored-leads.js';
import { readLevelNews } from '../what-if/history.js';
import type { StepContext } from '../what-if/replay-group.js';
import { joinedPlaced, LevelComparison, ToldLevels, type LevelledLead } from './backfill-model.js';

type Work = records.LevelBackfillWork;
type Found = records.LevelBackfillFound;

/** Leads that a step compares: two levels of each may be told in its transaction. */
const mostLeadsPerStep = 5_000;

export function levelBackfill(
  dependencies: ReplayDependencies,
): JobKind<typeof records.startLevelBackfill, Work> {
  const { leadsPerStep = mostLeadsPerStep } = dependencies;
  const planned = { ...dependencies, leadsPerStep: Math.min(leadsPerStep, mostLeadsPerStep) };
  return {
    name: 'level-backfill',
    command: records.startLevelBackfill,
    ...besideLog,
    begin: async ({ ou_id, dry_run }, { readModel }) => {
      const { partitions } = await planOf(ou_id, readModel, planned);
      const total = partitions.reduce((sum, { scoring_end, groups }) => sum + scoring_end * groups, 0);
      return { work: { kind: 'level-backfill', dry_run, partitions }, total };
    },
    step: (job, scope, signal) => takeStep(job, { ...planned, scope, signal }),
    joined: ({ found }, more) => (found ? joinedPlaced(found as Found, more as Found) : more),
  };
}

async function takeStep(
  job: Job<Work>,
  { scope, signal, log, configurations }: StepContext,
): Promise<JobStep> {
  const { part, cursor } = plannedStep(job, signal);
  const { ou_id, work, started_at } = job;
  const leads: LevelledLead[] = [];
  for await (const lead of storedLeads(scope.readModel, part)) leads.push(levelledLead(lead));
  const told = new ToldLevels();
  // To the end of now: what was told of leads that have changed since the job began counts.
  const ends = (await endsOfLog(log()))[part.partition] ?? part.ends;
  if (leads.length > 0) for await (const news of readLevelNews(log(), { ...part, ends })) told.take(news);
  const comparison = new LevelComparison(await loadOne(configurations(), ou_id), told, started_at);
  for (const lead of leads) comparison.take(lead);
  const commands = work.dry_run
    ? []
    : comparison.commands.map((payload) => outgoing(records.tellLevel, { key: payload.lead_id, payload }));
  return { outcome: 'advanced', cursor, done: part.ends.scoring_end, found: comparison.found, commands };
}

/** What is kept of a lead until the end of a step. */
function levelledLead({ id, ou_id, score, profile, first_offset, offset }: LevelledLead): LevelledLead {
  return { id, ou_id, score, ...(profile && { profile }), first_offset, offset };
}
