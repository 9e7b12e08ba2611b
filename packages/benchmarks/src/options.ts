// The options of `npm run bench -- …`.
import { parseArgs } from 'node:util';
import type { CapacityCell } from './capacity.js';

export const allParts = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm', 'n', 'o'] as const;
type Part = (typeof allParts)[number];

/** In which the system of another checkout can take part. */
const comparedParts: ReadonlySet<Part> = new Set(['a', 'b', 'e']);

const isPart = (text: string): text is Part => (allParts as readonly string[]).includes(text);

export interface Options {
  parts: readonly Part[];
  /** Another checkout of this project, built, whose system takes turns with this one's; undefined: none. */
  before: string | undefined;
  rounds: number;
  /** The cells of the capacity measurement; undefined: the default cells. */
  cells: CapacityCell[] | undefined;
  /** Small sizes and short times: tests the benchmark; its figures mean nothing. */
  quick: boolean;
  /** The file for the results; undefined: they are only printed. */
  output: string | undefined;
}

export const usage = `npm run bench -- [--only a,b,c,d,e,f,g,h,i,j,k,l,m,n,o] [--before CHECKOUT] [--rounds N] [--cells CELL,…] [--quick]
                      [--output FILE]
  --only    a: accepting events; b: from POST to readable score; c: latencies of reads;
            d: from POST to notification; e: capacity; f: costs of rules; g: decay; h: analytics;
            i: what-ifs and rescorings; j: imports; k: deletion of events;
            l: joins of visitors, and Segment; m: a Kafka topic as a source; n: signing in;
            o: several processes of a service;
            several with commas. Default: all
  --before  a built checkout of another commit: in a, b and e its system takes turns with this one's, and the report
            has the ratios of the two. Not for the others
  --rounds  how often each contender runs, 1 to 20. Default: 3, with --quick 1. In c, e and h each runs once
  --cells   for e: EVENTS-PER-REQUEST/LEADS/PARTITIONS, several with commas: 100/20000/6,100/20000/1. Default:
            100/20000/6 and variations of each of its three numbers
  --quick   small sizes and short times: tests the benchmark; its figures mean nothing
  --output  the file for the results; a part replaces only itself in it. Default: RESULTS.md of this package, with
            --quick or --before none
`;

/**
 * @param resultsFile the default output file
 * @throws Error that names the wrong option and its allowed values
 */
export function readOptions(flags: readonly string[], resultsFile: string): Options {
  const { values } = parseArgs({
    args: [...flags],
    options: {
      only: { type: 'string' },
      before: { type: 'string' },
      rounds: { type: 'string' },
      cells: { type: 'string' },
      quick: { type: 'boolean', default: false },
      output: { type: 'string' },
    },
  });
  const { before, only, quick } = values;
  const parts = only?.split(',').filter(isPart) ?? allParts;
  if (only !== undefined && parts.length !== only.split(',').length)
    throw new Error(`--only is "${only}"; it must be a letter from a to o, or several of them as in a,b.`);
  if (before !== undefined && parts.some((part) => !comparedParts.has(part)))
    throw new Error('--before compares a, b and e: add --only a,b (or one of them).');
  const rounds = values.rounds === undefined ? (quick ? 1 : 3) : Number(values.rounds);
  if (!Number.isInteger(rounds) || rounds < 1 || rounds > 20)
    throw new Error(`--rounds is "${values.rounds ?? ''}"; it must be a whole number from 1 to 20.`);
  return {
    parts,
    before,
    rounds,
    cells: values.cells === undefined ? undefined : cellsOf(values.cells),
    quick,
    output: values.output ?? (quick || before !== undefined ? undefined : resultsFile),
  };
}

function cellsOf(text: string): CapacityCell[] {
  return text.split(',').map((cell) => {
    const [, eventsPerRequest, leads, partitions] = /^(\d+)\/(\d+)\/(\d+)$/.exec(cell) ?? [];
    const read = {
      eventsPerRequest: Number(eventsPerRequest),
      leads: Number(leads),
      partitions: Number(partitions),
    };
    if (!Object.values(read).every((value) => value >= 1))
      throw new Error(
        `--cells has "${cell}"; a cell is EVENTS-PER-REQUEST/LEADS/PARTITIONS, as in 100/20000/6.`,
      );
    return read;
  });
}
