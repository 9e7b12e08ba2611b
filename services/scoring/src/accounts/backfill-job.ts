// The job that counts all leads of an OU in their accounts: it reads what the recorded events of each lead have named, and tells the lead.
import type { Job, JobKind, JobStep } from '@lead-scoring/capability';
import { records } from '@lead-scoring/contracts';
import { outgoing, type OutgoingRecord } from '@lead-scoring/event-log';
import { loadOne } from '../configuration/queries.js';
import { besideLog, plannedStep, planOf, type ReplayDependencies } from '../jobs/replay-plan.js';
import { storedLeads } from '../jobs/stored-leads.js';
import { compileRules } from '../scores/rule-model.js';
import { readCauses } from '../what-if/history.js';
import type { StepContext } from '../what-if/replay-group.js';
import { backfilled, NamedHistory, outcomeOf } from './backfill-model.js';

type Work = records.AccountBackfillWork;
type Found = records.AccountBackfillFound;

/** So many leads are told in the transaction of a step. */
const mostLeadsPerStep = 5_000;

export function accountBackfill(
  dependencies: ReplayDependencies,
): JobKind<typeof records.startAccountBackfill, Work> {
  const { leadsPerStep = mostLeadsPerStep } = dependencies;
  const planned = { ...dependencies, leadsPerStep: Math.min(leadsPerStep, mostLeadsPerStep) };
  return {
    name: 'account-backfill',
    command: records.startAccountBackfill,
    ...besideLog,
    begin: async ({ ou_id, dry_run, fire_triggers }, { readModel }) => {
      const { partitions, total } = await planOf(ou_id, readModel, planned);
      return { work: { kind: 'account-backfill', dry_run, fire_triggers, partitions }, total };
    },
    step: (job, scope, signal) => takeStep(job, { ...planned, scope, signal }),
    joined: ({ found }, more) => joinedFound(found as Found | null, more as Found),
  };
}

async function takeStep(
  job: Job<Work>,
  { scope, signal, log, configurations }: StepContext,
): Promise<JobStep> {
  const { part, cursor, done } = plannedStep(job, signal);
  const { ou_id, work, started_at: decided_at } = job;
  const rules = compileRules(await loadOne(configurations(), ou_id));
  const history = new NamedHistory();
  if (rules.accounts) for await (const causes of readCauses(log(), part)) history.take(causes);
  const found: Found = { ...nobody };
  const commands: OutgoingRecord[] = [];
  for await (const lead of storedLeads(scope.readModel, part)) {
    const lead_id = lead.id;
    const { fire_triggers } = work;
    const payload = { ou_id, lead_id, named: history.of(lead_id), decided_at, fire_triggers };
    const outcome = rules.accounts
      ? outcomeOf(
          lead,
          backfilled(lead, payload, {
            merged: rules.mergedAccounts,
            configuration_version: rules.version,
          }),
        )
      : 'without_account';
    found[outcome] += 1;
    if (!work.dry_run && changing.has(outcome))
      commands.push(outgoing(records.contributeLead, { key: lead_id, payload }));
  }
  return { outcome: 'advanced', cursor, done, found, commands };
}

const nobody: Found = { joining: 0, moving: 0, refreshed: 0, unchanged: 0, without_account: 0 };
const changing: ReadonlySet<keyof Found> = new Set<keyof Found>(['joining', 'moving', 'refreshed']);

function joinedFound(known: Found | null, more: Found): Found {
  if (!known) return more;
  return {
    joining: known.joining + more.joining,
    moving: known.moving + more.moving,
    refreshed: known.refreshed + more.refreshed,
    unchanged: known.unchanged + more.unchanged,
    without_account: known.without_account + more.without_account,
  };
}
