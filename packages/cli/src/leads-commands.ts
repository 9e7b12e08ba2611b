// `lead-scoring leads`, `explain`, `reset` and `delete`: lists scores, explains or restarts a score, deletes a lead.
import type { CallAnswer, Client } from '@lead-scoring/client';
import {
  anyScoreTypes,
  gridCells,
  leadIdOf,
  normaliseAlias,
  routeDeclarations,
  type GridCell,
} from '@lead-scoring/contracts';
import { clientOf, promptRetries } from './api-client.js';
import { CommandFailed, exitCodes } from './errors.js';
import { explanation, shortTime } from './explanation.js';
import { wholeNumber } from './ingest-command.js';
import { table, type Output } from './output.js';
import type { Settings } from './settings.js';

export interface LeadsFlags {
  scoreType?: string;
  minScore?: string;
  maxScore?: string;
  level?: string;
  grid?: string;
  filter?: string;
  search?: string;
  sort?: string;
  limit?: string;
  page?: string;
  json?: boolean;
}

const sorts = routeDeclarations.leadSorts;

/** @returns the exit code */
export async function leads(flags: LeadsFlags, settings: Settings, output: Output): Promise<number> {
  const sort = sorts.find((one) => one === (flags.sort ?? '-score'));
  if (!sort) throw new CommandFailed(`--sort must be one of ${sorts.join(', ')}.`, exitCodes.usage);
  const scoreType = scoreTypeOf(flags.scoreType);
  const client = clientOf(settings, promptRetries);
  const filterId = flags.filter === undefined ? undefined : await filterIdFrom(flags.filter, client);
  const answer = await client.call('listLeads', {
    query: {
      limit: wholeNumber('--limit', flags.limit ?? '25', 1, 100),
      page: wholeNumber('--page', flags.page ?? '1', 1, 1_000_000),
      sort,
      ...(flags.scoreType !== undefined && { score_type: scoreType }),
      ...(flags.minScore !== undefined && { min_score: numberOf('--min-score', flags.minScore) }),
      ...(flags.maxScore !== undefined && { max_score: numberOf('--max-score', flags.maxScore) }),
      ...(flags.level !== undefined && { level: flags.level }),
      ...(flags.grid !== undefined && { grid: cellOf(flags.grid) }),
      ...(filterId !== undefined && { filter_id: filterId }),
      ...(flags.search !== undefined && { q: flags.search }),
    },
  });
  if (flags.json === true) {
    output.write(`${JSON.stringify(answer, null, 2)}\n`);
    return exitCodes.done;
  }
  if (answer.total === 0) {
    output.write('No leads.\n');
    return exitCodes.done;
  }
  output.write(
    `${table(answer.data, [
      { title: 'SCORE', value: (lead) => scoreOf(lead, scoreType), align: 'right' },
      { title: 'LEVEL', value: (lead) => levelOf(lead, scoreType), maximum: 16 },
      { title: 'NAME', value: (lead) => lead.name, maximum: 40 },
      { title: 'COMPANY', value: (lead) => lead.company ?? '', maximum: 24 },
      { title: 'EVENTS', value: (lead) => lead.event_count, align: 'right' },
      { title: 'LAST ACTIVITY', value: (lead) => shortTime(lead.last_activity_at) },
      { title: 'ID', value: (lead) => lead.id },
    ])}\n`,
  );
  output.note(`${answer.data.length} of ${answer.total.toLocaleString('en')} leads\n`);
  return exitCodes.done;
}

type Lead = CallAnswer<'listLeads'>['data'][number];
type ScoreType = (typeof anyScoreTypes)[number];

function scoreTypeOf(given = 'engagement'): ScoreType {
  const type = anyScoreTypes.find((one) => one === given);
  if (!type)
    throw new CommandFailed(`--score-type must be one of ${anyScoreTypes.join(', ')}.`, exitCodes.usage);
  return type;
}

/** A lead without an account has 0 points of one. */
function scoreOf({ scores }: Lead, type: ScoreType): number {
  return scores[type] ?? 0;
}

/** Scores of deals and accounts have no levels. */
function levelOf({ level, profile_level }: Lead, type: ScoreType): string {
  if (type === 'engagement') return level?.name ?? '';
  return type === 'profile' ? (profile_level?.name ?? '') : '';
}

function cellOf(given: string): GridCell {
  const cell = gridCells.find((one) => one === given.toUpperCase());
  if (!cell) throw new CommandFailed('--grid must be a cell of the grid, A1 to D4.', exitCodes.usage);
  return cell;
}

