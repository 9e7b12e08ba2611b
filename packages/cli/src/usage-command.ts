// `lead-scoring usage`: what each credential has called and sent, or what each day or hour had. docs/limits.md
import type { routeDeclarations } from '@lead-scoring/contracts';
import { clientOf, promptRetries } from './api-client.js';
import { CommandFailed, exitCodes } from './errors.js';
import { table, type Output } from './output.js';
import type { Settings } from './settings.js';

export interface UsageFlags {
  from?: string;
  to?: string;
  by?: string;
  json?: boolean;
}

type Usage = routeDeclarations.Usage;

/** @returns the exit code */
export async function usage(flags: UsageFlags, settings: Settings, output: Output): Promise<number> {
  const { from, to, by } = flags;
  if (by !== undefined && by !== 'day' && by !== 'hour')
    throw new CommandFailed('--by must be day or hour.', exitCodes.usage);
  const answer = await clientOf(settings, promptRetries).call('getUsage', {
    query: { granularity: by ?? 'day', ...(from !== undefined && { from }), ...(to !== undefined && { to }) },
  });
  if (flags.json === true) {
    output.write(`${JSON.stringify(answer, null, 2)}\n`);
    return exitCodes.done;
  }
  output.write(`${by === undefined ? credentialTable(answer) : periodTable(answer, by)}\n`);
  const { totals } = answer;
  output.note(
    `${answer.from} to ${answer.to}: ${counted(totals.calls, 'call')}, ${counted(totals.events, 'event')}, ${counted(totals.repeats, 'repeat')}, ${counted(totals.notifications, 'notification')} delivered\n`,
  );
  return exitCodes.done;
}

/** `1 call`, `2,000 calls` */
function counted(n: number, what: string): string {
  return `${n.toLocaleString('en')} ${what}${n === 1 ? '' : 's'}`;
}

const number = (value: number) => value.toLocaleString('en');

function credentialTable(answer: Usage): string {
  return table(byCredential(answer), [
    { title: 'CREDENTIAL', value: ({ name }) => name, maximum: 30 },
    { title: 'CALLS', value: ({ calls }) => number(calls), align: 'right' },
    { title: 'EVENTS', value: ({ events }) => number(events), align: 'right' },
    { title: 'REPEATS', value: ({ repeats }) => number(repeats), align: 'right' },
    { title: 'KIND', value: ({ kind }) => kind },
    { title: 'ID', value: ({ id }) => id },
  ]);
}

/** The periods in which something was counted. */
function periodTable({ periods }: Usage, by: 'day' | 'hour'): string {
  const used = periods.filter((one) => one.calls + one.events + one.repeats + one.notifications > 0);
  return table(used, [
    {
      title: by === 'day' ? 'DAY (UTC)' : 'HOUR (UTC)',
      value: ({ starts_at }) =>
        by === 'day' ? starts_at.slice(0, 10) : starts_at.slice(0, 16).replace('T', ' '),
    },
    { title: 'CALLS', value: ({ calls }) => number(calls), align: 'right' },
    { title: 'EVENTS', value: ({ events }) => number(events), align: 'right' },
    { title: 'REPEATS', value: ({ repeats }) => number(repeats), align: 'right' },
    { title: 'NOTIFICATIONS', value: ({ notifications }) => number(notifications), align: 'right' },
  ]);
}

interface OfCredential {
  kind: string;
  id: string;
  name: string;
  calls: number;
  events: number;
  repeats: number;
}

/** The sums of each credential, the one with most calls first. */
function byCredential({ calls, events }: Usage): OfCredential[] {
  const sums = new Map<string, OfCredential>();
  const sumsOf = ({ kind, id, name }: Usage['calls'][number]['credential']) => {
    const key = `${kind}:${id}`;
    const known = sums.get(key) ?? { kind, id, name: name ?? '', calls: 0, events: 0, repeats: 0 };
    sums.set(key, known);
    return known;
  };
  for (const row of calls) sumsOf(row.credential).calls += row.calls;
  for (const row of events) {
    const sum = sumsOf(row.credential);
    sum.events += row.events;
    sum.repeats += row.repeats;
  }
  return [...sums.values()].sort((a, b) => b.calls - a.calls || b.events - a.events);
}
