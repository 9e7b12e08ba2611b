// `lead-scoring backfill accounts`: counts all leads in their accounts, from the recorded history.
import { clientOf, promptRetries } from './api-client.js';
import { exitCodes } from './errors.js';
import { count } from './job-findings.js';
import { resultOfJob } from './job-progress.js';
import type { Output } from './output.js';
import type { Settings } from './settings.js';

export interface BackfillFlags {
  dryRun?: boolean;
  fireTriggers?: boolean;
  json?: boolean;
}

/** @returns the exit code: 1 when the job was cancelled or has failed */
export async function backfillAccounts(
  flags: BackfillFlags,
  settings: Settings,
  output: Output,
): Promise<number> {
  const client = clientOf(settings, promptRetries);
  const query = {
    dry_run: flags.dryRun === true ? 'true' : 'false',
    fire_triggers: flags.fireTriggers === true ? 'true' : 'false',
  } as const;
  const { job_id: id } = await client.call('backfillAccounts', { query });
  const result = await resultOfJob(client, { id, work: 'counts leads', part: 'joining' }, flags, output);
  if (!result) return exitCodes.incomplete;
  const { dry_run, joining, moving, refreshed, unchanged, without_account } = result;
  if (flags.json !== true)
    output.write(
      `${count(joining)} leads come to an account, ${count(moving)} to another one, ${count(refreshed)} count anew in theirs, ${count(unchanged)} stay as they are, and ${count(without_account)} belong to none.${dry_run ? ' Nothing was changed.' : ''}\n`,
    );
  return exitCodes.done;
}
