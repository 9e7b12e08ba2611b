// `lead-scoring history`: the score of a lead by hour or day, as a table, as JSON or as a picture in a file.
import { writeFile } from 'node:fs/promises';
import type { CallAnswer } from '@lead-scoring/client';
import { leadScoreTypes } from '@lead-scoring/contracts';
import { clientOf, promptRetries } from './api-client.js';
import { CommandFailed, exitCodes } from './errors.js';
import { wholeNumber } from './ingest-command.js';
import { leadIdFrom } from './leads-commands.js';
import { plain, table, type Output } from './output.js';
import type { Settings } from './settings.js';

export interface HistoryFlags {
  by?: string;
  from?: string;
  to?: string;
  timezone?: string;
  scoreType?: string;
  knownAt?: string;
  /** The file that the picture is written to. */
  svg?: string;
  width?: string;
  json?: boolean;
}

/** @returns the exit code */
export async function history(
  lead: string,
  flags: HistoryFlags,
  settings: Settings,
  output: Output,
): Promise<number> {
  const client = clientOf(settings, promptRetries);
  const asked = {
    parameters: { leadID: await leadIdFrom(lead, settings, client) },
    query: queryOf(flags),
  };
  if (flags.svg !== undefined) {
    const width = wholeNumber('--width', flags.width ?? '960', 320, 1_600);
    const picture = await client.call('drawScoreHistory', { ...asked, query: { ...asked.query, width } });
    await writeFile(flags.svg, picture);
    output.note(`The picture is in ${flags.svg}.\n`);
    return exitCodes.done;
  }
  const answer = await client.call('getScoreHistory', asked);
  output.write(flags.json === true ? `${JSON.stringify(answer, null, 2)}\n` : historyTable(answer));
  return exitCodes.done;
}

function queryOf({ by, from, to, timezone, scoreType, knownAt }: HistoryFlags) {
  return {
    ...(by !== undefined && { granularity: oneOf('--by', by, ['hour', 'day']) }),
    ...(scoreType !== undefined && { score_type: oneOf('--score-type', scoreType, leadScoreTypes) }),
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
    ...(timezone !== undefined && { timezone }),
    ...(knownAt !== undefined && { known_at: knownAt }),
  };
}

function oneOf<Value extends string>(flag: string, given: string, values: readonly Value[]): Value {
  const value = values.find((one) => one === given);
  if (value === undefined)
    throw new CommandFailed(`${flag} must be one of ${values.join(', ')}.`, exitCodes.usage);
  return value;
}

function historyTable(answer: CallAnswer<'getScoreHistory'>): string {
  const { lead_name, score, level, timezone, granularity, points } = answer;
  return [
    `${plain(lead_name)} has ${score} points${level ? `, level ${plain(level.name)}` : ''} at the end of this time (${timezone}).`,
    '',
    `${table(points, [
      { title: granularity.toUpperCase(), value: ({ label }) => label.replace('T', ' ') },
      { title: 'ADDED', value: ({ added }) => added, align: 'right' },
      { title: 'TAKEN', value: ({ taken }) => taken, align: 'right' },
      { title: 'SCORE', value: ({ score: then }) => then, align: 'right' },
    ])}\n`,
  ].join('\n');
}
