// What `npm run bench -- …` takes.
import { parseArgs } from 'node:util';

export const allParts = ['a', 'b', 'c', 'd'] as const;
type Part = (typeof allParts)[number];

export interface Options {
  parts: readonly Part[];
  rounds: number;
  /** Small sizes and short times: shows that everything works, measures nothing worth keeping. */
  quick: boolean;
  /** Where the results go; undefined: they are only printed. */
  output: string | undefined;
}

export const usage = `npm run bench -- [--only a|b|c|d] [--rounds N] [--quick] [--output FILE]
  --only    a: accepting events; b: from POST to readable score; c: latencies of reads;
            d: from POST to notification. Default: all
  --rounds  how often each contender of a, b and d runs, 1 to 20. Default: 3, with --quick 1
  --quick   small sizes and short times: shows that everything works, measures nothing worth keeping
  --output  the file for the results, in which a part replaces only itself. Default: RESULTS.md of this package, with
            --quick none
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
      rounds: { type: 'string' },
      quick: { type: 'boolean', default: false },
      output: { type: 'string' },
    },
  });
  const { only, quick } = values;
  if (only !== undefined && only !== 'a' && only !== 'b' && only !== 'c' && only !== 'd')
    throw new Error(`--only is "${only}"; it must be a, b, c or d.`);
  const rounds = values.rounds === undefined ? (quick ? 1 : 3) : Number(values.rounds);
  if (!Number.isInteger(rounds) || rounds < 1 || rounds > 20)
    throw new Error(`--rounds is "${values.rounds ?? ''}"; it must be a whole number from 1 to 20.`);
  return {
    parts: only === undefined ? allParts : [only],
    rounds,
    quick,
    output: values.output ?? (quick ? undefined : resultsFile),
  };
}
