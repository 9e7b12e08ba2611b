// What routes that draw a picture have in common.
import { integerParameter } from '../common.js';

export const pictureWidth = integerParameter(320, 1_600)
  .default(960)
  .describe('Of a picture, in pixels. Letters keep their size; 360 is a telephone held upright.')
  .meta({ default: 960 });

/** The 200 of a route that answers with a picture where Accept prefers one. */
export const alsoAsPicture = { alsoAs: ['image/svg+xml'] } as const;

/** The same, and as a PNG. */
export const alsoAsPictureOrPng = { alsoAs: ['image/svg+xml', 'image/png'] } as const;

/** What a PNG is, for descriptions. */
export const pngText =
  'A PNG of twice the width in pixels, in light colours, for programs that show no SVG: documents, slides, messengers. Too many at once are refused (503, with Retry-After).';

/** What the picture of an answer is, for descriptions. */
export const pictureText =
  'Where Accept prefers `image/svg+xml` the answer is a picture of a width, light or dark as the reader has it, with its title and its numbers in words for screen readers, and without scripts.';
