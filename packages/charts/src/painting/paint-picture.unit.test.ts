// A picture as a PNG: of twice its size, in light colours, with the letters of our fonts.
import { expect, test } from '@jest/globals';
import { renderPicture } from '../picture.js';
import { html } from '../html.js';
import { renderWhatIf } from '../what-if-picture.js';
import { usual } from '../testing/what-ifs.js';
import { paintPicture } from './paint-picture.js';

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** The size that a PNG says of itself. */
function sizeOf(png: Buffer): { width: number; height: number } {
  expect(png.subarray(0, 8)).toEqual(signature);
  return { width: png.readUInt32BE(16), height: png.readUInt32BE(20) };
}

const pictureOf = (text: string) =>
  renderPicture({
    title: 'A title',
    description: 'Words',
    width: 320,
    height: 100,
    content: html`<text class="ink" x="10" y="50" font-size="20">${text}</text>`,
  });

test('has twice the pixels of the picture', async () => {
  const svg = renderWhatIf(usual, 'roc', 360);
  const [, width, height] = /width="(\d+)"\s+height="(\d+)"/.exec(svg) ?? [];
  expect(sizeOf(await paintPicture(svg))).toEqual({ width: 2 * Number(width), height: 2 * Number(height) });
}, 30_000);

test.each(['Ada', 'Привет', 'مرحبا', 'שלום', '🚀'])(
  'shows %s, and the same text in the same way',
  async (text) => {
    const [empty, one, other] = [
      await paintPicture(pictureOf('')),
      await paintPicture(pictureOf(text)),
      await paintPicture(pictureOf(text)),
    ];
    expect(one.length).toBeGreaterThan(empty.length);
    expect(one.equals(other)).toBe(true);
  },
  30_000,
);
