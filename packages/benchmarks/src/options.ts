// What `npm run bench -- …` takes.
import { parseArgs } from 'node:util';

export const allParts = ['a', 'b', 'c', 'd'] as const;
type Part = (typeof allParts)[number];

const isPart = (text: string): text is Part => (allParts as readonly string[]).includes(text);

export interface Options {
  parts: readonly Part[];
  /** Another checkout of this project, built, whose system takes turns with this one's; undefined: none. */
  before: string | undefined;
  rounds: number;
  /** Small sizes and short times: shows that everything works, measures nothing worth keeping. */
  quick: boolean;
  /** Where the results go; undefined: they are only printed. */
  output: string | undefined;
}

export const usage = `npm run bench -- [--only a,b,c,d] [--before CHECKOUT] [--rounds N] [--quick] [--output FILE]
  --only    a: accepting events; b: from POST to readable score; c: latencies of reads;
            d: from POST to notification; several with commas. Default: all
  --before  the folder of another commit of this project, built: in a and b its system takes turns with this one's,
            and the report says what changed. Not for c and d
  --rounds  how often each contender of a, b and d runs, 1 to 20. Default: 3, with --quick 1
  --quick   small sizes and short times: shows that everything works, measures nothing worth keeping
  --output  the file for the results, in which a part replaces only itself. Default: RESULTS.md of this package, with
            --quick or --before none
`;

/**
 * @param resultsFile where results belong
 * @throws Error whose message says what to change
 */
export function readOptions(flags: readonly string[], resultsFile: string): Options {
  const { values } = parseArgs({
    args: [...flags],
    options: {
      only: { type: 'string' },
      before: { type: 'string' },
      rounds: { type: 'string' },
      quick: { type: 'boolean', default: false },
      output: { type: 'string' },
    },
  });
  const { before, only, quick } = values;
  const parts = only?.split(',').filter(isPart) ?? allParts;
  if (only !== undefined && parts.length !== only.split(',').length)
    throw new Error(`--only is "${only}"; it must be a, b, c or d, or several of them as in a,b.`);
  if (before !== undefined && (parts.includes('c') || parts.includes('d')))
    throw new Error('--before compares a and b: add --only a,b (or one of them).');
  const rounds = values.rounds === undefined ? (quick ? 1 : 3) : Number(values.rounds);
  if (!Number.isInteger(rounds) || rounds < 1 || rounds > 20)
    throw new Error(`--rounds is "${values.rounds ?? ''}"; it must be a whole number from 1 to 20.`);
  return {
    parts,
    before,
    rounds,
    quick,
    output: values.output ?? (quick || before !== undefined ? undefined : resultsFile),
  };
}
