// The preview picture is a PNG of the right size for every input.
import { expect, test } from '@jest/globals';
import { cases, sharedExplanation } from './testing/shared-explanations.js';
import { renderPreviewImage } from './render-preview-image.js';

const sizeOf = (png: Buffer) => {
  expect(png.subarray(0, 8).toString('latin1')).toBe('\x89PNG\r\n\x1a\n');
  return [png.readUInt32BE(16), png.readUInt32BE(20)];
};

test.each(Object.entries(cases))('“%s” is drawn', async (_, shared) => {
  const png = await renderPreviewImage(shared);
  expect(sizeOf(png)).toEqual([1_200, 630]);
  expect(png.length).toBeLessThan(200_000);
});

test('the picture shows the score and the name', async () => {
  const usual = await renderPreviewImage(sharedExplanation());
  expect(await renderPreviewImage(sharedExplanation())).toEqual(usual);
  expect(await renderPreviewImage(sharedExplanation({ score: 83 }))).not.toEqual(usual);
  expect(await renderPreviewImage(sharedExplanation({ lead_name: 'Ada Byron' }))).not.toEqual(usual);
});

test('a name in a script that no font of ours has is not drawn as boxes', async () => {
  const unnamed = await renderPreviewImage(sharedExplanation({ lead_name: 'Lead score' }));
  expect(await renderPreviewImage(sharedExplanation({ lead_name: '山田太郎' }))).toEqual(unnamed);
});

test.each(['عائشة ⭐️ Ada 🚀', 'Ada عائشة', '👩🏽‍💻', 'שלום 🎉 שלום'])(
  'the mixed name %s is drawn',
  async (name) => {
    const unnamed = await renderPreviewImage(sharedExplanation({ lead_name: ' ' }));
    expect(await renderPreviewImage(sharedExplanation({ lead_name: name }))).not.toEqual(unnamed);
  },
);
