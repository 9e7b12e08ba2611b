// Part of (h): GET /events/export against the pages of GET /events, read one after the other.
import { request as httpRequest } from 'node:http';
import { expectSuccess, openConnections, type Target } from './load/connection.js';
import { interleaved } from './rounds.js';

export interface ExportSizes {
  /** Pages of 100 events that are read in a round; not all, because a million events have 10,000. */
  pages: number;
  rounds: number;
}

export interface ExportRound {
  eventsPerSecond: number;
  firstByteMs: number;
}

/** The pages come first; the others are exports of all events, by media type. */
export type ExportResult = readonly { name: string; rounds: ExportRound[] }[];

const pageSize = 100;

/** @param events the number of events that the exports must have */
export function measureExports(
  target: Target,
  events: number,
  { pages, rounds }: ExportSizes,
  say: (message: string) => void,
): Promise<ExportResult> {
  const contenders = [
    { name: 'pages of GET /events', measure: () => readPages(target, pages) },
    ...['text/csv', 'application/x-ndjson'].map((type) => ({
      name: `export as ${type}`,
      measure: () => readExport(target, type, events),
    })),
  ];
  return interleaved(contenders, rounds, ({ measure }) => measure(), {
    say,
    describe: ({ eventsPerSecond, firstByteMs }) =>
      `${String(Math.round(eventsPerSecond))} events/s, first byte after ${firstByteMs.toFixed(0)} ms`,
  });
}

/** Pages that are read with the cursor of the page before. */
async function readPages(target: Target, pages: number): Promise<ExportRound> {
  const connections = openConnections(target, 1);
  try {
    const begun = performance.now();
    let firstByteMs = Infinity;
    let cursor = '';
    let read = 0;
    for (let page = 0; page < pages; page += 1) {
      const path = `/events?limit=${String(pageSize)}${cursor}`;
      const text = expectSuccess(`GET ${path}`, await connections.send('GET', path));
      firstByteMs = Math.min(firstByteMs, performance.now() - begun);
      const { data, next_cursor } = JSON.parse(text) as { data: unknown[]; next_cursor?: string };
      read += data.length;
      if (next_cursor === undefined) break;
      cursor = `&cursor=${next_cursor}`;
    }
    return { eventsPerSecond: (1_000 * read) / (performance.now() - begun), firstByteMs };
  } finally {
    connections.close();
  }
}

/** @throws Error when the export has another number of events */
function readExport(target: Target, type: string, events: number): Promise<ExportRound> {
  const begun = performance.now();
  const newline = '\n'.charCodeAt(0);
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      `${target.baseUrl}/events/export`,
      { headers: { ...target.headers, accept: type } },
      (response) => {
        let firstByteMs = Infinity;
        let lines = 0;
        response.on('data', (part: Buffer) => {
          firstByteMs = Math.min(firstByteMs, performance.now() - begun);
          for (let at = part.indexOf(newline); at !== -1; at = part.indexOf(newline, at + 1)) lines += 1;
        });
        response.on('error', reject);
        response.on('end', () => {
          // CSV has a line before the events.
          const found = type === 'text/csv' ? lines - 1 : lines;
          if (response.statusCode === 200 && found === events)
            resolve({ eventsPerSecond: (1_000 * events) / (performance.now() - begun), firstByteMs });
          else
            reject(
              new Error(
                `the export as ${type} answered ${String(response.statusCode)} with ${String(found)} events in place of ${String(events)}`,
              ),
            );
        });
      },
    );
    request.on('error', reject);
    request.end();
  });
}
