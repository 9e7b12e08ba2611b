// Times as tables have them.
import { describe, expect, test } from '@jest/globals';
import type { TimeFormat } from '@lead-scoring/contracts';
import { timeFormatsOf, timeIn } from './times.js';

describe('a time', () => {
  test.each<[string, TimeFormat, string | null]>([
    ['2026-01-31', 'iso', '2026-01-31T00:00:00.000Z'],
    ['2026-01-31 09:30', 'iso', '2026-01-31T09:30:00.000Z'],
    ['2026-01-31T09:30:15+02:00', 'iso', '2026-01-31T07:30:15.000Z'],
    ['2026-02-30', 'iso', null],
    ['31/01/2026', 'iso', null],
    ['31/01/2026', 'day_first', '2026-01-31T00:00:00.000Z'],
    ['31.1.26 9:05', 'day_first', '2026-01-31T09:05:00.000Z'],
    ['31/01/2026', 'month_first', null],
    ['1/31/2026 12:05 AM', 'month_first', '2026-01-31T00:05:00.000Z'],
    ['1/31/2026, 1:05:09 pm', 'month_first', '2026-01-31T13:05:09.000Z'],
    ['1769851800', 'epoch', '2026-01-31T09:30:00.000Z'],
    ['1769851800123', 'epoch', '2026-01-31T09:30:00.123Z'],
    ['soon', 'epoch', null],
    ['1/31/2026 25:00', 'month_first', null],
  ])('%s as %s is %s', (text, format, time) => {
    expect(timeIn(text, format)).toBe(time);
  });

  test('shows its format, as far as it does', () => {
    expect(timeFormatsOf(['01/02/2026', '13/02/2026'])).toEqual(['day_first']);
    expect(timeFormatsOf(['01/02/2026'])).toEqual(['day_first', 'month_first']);
    expect(timeFormatsOf(['2026-01-02', 'never'])).toEqual([]);
  });
});
