// The picture of a history shows its numbers, tells them in words, and is well formed whatever names are in it.
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { renderScoreHistory } from './history-picture.js';
import { cases, drawnHistory, hostileName } from './testing/histories.js';

const isolated = (text: string) => `\u2068${text}\u2069`;
const part = (svg: string, tag: 'title' | 'desc') =>
  new RegExp(`<${tag} id="[^"]+">([^<]*)</${tag}>`).exec(svg)?.[1] ?? '';
const texts = (svg: string) =>
  [...svg.matchAll(/<text[^>]*>((?:[^<]|<\/?tspan[^>]*>)*)<\/text\s*>/g)].map(([, text = '']) =>
    text
      .replace(/<[^>]*>/g, '')
      .replace(/[\u2068\u2069]/g, '')
      .trim(),
  );

describe('for readers who hear it, the picture', () => {
  test('has a title with the lead and the time', () => {
    expect(part(renderScoreHistory(drawnHistory(), 960), 'title')).toBe(
      `Lead score of ${isolated('Ada Lovelace')}, 23 October 2026 to 21 November 2026`,
    );
  });

  test('tells the course, what was added and taken, the levels, and the scores', () => {
    const told = part(renderScoreHistory(drawnHistory({}, [12, -3]), 960), 'desc');
    expect(told).toBe(
      [
        'Over the time from 23 October 2026 to 24 October 2026 the score rose from 8 to 17 (+9), and was as high as 20 in between.',
        '12 points were added and 3 taken away.',
        `The last score is in the level ${isolated('Hot')}.`,
        `The levels are ${isolated('Cold')} up to 29, ${isolated('Warm')} 30 to 59, ${isolated('Hot')} 60 and more.`,
        'The score at the end of all days, in the time zone Europe/Berlin: 23 October 2026: 20; 24 October 2026: 17.',
      ].join(' '),
    );
  });

  test('tells at most twelve scores, with the first and the last', () => {
    const told = part(renderScoreHistory(cases['years'] ?? drawnHistory(), 960), 'desc');
    const scores = told.slice(told.indexOf('Europe/Berlin')).match(/\d{4}: /g);
    expect(scores).toHaveLength(12);
    expect(told).toContain('at the end of some days');
    expect(told).toContain('23 October 2026: ');
    expect(told).toContain('26 October 2029: ');
  });

  test('tells of an hour its time, and of a score without levels nothing of levels', () => {
    const hours = drawnHistory({ granularity: 'hour', levels: [], level: null }, [1, 1]);
    const told = part(renderScoreHistory(hours, 960), 'desc');
    expect(told).toContain('from 23 October 2026, 00:00 to 23 October 2026, 01:00');
    expect(told).toContain('2 points were added and 0 taken away.');
    expect(told).not.toContain('level');
  });
});

describe('for readers who see it, the picture', () => {
  test('shows the score, its level, the sums, round numbers, and the levels with their bounds', () => {
    const shown = texts(renderScoreHistory(drawnHistory(), 960));
    expect(shown).toEqual(
      expect.arrayContaining([
        'The lead score of',
        'Ada Lovelace',
        '110\u2002points\u2003●\u2002Hot',
        '23 October 2026 to 21 November 2026, by day, Europe/Berlin',
        '0',
        '50',
        '150',
        'Points by day: +122 added, −20 taken away',
        '+20',
        '−8',
        '23 Oct',
        'Cold up to 29',
        'Warm 30 to 59',
        'Hot 60 and more',
      ]),
    );
  });

  test('has no bars where nothing was added or taken', () => {
    const shown = texts(renderScoreHistory(cases['one-day'] ?? drawnHistory(), 960)).join('\n');
    expect(shown).not.toContain('Points by day');
  });

  test('draws each score where it is: the last step ends at the height of the last score', () => {
    const svg = renderScoreHistory(drawnHistory({ score_before: 0, levels: [] }, [50, 50]), 960);
    // The axis goes from 0 at 360 to 100 at 170.
    expect(/class="path" d="([^"]+)"/.exec(svg)?.[1]).toBe('M76 360H76V265H502V170H928');
  });

  test('colours a band from the lowest score of its level to where the next level begins', () => {
    const svg = renderScoreHistory(drawnHistory({ score_before: 0 }, [100]), 960);
    const bands = [...svg.matchAll(/y="([\d.]+)"\s+width="852"\s+height="([\d.]+)"\s+fill="([^"]+)"/g)];
    expect(bands.map(([, y, height, fill]) => [Number(y), Number(height), fill])).toEqual([
      [303, 57, '#4dabf7'],
      [246, 57, '#fab005'],
      [170, 76, '#e8590c'],
    ]);
  });

  test.each([320, 360, 960, 1_600])('at %d pixels is that wide, with letters of the same size', (width) => {
    for (const history of Object.values(cases)) {
      const svg = renderScoreHistory(history, width);
      expect(svg).toContain(`viewBox="0 0 ${String(width)} `);
      expect(new Set([...svg.matchAll(/font-size="(\d+)"/g)].map(([, size]) => Number(size)))).toEqual(
        new Set([12, 13, 14, 15, 22, 44]),
      );
    }
  });

  test('of the most points there are is below 50 KB', () => {
    expect(Buffer.byteLength(renderScoreHistory(cases['years'] ?? drawnHistory(), 1_600))).toBeLessThan(
      50_000,
    );
  });
});

test('names, levels and colours cannot become markup', () => {
  const svg = renderScoreHistory(cases['markup'] ?? drawnHistory(), 960);
  expect(svg).not.toContain('<script');
  expect(svg).not.toContain('<img');
  expect(svg).not.toContain('example.com');
  expect(part(svg, 'title')).toContain(
    hostileName
      .replace('\0', '\uFFFD')
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replaceAll('"', '&#34;')
      .replaceAll("'", '&#39;'),
  );
});

test('no name makes the picture fail or leaves an element open', () => {
  const name = fc.string({ unit: 'binary', maxLength: 300 });
  fc.assert(
    fc.property(name, name, (lead_name, level) => {
      const svg = renderScoreHistory(
        drawnHistory({ lead_name, levels: [{ name: level, min_score: 0, max_score: 9, color: level }] }),
        360,
      );
      const open: string[] = [];
      for (const [, close, tag = '', empty] of svg.matchAll(/<(\/?)([a-z]+)(?:\s[^>]*?)?(\/?)\s*>/g))
        if (close === '/') expect(open.pop()).toBe(tag);
        else if (empty !== '/') open.push(tag);
      expect(open).toEqual([]);
    }),
  );
});
