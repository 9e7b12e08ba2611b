// The pictures of a what-if show its numbers, and tell them in words.
import { describe, expect, test } from '@jest/globals';
import { usual, whatIfs } from './testing/what-ifs.js';
import { whatIfCharts, type DrawnWhatIf } from './what-if-chart.js';
import { renderWhatIf } from './what-if-picture.js';
import { areaInWords, whatIfInWords } from './what-if-words.js';

const small: DrawnWhatIf = {
  kind: 'Engagement score',
  leads: 30,
  live: {
    distribution: [
      { from: 0, to: 9, leads: 20 },
      { from: 10, to: 19, leads: 10 },
    ],
    conversion_by_band: [
      { from: 0, to: 9, leads: 20, won: 5 },
      { from: 10, to: 19, leads: 10, won: 5 },
    ],
    roc: [
      { fpr: 0.25, tpr: 0.5 },
      { fpr: 1, tpr: 1 },
    ],
    auc: 0.625,
    auc_interval: { low: 0.4, high: 0.85 },
  },
  draft: {
    distribution: [
      { from: 0, to: 9, leads: 30 },
      { from: 10, to: 19, leads: 0 },
    ],
    conversion_by_band: [
      { from: 0, to: 9, leads: 30, won: 10 },
      { from: 10, to: 19, leads: 0, won: 0 },
    ],
    roc: [{ fpr: 1, tpr: 1 }],
    auc: 0.5,
    auc_interval: null,
  },
};
/** The paths of the live rules and of the draft. */
const paths = (svg: string) =>
  [...svg.matchAll(/<path\s+class="(?:live|dot|path)"\s+d="([^"]*)"/g)].map(([, d = '']) => d);
const texts = (svg: string) =>
  svg.replace(/<(?:style|desc|title)[^]*?<\/(?:style|desc|title)>/g, '').replace(/<[^>]*>/g, ' ');

describe('for readers who hear it, the picture', () => {
  test('tells the leads of every band on both sides', () => {
    expect(whatIfInWords(small, 'distribution')).toBe(
      '30 leads. 0 to 9: live 20, draft 30; 10 to 19: live 10, draft 0.',
    );
  });

  test('tells the conversion of every band, and where there are no leads', () => {
    expect(whatIfInWords(small, 'conversion')).toBe(
      'The share of leads with the outcome, by what was before it. 0 to 9: live 25% of 20, draft 33.3% of 30; 10 to 19: live 50% of 10, draft no leads.',
    );
  });

  test('tells the areas under the curves with their intervals, and the curves', () => {
    expect(whatIfInWords(small, 'roc')).toBe(
      'Live rules: AUC 0.625 (0.400 to 0.850). Leads with the outcome that are found, at the share of other leads that are taken for them: 50% at 25%; 100% at 100%. Draft: AUC 0.500. Leads with the outcome that are found, at the share of other leads that are taken for them: 100% at 100%.',
    );
    expect(areaInWords({ auc: null })).toBe('no AUC: all leads are of one kind');
  });

  test('says when there is nothing to draw', () => {
    const without = whatIfs['no-outcome'] ?? usual;
    for (const chart of ['conversion', 'roc'] as const) {
      expect(whatIfInWords(without, chart)).toContain('names no outcome');
      expect(texts(renderWhatIf(without, chart, 960))).toContain('names no outcome');
    }
    expect(whatIfInWords(whatIfs['nobody'] ?? usual, 'distribution')).toBe(
      'No lead has an event that counts.',
    );
  });
});

describe('for readers who see it, the picture', () => {
  test('has a bar for each band with leads on each side, as high as there are leads', () => {
    const [live = '', draft = ''] = paths(renderWhatIf(small, 'distribution', 960));
    const heights = (path: string) => [...path.matchAll(/v-([\d.]+)/g)].map(([, height]) => Number(height));
    const [first = 0, second = 0] = heights(live);
    expect(heights(live)).toHaveLength(2);
    expect(heights(draft)).toHaveLength(1);
    expect(first / second).toBeCloseTo(2, 1);
    expect((heights(draft)[0] ?? 0) / first).toBeCloseTo(1.5, 1);
  });

  test('has the curves from the lower left corner to the upper right one', () => {
    const [live = '', draft = ''] = paths(renderWhatIf(small, 'roc', 960));
    const places = (path: string) =>
      path
        .slice(1)
        .split('L')
        .map((place) => place.split(' ').map(Number));
    const [[left = 0, bottom = 0] = [], [x = 0, y = 0] = [], [right = 0, top = 0] = []] = places(live);
    expect([(x - left) / (right - left), (bottom - y) / (bottom - top)]).toEqual([0.25, 0.5]);
    expect(places(draft).at(-1)).toEqual([right, top]);
  });

  test('names both sides, with the area and its interval', () => {
    const shown = texts(renderWhatIf(small, 'roc', 960)).replace(/\s+/g, ' ');
    expect(shown).toContain('Live rules AUC 0.625 (0.400 to 0.850)');
    expect(shown).toContain('Draft AUC 0.500');
  });

  test('is finite, whatever the what-if', () => {
    for (const whatIf of Object.values(whatIfs))
      for (const chart of whatIfCharts)
        for (const width of [320, 1_600])
          expect(renderWhatIf(whatIf, chart, width)).not.toMatch(/NaN|Infinity|undefined|null/);
  });
});
