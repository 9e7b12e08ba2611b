// The pictures of counts by type and time in a real Chromium. KEEP_SCREENSHOTS=1 renews docs/screenshots.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { renderSeries } from './event-series-picture.js';
import { seriesInWords, seriesTitle } from './event-series-words.js';
import { eventSeries, usual } from './testing/event-series.js';
import {
  expectWellDrawn,
  imageOf,
  looks,
  openPictures,
  type PictureBrowser,
} from './testing/picture-browser.js';

let pictures: PictureBrowser;

beforeAll(async () => {
  pictures = await openPictures((name, width) => {
    const series = eventSeries[name];
    return series && renderSeries(series, width);
  });
}, 600_000);
afterAll(() => pictures.stop());

/** Places of texts do not depend on colours, so the extreme cases are drawn in one colour scheme. */
const shown = Object.keys(looks).flatMap((look) =>
  Object.keys(eventSeries)
    .filter((name) => name === 'usual' || look === 'light')
    .map((name) => ({ look, name })),
);

test.each(shown)(
  '“$name” in $look colours is one file, and every text has its place',
  async ({ look, name }) => {
    for (const width of [320, 960, 1_600]) {
      const isKept = width === 960 && (name === 'usual' || name === 'all-time') && look !== 'contrast';
      await expectWellDrawn(pictures, { name, width, look }, isKept ? `events-${name}` : null);
    }
  },
);

test('a screen reader gets it as one image with its name and all that it shows', async () => {
  await pictures.visit('usual-960.svg', {}, async (page) => {
    expect(await imageOf(page)).toEqual([seriesTitle(usual), seriesInWords(usual)]);
  });
});
