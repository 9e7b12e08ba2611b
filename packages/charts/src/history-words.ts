// The history of a score in words, for readers who hear its picture.
import { courseInWords } from './course-words.js';
import {
  boundsInWords,
  labelInWords,
  rangeOfLabels,
  type DrawnHistory,
  type HistoryPoint,
} from './score-history.js';
import { countInWords, isolated, numberInWords } from './words.js';

/** Scores that are told one by one. */
const toldPoints = 12;

/** `Lead score of Ada Lovelace, 28 March 2026 to 30 March 2026`. */
export function historyTitle({ kind, points }: DrawnHistory, name: string): string {
  return `${kind} of ${isolated(name)}, ${rangeOfLabels(points)}`;
}

/** The picture as a text: the first and the last score, the points added and taken away, the levels, and the scores of some hours or days. */
export function historyInWords(history: DrawnHistory): string {
  const { score_before, points, timezone, granularity } = history;
  const scores = [score_before, ...points.map(({ score }) => score)];
  const range = points.length === 1 ? rangeOfLabels(points) : `the time from ${rangeOfLabels(points)}`;
  const which =
    points.length === 1
      ? `the ${granularity}`
      : `${points.length > toldPoints ? 'some' : 'all'} ${granularity}s`;
  return [
    courseInWords(scores, range),
    movesInWords(points),
    levelsInWords(history),
    `The score at the end of ${which}, in the time zone ${timezone}: ${someOf(points)
      .map(({ label, score }) => `${labelInWords(label)}: ${numberInWords(score)}`)
      .join('; ')}.`,
  ]
    .filter((sentence) => sentence !== '')
    .join(' ');
}

/** The points added and the points taken away over all hours or days. */
export function movesOf(points: readonly HistoryPoint[]): { added: number; taken: number } {
  return points.reduce((sum, { added, taken }) => ({ added: sum.added + added, taken: sum.taken + taken }), {
    added: 0,
    taken: 0,
  });
}

function movesInWords(points: readonly HistoryPoint[]): string {
  const { added, taken } = movesOf(points);
  if (added === 0 && taken === 0) return 'No points were added or taken away.';
  return `${countInWords(added, 'point was', 'points were')} added and ${numberInWords(0 - taken)} taken away.`;
}

function levelsInWords({ level, levels }: DrawnHistory): string {
  if (levels.length === 0) return '';
  const bands = levels.map((one) => `${isolated(one.name)} ${boundsInWords(one)}`).join(', ');
  return `The last score is ${level ? `in the level ${isolated(level.name)}` : 'in no level'}. The levels are ${bands}.`;
}

/** All of them when they are few, else some at equal distances, with the first and the last. */
function someOf(points: readonly HistoryPoint[]): HistoryPoint[] {
  if (points.length <= toldPoints) return [...points];
  return Array.from(
    { length: toldPoints },
    (_, index) => points.slice(Math.round((index * (points.length - 1)) / (toldPoints - 1)))[0],
  ).filter((point) => point !== undefined);
}
