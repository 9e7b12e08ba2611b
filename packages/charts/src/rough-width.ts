// The width of texts in pictures, estimated: the reader's fonts are not known when a picture is drawn.
import { clip } from './words.js';

/** Signs that are as wide as they are high. */
const wide =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Extended_Pictographic}\uff00-\uff60]/u;
const [usual, widest] = [0.58, 1.05];

/** Width in pixels of the text in letters of this size. */
export function roughWidth(text: string, size: number): number {
  let width = 0;
  for (const sign of text) width += wide.test(sign) ? widest : usual;
  return width * size;
}

/** The text, cut where it would be wider. */
export function fitted(text: string, size: number, width: number): string {
  const own = roughWidth(text, size);
  if (own <= width) return text;
  return clip(text, Math.max(2, Math.floor((text.length * width) / own)));
}