export interface ExplainFlags {
  scoreType?: string;
  at?: string;
  knownAt?: string;
  hours?: string;
  json?: boolean;
}

/** @returns the exit code */
export async function explain(
  lead: string,
  flags: ExplainFlags,
  settings: Settings,
  output: Output,
): Promise<number> {
  const scoreType = scoreTypeOf(flags.scoreType);
  const client = clientOf(settings, promptRetries);
  const answer = await client.call('explainScore', {
    parameters: { leadID: await leadIdFrom(lead, settings, client) },
    query: {
      ...(flags.scoreType !== undefined && { score_type: scoreType }),
      ...(flags.hours !== undefined && { range_hours: wholeNumber('--hours', flags.hours, 1, 876_000) }),
      ...(flags.at !== undefined && { at: flags.at }),
      ...(flags.knownAt !== undefined && { known_at: flags.knownAt }),
    },
  });
  output.write(flags.json === true ? `${JSON.stringify(answer, null, 2)}\n` : explanation(answer));
  return exitCodes.done;
}

export interface ResetFlags {
  /** Why, in the words of the person who resets the score. */
  reason?: string;
}

/** @returns the exit code */
export async function resetScore(
  lead: string,
  { reason }: ResetFlags,
  settings: Settings,
  output: Output,
): Promise<number> {
  const client = clientOf(settings, promptRetries);
  const { lead_id, previous_score } = await client.call('resetScores', {
    parameters: { leadID: await leadIdFrom(lead, settings, client) },
    body: { ...(reason !== undefined && { reason }) },
  });
  output.note(`Lead ${lead_id} had ${previous_score} points and has 0; its history stays.\n`);
  return exitCodes.done;
}

/** @returns the exit code */
export async function deleteLead(lead: string, settings: Settings, output: Output): Promise<number> {
  const client = clientOf(settings, promptRetries);
  const id = await leadIdFrom(lead, settings, client);
  await client.call('deleteLead', { parameters: { leadID: id } });
  output.note(`Lead ${id} is deleted, with its events, scores, aliases, share links and notifications.\n`);
  return exitCodes.done;
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * The id of a lead, given as its id or as an alias (`kind:alias` or an e-mail address), from which the id is computed.
 */
export async function leadIdFrom(lead: string, settings: Settings, client: Client): Promise<string> {
  if (uuid.test(lead)) return lead.toLowerCase();
  const named = /^([a-z0-9_]{1,32}):([^]+)$/.exec(lead);
  const [kind, alias] = named ? [named[1] ?? '', named[2] ?? ''] : ['email', lead];
  const normalised = normaliseAlias(kind, alias);
  if ('problem' in normalised)
    throw new CommandFailed(
      `"${lead}" names no lead: give its id, its e-mail address, or kind:alias such as phone:+4915112345678.`,
      exitCodes.usage,
    );
  return leadIdOf(settings.ouId ?? (await activeUnit(client)), kind, normalised.alias);
}

/** The id of a saved filter, given as its id or its name in any case. */
async function filterIdFrom(filter: string, client: Client): Promise<string> {
  if (uuid.test(filter)) return filter.toLowerCase();
  const names: string[] = [];
  for (let page = 1; ; page += 1) {
    const { data, total } = await client.call('listFilters', { query: { page, limit: 100 } });
    const found = data.find(({ name }) => name.toLowerCase() === filter.toLowerCase());
    if (found) return found.id;
    names.push(...data.map(({ name }) => `"${name}"`));
    if (data.length === 0 || names.length >= total) break;
  }
  throw new CommandFailed(
    `No saved filter is named "${filter}". ${names.length === 0 ? 'There are none; POST /filters saves one.' : `There are ${names.slice(0, 20).join(', ')}.`}`,
    exitCodes.usage,
  );
}

async function activeUnit(client: Client): Promise<string> {
  const { data } = await client.call('listOrgUnits', { query: { limit: 100 } });
  const unit = data.find((one) => one.active) ?? (data.length === 1 ? data[0] : undefined);
  if (!unit) throw new CommandFailed('Name the organizational unit with --ou.', exitCodes.usage);
  return unit.id;
}

function numberOf(flag: string, text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isFinite(value)) return value;
  throw new CommandFailed(`${flag} must be a number, not "${text}".`, exitCodes.usage);
}
