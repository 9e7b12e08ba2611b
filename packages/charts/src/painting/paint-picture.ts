// Paints a picture as a PNG, for programs that show no SVG: documents, slides, messengers.
import { loadFonts, pngOf, withDrawing } from './drawing.js';

/** Pixels of the PNG for one of the picture, so that letters are sharp on dense screens and in print. */
const pixelRatio = 2;

/** @param svg a picture of this package; it is painted in its light colours */
export async function paintPicture(svg: string): Promise<Buffer> {
  return withDrawing(svg, await loadFonts(), pngOf, { fitTo: { mode: 'zoom', value: pixelRatio } });
}
