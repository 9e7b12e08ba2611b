// `lead-scoring rescore`: what computing scores anew from the recorded history would change.
import type { CallAnswer, Client } from '@lead-scoring/client';
import type { routeDeclarations } from '@lead-scoring/contracts';
import { clientOf, promptRetries } from './api-client.js';
import { CommandFailed, exitCodes } from './errors.js';
import { endOfJob } from './job-progress.js';
import { plain, table, type Output } from './output.js';
import type { Settings } from './settings.js';

export interface RescoreFlags {
  dryRun?: boolean;
  json?: boolean;
}

type Result = routeDeclarations.RescoringResult;

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
  if (flags.dryRun !== true)
    throw new CommandFailed(
      'Give --dry-run: a rescoring cannot change scores yet, and a dry run says what it would change.',
      exitCodes.usage,
    );
  const client = clientOf(settings, promptRetries);
  const { job_id } = await started(what, client);
  output.note(`Job ${job_id} compares the scores. It goes on if this command is interrupted.\n`);
  const job = await endOfJob(client, job_id, output);
  if (flags.json === true) output.write(`${JSON.stringify(job, null, 2)}\n`);
  const { status, result, errors } = job;
  if (status !== 'completed' || !result || !('rescored' in result)) {
    const error = errors.at(-1);
    output.note(`The job is ${status}${error ? `: ${plain(error.message)}` : '.'}\n`);
    return exitCodes.incomplete;
  }
  if (flags.json !== true) output.write(summary(result));
  return exitCodes.done;
}

async function started(what: string, client: Client): Promise<CallAnswer<'backfillScores'>> {
  const query = { dry_run: 'true' } as const;
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

const shownMovers = 20;

function summary(result: Result): string {
  const { leads, rising, falling, unchanged, level_changes, now, rescored, movers, overtaken } = result;
  const count = (number: number) => number.toLocaleString('en');
  const lines = [
    `Of ${count(leads)} leads ${count(rising)} would rise, ${count(falling)} fall and ${count(unchanged)} stay; ${count(level_changes)} would be in another level. Nothing was changed.`,
    ...(overtaken ? ['The rules have changed since: this is about those of before.'] : []),
    ...(now.levels.length > 0
      ? [
          '',
          table(now.levels, [
            { title: 'LEVEL', value: ({ name }) => name },
            { title: 'NOW', value: ({ leads: inLevel }) => count(inLevel), align: 'right' },
            {
              title: 'RESCORED',
              value: ({ id }) => count(rescored.levels.find((level) => level.id === id)?.leads ?? 0),
              align: 'right',
            },
          ]),
        ]
      : []),
    ...(movers.length > 0 ? ['', moversTable(movers)] : []),
  ];
  return `${lines.join('\n')}\n`;
}

function moversTable(movers: Result['movers']): string {
  return table(movers.slice(0, shownMovers), [
    { title: 'NOW', value: ({ now }) => now, align: 'right' },
    { title: 'RESCORED', value: ({ rescored }) => rescored, align: 'right' },
    { title: 'NAME', value: ({ name }) => name, maximum: 40 },
    {
      title: 'WHY',
      value: ({ why }) => why.map(({ label, now, rescored }) => `${label} ${now} → ${rescored}`).join(', '),
      maximum: 80,
    },
  ]);
}
