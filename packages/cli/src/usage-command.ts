// `lead-scoring usage`: what each credential has called and sent, and what each channel was sent. docs/limits.md
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
  const { from, to, by = 'day' } = flags;
  if (by !== 'day' && by !== 'hour') throw new CommandFailed('--by must be day or hour.', exitCodes.usage);
  const answer = await clientOf(settings, promptRetries).call('getUsage', {
    query: { granularity: by, ...(from !== undefined && { from }), ...(to !== undefined && { to }) },
  });
  if (flags.json === true) {
    output.write(`${JSON.stringify(answer, null, 2)}\n`);
    return exitCodes.done;
  }
  output.write(
    `${table(byCredential(answer), [
      { title: 'CREDENTIAL', value: ({ name }) => name, maximum: 30 },
      { title: 'CALLS', value: ({ calls }) => calls.toLocaleString('en'), align: 'right' },
      { title: 'EVENTS', value: ({ events }) => events.toLocaleString('en'), align: 'right' },
      { title: 'REPEATS', value: ({ repeats }) => repeats.toLocaleString('en'), align: 'right' },
      { title: 'ID', value: ({ id }) => id },
    ])}\n`,
  );
  const { totals } = answer;
  output.note(
    `${answer.from} to ${answer.to}: ${totals.calls.toLocaleString('en')} calls, ${totals.events.toLocaleString('en')} events, ${totals.repeats.toLocaleString('en')} repeats, ${totals.notifications.toLocaleString('en')} notifications delivered\n`,
  );
  return exitCodes.done;
}

interface OfCredential {
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
    const known = sums.get(key) ?? { id: key, name: name ?? '', calls: 0, events: 0, repeats: 0 };
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
