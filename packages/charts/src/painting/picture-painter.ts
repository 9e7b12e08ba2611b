// The painter of the pictures of this package.
import { createPainter, type Painter } from './painter.js';

/** Paints SVG pictures as PNG. */
export type PicturePainter = Painter<string>;

export function createPicturePainter(): PicturePainter {
  return createPainter({ module: new URL('./paint-picture.js', import.meta.url), name: 'paintPicture' });
}
