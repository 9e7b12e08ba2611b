// Histories for tests of the picture: a usual one, and ones that are hard to draw.
import type { DrawnHistory, HistoryPoint } from '../score-history.js';

export const script = '<script>document.title="ran"</script>';
export const hostileName = `"><img src=x onerror="document.title='ran'">${script}]]>&amp;\u0000`;

const levels: DrawnHistory['levels'] = [
  { name: 'Cold', min_score: null, max_score: 29, color: '#4dabf7' },
  { name: 'Warm', min_score: 30, max_score: 59, color: '#fab005' },
  { name: 'Hot', min_score: 60, max_score: null, color: '#e8590c' },
];

const usualMoves = [
  18, 0, 15, 0, 0, -8, 7, 0, 0, -6, 0, 3, 0, 0, 12, -4, 20, 9, 0, 0, 14, -2, 0, 11, 0, 0, 5, 0, 8, 0,
];

/** A history that moves by these points, one after another by day or by hour. */
export function drawnHistory(
  changes: Partial<DrawnHistory> = {},
  moves: readonly number[] = usualMoves,
): DrawnHistory {
  const { score_before = 8, granularity = 'day' } = changes;
  let score = score_before;
  const points = moves.map((move, index): HistoryPoint => {
    score += move;
    const hours = index * (granularity === 'day' ? 24 : 1);
    const at = new Date(Date.UTC(2026, 9, 23, hours)).toISOString();
    return {
      label: granularity === 'day' ? at.slice(0, 10) : `${at.slice(0, 16)}+02:00`,
      added: Math.max(0, move),
      taken: Math.min(0, move),
      score,
    };
  });
  return {
    kind: 'Lead score',
    lead_name: 'Ada Lovelace',
    granularity,
    timezone: 'Europe/Berlin',
    score_before,
    level: { name: 'Hot', color: '#e8590c' },
    levels,
    points,
    ...changes,
  };
}

export const cases: Record<string, DrawnHistory> = {
  usual: drawnHistory(),
  hours: drawnHistory({ granularity: 'hour', timezone: 'America/Argentina/ComodRivadavia' }),
  'one-day': drawnHistory({ score_before: 0, level: null }, [0]),
  years: drawnHistory(
    {},
    Array.from({ length: 1_100 }, (_, index) => ((index * 7_919) % 61) - 28),
  ),
  large: drawnHistory({ score_before: -2_000_000_000 }, [2_147_483_647, -2_147_483_648, 2_000_000_000]),
  negative: drawnHistory({ kind: 'Deal score', score_before: -60, level: null, levels: [] }),
  'right-to-left': drawnHistory({
    lead_name: 'عائشة بنت محمد (Acme)',
    level: { name: 'ساخن جدا!', color: '#e8590c' },
    levels: [
      { name: 'בארד', min_score: null, max_score: 29, color: '#4dabf7' },
      { name: 'ساخن جدا!', min_score: 30, max_score: null, color: '#e8590c' },
    ],
  }),
  long: drawnHistory({
    lead_name: 'A Lead with an Extraordinarily Long Name from an Import '.repeat(9),
    levels: Array.from({ length: 20 }, (_, index) => ({
      name: `Level ${String(index)}${index % 3 === 0 ? ' with an unusually long name' : ''}`,
      min_score: index * 10 - 50,
      max_score: index * 10 - 41,
      color: index % 2 === 0 ? '#4dabf7' : '#fab005',
    })),
  }),
  markup: drawnHistory({
    lead_name: hostileName,
    level: { name: hostileName, color: 'url(https://example.com/)' },
    levels: [{ name: hostileName, min_score: null, max_score: null, color: 'red"/><script/>' }],
  }),
};
