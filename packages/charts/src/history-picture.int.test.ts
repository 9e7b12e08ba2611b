// The picture of a score's history in a real Chromium, with its real headers: opened by itself, and shown in a page.
// KEEP_SCREENSHOTS=1 renews docs/screenshots.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { renderScoreHistory } from './history-picture.js';
import { historyInWords, historyTitle } from './history-words.js';
import { cases, hostileName } from './testing/histories.js';
import {
  expectWellDrawn,
  imageOf,
  looks,
  openPictures,
  type PictureBrowser,
} from './testing/picture-browser.js';
import { clip } from './words.js';

/** The narrowest picture and the widest for every history; the usual one also as it is shown on a phone and in a page. */
const widthsOf = (name: string) => (name === 'usual' ? [320, 360, 960, 1_600] : [320, 1_600]);

let pictures: PictureBrowser;

beforeAll(async () => {
  pictures = await openPictures((name, width) => {
    const history = cases[name];
    return history && renderScoreHistory(history, width);
  });
}, 600_000);
afterAll(() => pictures.stop());

const visit: PictureBrowser['visit'] = (path, options, use) => pictures.visit(path, options, use);

const kept = new Set(['usual-960 light', 'usual-960 dark', 'usual-360 light', 'right-to-left-960 light']);

describe.each(Object.keys(looks))('in %s colours', (look) => {
  test.each(Object.keys(cases).flatMap((name) => widthsOf(name).map((width) => ({ name, width }))))(
    '“$name-$width” is one file, and every text has its place',
    async ({ name, width }) => {
      const isKept = kept.has(`${name}-${String(width)} ${look}`);
      await expectWellDrawn(
        pictures,
        { name, width, look },
        isKept ? `score-history-${name}-${String(width)}` : null,
      );
    },
  );
});

test('a screen reader gets one image with the title as its name and the course as its description', async () => {
  await visit('usual-960.svg', {}, async (page) => {
    const history = cases['usual'];
    if (!history) throw new Error('there is no such history');
    expect(await imageOf(page)).toEqual([historyTitle(history, history.lead_name), historyInWords(history)]);
  });
});

test('light and dark follow the reader, also where the picture is shown in a page', async () => {
  const backs: unknown[] = [];
  for (const path of ['usual-960.svg', 'usual-960'])
    for (const colorScheme of ['light', 'dark'] as const)
      await visit(path, { colorScheme }, async (page) => {
        const shot = (await page.screenshot({ clip: { x: 20, y: 20, width: 1, height: 1 } })).toString(
          'base64',
        );
        // The colour of a pixel, read by a page without a policy.
        await page.goto(`${pictures.origin}/one-day-320`);
        backs.push(
          await page.evaluate(`new Promise((resolve) => {
            const image = new Image();
            image.onload = () => {
              const context = document.createElement('canvas').getContext('2d');
              context.drawImage(image, 0, 0);
              resolve([...context.getImageData(0, 0, 1, 1).data].slice(0, 3).join());
            };
            image.src = 'data:image/png;base64,${shot}';
          })`),
        );
      });
  expect(backs).toEqual(['246,245,241', '15,17,20', '246,245,241', '15,17,20']);
});

test('markup in names is read, not run', async () => {
  const complaints = await visit('markup-960.svg', {}, async (page) => {
    expect(await page.evaluate('document.querySelector("title").textContent')).toContain(
      `\u2068${clip(hostileName.replace('\0', '\uFFFD'), 120)}\u2069`,
    );
    expect(await page.locator('script, img, [onerror]').count()).toBe(0);
    expect(await page.title()).not.toBe('ran');
  });
  expect(complaints).toEqual([]);
});

test('a name from right to left stands at the left edge, in its own order', async () => {
  await visit('right-to-left-960.svg', {}, async (page) => {
    const name = page.locator('text', { hasText: 'Acme' });
    const box = await name.boundingBox();
    expect(Math.round(box?.x ?? 0)).toBeLessThanOrEqual(36);
    // The first letter of the name is the rightmost one.
    const first = `(() => {
      const text = [...document.querySelectorAll('text')].find((one) => one.textContent.includes('Acme'));
      return text.getExtentOfChar(1).x > text.getExtentOfChar(8).x;
    })()`;
    expect(await page.evaluate(first)).toBe(true);
  });
});
