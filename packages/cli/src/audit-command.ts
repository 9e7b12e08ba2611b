// `lead-scoring audit`: who changed what, from where, and what it was before and after. docs/audit.md
import type { CallAnswer } from '@lead-scoring/client';
import { clientOf, promptRetries } from './api-client.js';
import { exitCodes } from './errors.js';
import { shortTime } from './explanation.js';
import { table, type Output } from './output.js';
import type { Settings } from './settings.js';

type Entry = CallAnswer<'listAudit'>['data'][number];

export interface AuditFlags {
  from?: string;
  to?: string;
  actor?: string;
  kind?: string;
  q?: string;
  limit?: string;
  /** All entries as CSV. */
  csv?: boolean;
}

const filters = ['from', 'to', 'actor', 'kind', 'q', 'limit'] as const;

/** @returns the exit code */
export async function listChanges(
  flags: AuditFlags & { json?: boolean },
  settings: Settings,
  output: Output,
): Promise<number> {
  const query = Object.fromEntries(
    filters.flatMap((name) => (flags[name] === undefined ? [] : [[name, flags[name]]])),
  );
  const client = clientOf(settings, promptRetries);
  if (flags.csv === true) {
    const text = new TextDecoder();
    for await (const part of await client.open('listAudit', { query, accept: 'text/csv' }))
      output.write(text.decode(part, { stream: true }));
    return exitCodes.done;
  }
  const { data, next_cursor } = await client.call('listAudit', { query });
  output.write(flags.json === true ? `${JSON.stringify(data, null, 2)}\n` : `${tableOf(data)}\n`);
  if (data.length === 0) output.note('No change was found.\n');
  else if (next_cursor !== undefined)
    output.note(
      `The newest ${data.length}; there are older ones: ask with --to or --limit, or for all with --csv.\n`,
    );
  return exitCodes.done;
}

function tableOf(entries: readonly Entry[]): string {
  return table(entries, [
    { title: 'TIME', value: ({ at }) => shortTime(at) },
    { title: 'WHO', value: ({ actor }) => actor?.name ?? actor?.id ?? '', maximum: 24 },
    { title: 'FROM', value: ({ address }) => address ?? '' },
    { title: 'WHAT', value: ({ kind, action }) => `${kind} ${action}` },
    { title: 'NAME', value: ({ subject }) => subject.name ?? subject.id, maximum: 30 },
    { title: 'CHANGE', value: changeOf, maximum: 60 },
  ]);
}

/** `weight: 10 → 12`; of what was made or is gone, nothing: the name says enough. */
function changeOf({ before, after }: Entry): string {
  if (before === null || after === null) return '';
  return [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .map((field) => `${field}: ${shown(before[field])} → ${shown(after[field])}`)
    .join(', ');
}

const shown = (value: unknown): string =>
  value === undefined ? '-' : typeof value === 'string' ? value : JSON.stringify(value);
