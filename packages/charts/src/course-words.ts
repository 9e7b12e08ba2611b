// The course of a score in words, for readers who do not see its plot.
import { numberInWords, withSign } from './words.js';
import { extremes } from './steps.js';

/** The scores as a sentence. `range` names their time: `the last 30 days`. */
export function courseInWords(scores: readonly number[], range: string): string {
  const first = scores[0] ?? 0;
  const last = scores.at(-1) ?? first;
  const [lowest, highest] = extremes(scores);
  if (lowest >= highest) return `The score stayed at ${numberInWords(last)} throughout ${range}.`;
  const change =
    last === first
      ? `The score began and ended ${range} at ${numberInWords(last)}`
      : `Over ${range} the score ${last > first ? 'rose' : 'fell'} from ${numberInWords(first)} to ${numberInWords(last)} (${withSign(last - first)})`;
  const between = [
    highest > Math.max(first, last) ? `as high as ${numberInWords(highest)}` : '',
    lowest < Math.min(first, last) ? `as low as ${numberInWords(lowest)}` : '',
  ].filter((part) => part !== '');
  return between.length === 0 ? `${change}.` : `${change}, and was ${between.join(' and ')} in between.`;
}
