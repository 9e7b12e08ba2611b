// The pictures of a what-if in a real Chromium. KEEP_SCREENSHOTS=1 renews docs/screenshots.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  expectWellDrawn,
  imageOf,
  looks,
  openPictures,
  type PictureBrowser,
} from './testing/picture-browser.js';
import { usual, whatIfs } from './testing/what-ifs.js';
import { whatIfCharts } from './what-if-chart.js';
import { renderWhatIf } from './what-if-picture.js';
import { whatIfInWords, whatIfTitle } from './what-if-words.js';

let pictures: PictureBrowser;

/** `usual-roc` is the ROC picture of the what-if `usual`. */
beforeAll(async () => {
  pictures = await openPictures((name, width) => {
    const chart = whatIfCharts.find((one) => name.endsWith(`-${one}`));
    const whatIf = chart && whatIfs[name.slice(0, -chart.length - 1)];
    return whatIf && renderWhatIf(whatIf, chart, width);
  });
}, 600_000);
afterAll(() => pictures.stop());

/** The narrowest picture and the widest for every what-if; the usual one also as it is shown in a page. */
const widthsOf = (name: string) => (name.startsWith('usual') ? [320, 960, 1_600] : [320, 1_600]);
/** Places of texts do not depend on colours, so the extreme cases are drawn in one colour scheme. */
const shown = Object.keys(looks).flatMap((look) =>
  Object.keys(whatIfs)
    .filter((name) => name === 'usual' || look === 'light')
    .flatMap((name) => whatIfCharts.map((chart) => ({ look, name: `${name}-${chart}` }))),
);

test.each(shown)(
  '“$name” in $look colours is one file, and every text has its place',
  async ({ look, name }) => {
    for (const width of widthsOf(name)) {
      const isKept = name.startsWith('usual') && width === 960 && look !== 'contrast';
      await expectWellDrawn(pictures, { name, width, look }, isKept ? `what-if-${name}` : null);
    }
  },
);

test.each(whatIfCharts)(
  'a screen reader gets “%s” as one image with its name and all that it shows',
  async (chart) => {
    await pictures.visit(`usual-${chart}-960.svg`, {}, async (page) => {
      expect(await imageOf(page)).toEqual([
        `What if: ${whatIfTitle(usual, chart)}`,
        whatIfInWords(usual, chart),
      ]);
    });
  },
);
