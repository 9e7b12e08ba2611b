// GET /events/export: all events that a query asks for, as they are read, in memory that does not grow with their number.
import { eventTypeKey, routes } from '@lead-scoring/contracts';
import type { ReadModel } from '@lead-scoring/read-model';
import { bindQuery, problem, StreamedAnswer, type BoundQuery } from '@lead-scoring/service';
import { leadsAsked } from '../events/leads-of-alias.js';
import { placeFrom, timeOf } from '../events/places.js';
import { eventsAt } from './events-at.js';
import { csvWriter, ndjsonWriter, type LineWriter } from './lines.js';
import { oneAhead } from './one-ahead.js';
import { runsOfPlaces, type AskedEvents } from './runs.js';
import { RunningExports, type ExportLimits } from './running-exports.js';

const defaultLimits: ExportLimits = { perUnit: 4, inAll: 32 };

export function exportQueries(readModel: ReadModel, limits: ExportLimits = defaultLimits): BoundQuery[] {
  const running = new RunningExports(limits);
  return [
    bindQuery(routes.exportEvents, async ({ query, context: { ouId, preferred } }) => {
      const isNdjson = preferred(['text/csv', 'application/x-ndjson']) === 'application/x-ndjson';
      if (isNdjson && query.columns)
        throw problem('invalid_request', 'query.columns is for CSV: a line of NDJSON has all metadata.', {
          errors: [{ path: 'query.columns', message: 'is for CSV: a line of NDJSON has all metadata' }],
        });
      const writer = isNdjson
        ? ndjsonWriter
        : csvWriter(query.columns?.split(',') ?? null, query.cursor !== undefined);
      const asked: AskedEvents = {
        ouId,
        typeKey: query.event_type === undefined ? null : eventTypeKey(query.event_type),
        fromMs: timeOf(query.from),
        toMs: timeOf(query.to),
        after: query.cursor === undefined ? null : placeFrom(query.cursor, ouId),
        asked: await leadsAsked(readModel, ouId, query),
      };
      return new StreamedAnswer(
        writer.contentType,
        running.counted(ouId, linesOf(readModel, asked, writer)),
        {
          'Content-Disposition': `attachment; filename="${writer.fileName}"`,
        },
      );
    }),
  ];
}

async function* linesOf(
  readModel: ReadModel,
  asked: AskedEvents,
  writer: LineWriter,
): AsyncGenerator<string> {
  let header = writer.header;
  const runs = oneAhead(runsOfPlaces(readModel, asked));
  for await (const placed of eventsAt(readModel, asked.ouId, runs)) {
    const lines = header + placed.map(writer.lineOf).join('');
    header = '';
    if (lines !== '') yield lines;
  }
  if (header !== '') yield header;
}
