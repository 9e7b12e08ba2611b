// `lead-scoring backfill`: counts all leads in their accounts, tells of their levels, and counts event types, from the recorded history.
import { levelledScoreTypes, type routeDeclarations } from '@lead-scoring/contracts';
import { clientOf, promptRetries } from './api-client.js';
import { exitCodes } from './errors.js';
import { count } from './job-findings.js';
import { resultOfJob } from './job-progress.js';
import { table, type Output } from './output.js';
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

/** @returns the exit code: 1 when the job was cancelled or has failed */
export async function backfillLevels(
  flags: BackfillFlags,
  settings: Settings,
  output: Output,
): Promise<number> {
  const client = clientOf(settings, promptRetries);
  const query = { dry_run: flags.dryRun === true ? 'true' : 'false' } as const;
  const { job_id: id } = await client.call('backfillLevels', { query });
  const result = await resultOfJob(
    client,
    { id, work: 'compares levels', part: 'engagement' },
    flags,
    output,
  );
  if (!result) return exitCodes.incomplete;
  if (flags.json !== true)
    for (const scoreType of levelledScoreTypes) output.write(placed(scoreType, result[scoreType]));
  if (flags.json !== true && result.dry_run) output.write('Nothing was told.\n');
  return exitCodes.done;
}

function placed(
  scoreType: string,
  { entering, moving, leaving, unchanged, levels }: routeDeclarations.LevelBackfillResult['engagement'],
): string {
  const counts = `By ${scoreType} score, ${count(entering)} leads come into a level, ${count(moving)} into another one, ${count(leaving)} leave theirs, and of ${count(unchanged)} the level was told.\n`;
  if (levels.length === 0) return counts;
  return `${counts}${table(levels, [
    { title: 'LEVEL', value: ({ name }) => name },
    { title: 'TOLD', value: ({ told }) => count(told), align: 'right' },
    { title: 'LEADS', value: ({ leads }) => count(leads), align: 'right' },
  ])}\n`;
}

/** @returns the exit code: 1 when the job was cancelled or has failed */
export async function backfillEventTypes(
  flags: Omit<BackfillFlags, 'fireTriggers'>,
  settings: Settings,
  output: Output,
): Promise<number> {
  const client = clientOf(settings, promptRetries);
  const query = { dry_run: flags.dryRun === true ? 'true' : 'false' } as const;
  const { job_id: id } = await client.call('backfillEventTypes', { query });
  const awaited = { id, work: 'counts event types', part: 'differing' } as const;
  const result = await resultOfJob(client, awaited, flags, output);
  if (!result) return exitCodes.incomplete;
  if (flags.json !== true) writeDifferences(result, output);
  return exitCodes.done;
}

function writeDifferences(
  { dry_run, differing, has_more, list_differed }: routeDeclarations.EventTypeBackfillResult,
  output: Output,
): void {
  if (differing.length === 0 && !list_differed) {
    output.write('Nothing differs from a fresh count.\n');
    return;
  }
  if (differing.length > 0)
    output.write(
      `${table(differing, [
        { title: 'EVENT TYPE', value: ({ event_type }) => event_type },
        { title: 'EVENTS BEFORE', value: ({ events_before }) => events_before, align: 'right' },
        { title: 'FRESH COUNT', value: ({ events_after }) => events_after, align: 'right' },
        { title: 'DIFFERED', value: differencesOf },
      ])}\n`,
    );
  if (has_more) output.write('More types differed.\n');
  if (list_differed) output.write('The list of types, or the number of all events, differed.\n');
  if (dry_run) output.write('Nothing was changed.\n');
}

function differencesOf({
  counts,
  times,
  properties,
}: routeDeclarations.EventTypeBackfillResult['differing'][number]): string {
  return [counts && 'counts', times && 'times', properties && 'properties'].filter(Boolean).join(', ');
}
