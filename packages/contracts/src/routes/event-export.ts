// All events of an OU, or some of them, as a file of any size.
import { cursorParameter, inOrder, leadId, text } from '../common.js';
import { eventAlias, eventFilters, minPosition } from './events.js';
import { defineRoute, viewer } from './route.js';

const maximumColumns = 100;
const columnRule = 'must be metadata fields with commas between them, such as metadata.path,metadata.amount';

// Control characters have no place in the header of a table.
// oxlint-disable-next-line no-control-regex
const columnList = /^metadata\.[^\u0000-\u001f\u007f,]+(?:,metadata\.[^\u0000-\u001f\u007f,]+)*$/;

const columns = text(4_000, { minimum: 1 })
  .regex(columnList, { error: columnRule, abort: true })
  .refine((value) => value.isWellFormed(), { error: 'must be well-formed Unicode', abort: true })
  .refine(
    (value) => value.split(',').length <= maximumColumns,
    `must be at most ${String(maximumColumns)} columns`,
  )
  .describe(
    `CSV: the metadata fields that become columns, up to ${String(maximumColumns)}; a dot leads into an object. Default: one column with all metadata as JSON.`,
  )
  .meta({ example: 'metadata.path,metadata.amount' });

export const exportEvents = defineRoute({
  name: 'exportEvents',
  method: 'GET',
  path: '/events/export',
  owner: 'ingest',
  kind: 'query',
  access: viewer,
  tag: 'Events',
  summary: 'Events as a file of any size, newest first',
  description: [
    'Takes the filters of GET /events, and answers all of their events, as they are read. CSV (UTF-8 with a byte order mark, RFC 4180), or NDJSON where Accept prefers `application/x-ndjson`; gzip where Accept-Encoding has it.',
    'In CSV a text that a spreadsheet would run as a formula has an apostrophe in front, and what UTF-8 cannot hold is U+FFFD; NDJSON has every value as it was sent.',
    'Every line ends with a `cursor`. An answer that breaks off ends its connection before its end, so that a client sees it: ask again with the cursor of the last whole line, and what follows that line comes, without a header, to be appended. An event that was deleted meanwhile is left out; one that came meanwhile is there if it is older than what was sent.',
    'POST /import takes the file as it is, for another organizational unit or installation. In the unit that it comes from, events that had an event_id are repeats, and the others count a second time: their ids are not kept as ids that may come again.',
    'An answer may take any time. A reader that takes nothing of it for a minute is cut off. At most 4 exports of an organizational unit run at a time.',
  ].join('\n\n'),
  query: inOrder({
    ...eventFilters,
    lead_id: leadId.optional(),
    alias: eventAlias,
    columns: columns.optional(),
    cursor: cursorParameter,
    min_position: minPosition,
  }),
  responses: {
    200: {
      description: 'Events, a line each',
      contentType: 'text/csv',
      alsoAs: ['application/x-ndjson'],
    },
  },
  problems: [],
  partTimeoutMs: 60_000,
});
