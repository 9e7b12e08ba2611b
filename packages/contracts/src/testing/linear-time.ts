// The time that a regular expression takes on its worst text, for tests: found with recheck, and never by a clock.
import { checkSync } from 'recheck';

/**
 * A look-behind for the run of one character at the end of a text, as in `(?<!x)x+$`: no match begins within a run, so each run is walked
 * through once. recheck's automata know no look-behinds.
 */
const runAtEnd = /\(\?<!(?<one>\\?[^\\])\)\k<one>\+\$/;

/** The number of repetitions in `x{0,300}`, where its greatest has more than one digit. */
const boundedRepetition = /\{\d+,\d{2,}\}/g;

/**
 * `safe` if the pattern takes time linear in the length of any text, else the complexity on its worst text; `unknown` counts as not safe.
 * First `x{0,300}` is taken as `x*`, which matches all that it matches: if that takes linear time, so does the pattern, and an automaton
 * shows it for certain. Other patterns are left to recheck, which may search for slow texts by trial. Nothing of that has a time-out here: on a
 * busy machine, a pattern whose trial is merely kept waiting would be taken for slow, and a slow one for unknown.
 */
export function timeOfPattern(source: string, flags: string): string {
  const known = source.replace(runAtEnd, '$<one>$$');
  const unbounded = checkSync(known.replace(boundedRepetition, '*'), flags, {
    checker: 'automaton',
    timeout: null,
  });
  if (unbounded.status === 'safe') return 'safe';
  const found = checkSync(known, flags, {
    attackTimeout: null,
    incubationTimeout: null,
    seedingTimeout: null,
    timeout: null,
  });
  return found.status === 'vulnerable' ? found.complexity.summary : found.status;
}
