// `lead-scoring rescore`: computes scores anew from the recorded history, or says what that would change.
import type { CallAnswer, Client } from '@lead-scoring/client';
import { clientOf, promptRetries } from './api-client.js';
import { CommandFailed, exitCodes } from './errors.js';
import { comparedLeads } from './job-findings.js';
import { resultOfJob } from './job-progress.js';
import { plain, type Output } from './output.js';
import type { Settings } from './settings.js';

export interface RescoreFlags {
  dryRun?: boolean;
  fireTriggers?: boolean;
  json?: boolean;
}

/**
 * @param what scores, profiles, or a ruleset by its name or id
 * @returns the exit code: 1 when the job was cancelled or has failed
 */
export async function rescore(
  what: string,
  flags: RescoreFlags,
  settings: Settings,
  output: Output,
): Promise<number> {
  const client = clientOf(settings, promptRetries);
  const { job_id: id } = await started(what, flags, client);
  const work = flags.dryRun === true ? 'compares the scores' : 'computes the scores anew';
  const result = await resultOfJob(client, { id, work, part: 'rescored' }, flags, output);
  if (!result) return exitCodes.incomplete;
  if (flags.json !== true)
    output.write(
      `${comparedLeads(result, ['now', 'rescored'], {
        overtaken: result.overtaken ? 'The rules have changed since: this is about those of before.' : null,
        isInForce: !result.dry_run,
      })}\n`,
    );
  return exitCodes.done;
}

async function started(
  what: string,
  { dryRun, fireTriggers }: RescoreFlags,
  client: Client,
): Promise<CallAnswer<'backfillScores'>> {
  const query = {
    ...(dryRun === true && { dry_run: 'true' as const }),
    ...(fireTriggers === true && { fire_triggers: 'true' as const }),
  };
  if (what === 'scores') return client.call('backfillScores', { query });
  if (what === 'profiles') return client.call('backfillProfiles', { query });
  const { id, name, score_type } = await rulesetFrom(what, client);
  if (score_type !== 'engagement' && score_type !== 'profile')
    throw new CommandFailed(
      `${plain(name)} is a ruleset of ${score_type} scores: those are not computed from the history.`,
      exitCodes.data,
    );
  return client.call('scoreNow', { parameters: { dimension: score_type, id }, query });
}

type Ruleset = CallAnswer<'listAllRulesets'>['data'][number];

async function rulesetFrom(named: string, client: Client): Promise<Ruleset> {
  const isNamed = ({ id, name }: Ruleset) => [id, name.toLowerCase()].includes(named.toLowerCase());
  const names: string[] = [];
  for (let page = 1; ; page += 1) {
    const { data, total } = await client.call('listAllRulesets', { query: { page, limit: 100 } });
    const found = data.find(isNamed);
    if (found) return found;
    names.push(...data.map(({ name }) => plain(name)));
    if (data.length === 0 || names.length >= total) break;
  }
  throw new CommandFailed(
    `There is no ruleset ${plain(named)}. Name scores, profiles, or one of: ${names.slice(0, 20).join(', ')}`,
    exitCodes.data,
  );
}
