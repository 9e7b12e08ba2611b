// Reads a CSV mapping from a file or from flags.
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { csvMapping, type CsvMapping } from './csv-mapping.js';
import { CommandFailed, exitCodes } from './errors.js';

export interface MappingFlags {
  mapping?: string;
  aliasKind?: string;
  aliasColumn?: string;
  eventType?: string;
  eventTypeColumn?: string;
  timestampColumn?: string;
  emptyTimestamp?: 'refuse' | 'now';
  eventIdColumn?: string;
  repeatColumn?: string;
  metadataColumns?: string;
  textColumns?: string;
}

const columnFlags = [
  'aliasColumn',
  'aliasKind',
  'eventType',
  'eventTypeColumn',
  'timestampColumn',
  'eventIdColumn',
  'repeatColumn',
  'metadataColumns',
  'textColumns',
] as const;

/** The mapping in the flags; null when there is none. */
export async function mappingOf(flags: MappingFlags): Promise<CsvMapping | null> {
  const given = columnFlags.filter((flag) => flags[flag] !== undefined);
  if (flags.mapping !== undefined) {
    if (given.length > 0 || flags.emptyTimestamp !== undefined)
      throw new CommandFailed('Give a mapping file or flags for the columns, not both.', exitCodes.usage);
    return mappingIn(flags.mapping);
  }
  if (given.length === 0) return null;
  const { aliasColumn, eventType, eventTypeColumn, timestampColumn } = flags;
  if (aliasColumn === undefined)
    throw new CommandFailed(
      'Name the column with the alias of the lead with --alias-column.',
      exitCodes.usage,
    );
  if ((eventType === undefined) === (eventTypeColumn === undefined))
    throw new CommandFailed('Give either --event-type or --event-type-column.', exitCodes.usage);
  const column = (name: string | undefined) => (name === undefined ? undefined : { column: name });
  return csvMapping.parse({
    alias: { kind: flags.aliasKind ?? 'email', column: aliasColumn },
    events: [
      {
        event_type: eventType !== undefined ? { fixed: eventType } : { column: eventTypeColumn },
        timestamp:
          timestampColumn === undefined
            ? undefined
            : { column: timestampColumn, when_empty: flags.emptyTimestamp },
        event_id: column(flags.eventIdColumn),
        repeat: column(flags.repeatColumn),
      },
    ],
    metadata: {
      ...(flags.metadataColumns !== undefined && { columns: namesIn(flags.metadataColumns) }),
      ...(flags.textColumns !== undefined && {
        text: flags.textColumns.trim() === 'all' ? 'all' : namesIn(flags.textColumns),
      }),
    },
  });
}

async function mappingIn(file: string): Promise<CsvMapping> {
  const text = await readFile(file, 'utf8');
  let content: unknown;
  try {
    content = JSON.parse(text) as unknown;
  } catch (error) {
    throw new CommandFailed(`${file} is not JSON.`, exitCodes.data, { cause: error });
  }
  const mapping = csvMapping.safeParse(content);
  if (mapping.success) return mapping.data;
  throw new CommandFailed(`${file} is not a mapping:\n${z.prettifyError(mapping.error)}`, exitCodes.data);
}

function namesIn(list: string): string[] {
  return list
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean);
}

/** The section of `ingest --help` on mappings. */
export const mappingHelp = `
A mapping gives the meaning of the columns of a CSV; --init-mapping proposes one:

  {
    "alias": { "kind": "email", "column": "E-mail" },
    "events": [
      {
        "event_type": { "column": "Last Activity" },
        "timestamp": { "column": "When", "when_empty": "now" },
        "event_id": { "column": "Activity ID" }
      },
      { "event_type": { "fixed": "Page View" }, "repeat": { "column": "TotalVisits" } }
    ],
    "metadata": {
      "columns": "others",
      "rename": { "Full Name": "name" },
      "text": ["Customer number"],
      "ignore_values": ["Select"]
    }
  }

  alias       kind (email, phone, external_id, user_id, …) and the column with the alias of the lead
  events      the events of each row. event_type, timestamp and event_id are {"column": …} or {"fixed": …}.
              Without a type there is no event; without "timestamp" the event has the time of sending. A row
              with an empty timestamp is rejected, unless "when_empty": "now". The same event_id of a lead
              counts once, for ever. repeat: the row gives as many events as the number in this column (at
              most "maximum": 10000). metadata: false leaves the metadata out
  metadata    columns: "others" (all without another meaning) or a list; keys: "snake_case" or "as_is"; rename:
              other keys for columns; text: columns whose numbers stay text, or "all"; ignore_values: cells
              that count as empty. name, first_name, last_name, company, title, owner and phone are fields of
              the lead
`;
