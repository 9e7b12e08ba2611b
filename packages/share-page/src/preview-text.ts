// Text in the preview picture: measured, cut to a width, and laid out font by font. The drawing program would use one
// font for a whole text, and drop characters, such as an emoji beside Arabic.
import { clip, html, textOf, type Child } from '@lead-scoring/charts';
import { usualFont, withDrawing, type Fonts } from '@lead-scoring/charts/painting';

export interface TextStyle {
  size: number;
  weight: number;
}

const emojiFont = 'Noto Emoji';
const otherFonts: [family: string, characters: RegExp][] = [
  [emojiFont, /\p{Extended_Pictographic}|\p{Emoji_Modifier}|\p{Regional_Indicator}|\u200d|\ufe0f|\u20e3/u],
  ['Noto Sans Arabic', /\p{Script=Arabic}/u],
  ['Noto Sans Hebrew', /\p{Script=Hebrew}/u],
];

/** The characters of our fonts. Others would appear as boxes, so a text with others is not drawn. */
const drawable =
  /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Common}\p{Script=Inherited}]+$/u;

/** Width of a space, as a fraction of the font size. */
const spaceWidth = 0.3;
/** Maximum length of a text in the picture, in UTF-16 code units. */
const longest = 80;

/** Whether our fonts have every character of the text. */
export function isDrawable(text: string): boolean {
  return drawable.test(text);
}

/** Width of the drawn text. */
export function widthOf(text: string, style: TextStyle, fonts: Fonts): number {
  return laidOut(text, style, fonts).width;
}

/** The text on the line `y` from the left edge `x`, cut where it would exceed `width`. */
export function textAt(
  text: string,
  { x, y, width, fill, ...style }: TextStyle & { x: number; y: number; width: number; fill: string },
  fonts: Fonts,
): Child {
  let fits = laidOut(clip(text, longest), style, fonts);
  for (let [low, high] = [1, longest]; fits.width > width && high - low > 1;) {
    const middle = Math.floor((low + high) / 2);
    const tried = laidOut(clip(text, middle), style, fonts);
    if (tried.width > width) high = middle;
    else low = middle;
    if (high - low <= 1) fits = laidOut(clip(text, low), style, fonts);
  }
  return fits.runs.map(
    (run) =>
      html`<text
        x="${x + run.x}"
        y="${y}"
        font-family="${run.family}"
        font-size="${style.size}"
        font-weight="${style.weight}"
        fill="${fill}"
        >${run.text}</text
      >`,
  );
}

interface Run {
  family: string;
  text: string;
  x: number;
}

/** The runs of the text, each in one font, side by side; right to left when the text begins so. */
function laidOut(text: string, style: TextStyle, fonts: Fonts): { width: number; runs: Run[] } {
  let width = 0;
  const runs = runsOf(text).map(({ family, text: part, spaced }) => {
    const start = width + (spaced ? spaceWidth * style.size : 0);
    const own = runWidth(family, part, style, fonts);
    width = start + own;
    return { family, text: part, x: start, own };
  });
  const first = /\p{L}/u.exec(text)?.[0] ?? '';
  const fromRight = /[\p{Script=Arabic}\p{Script=Hebrew}]/u.test(first);
  return {
    width,
    runs: runs.map(({ family, text: part, x, own }) => ({
      family,
      text: part,
      x: fromRight ? width - x - own : x,
    })),
  };
}

/** Splits a text into runs of one font. `spaced` is true when a space separates a run from the one before. */
function runsOf(text: string): { family: string; text: string; spaced: boolean }[] {
  const runs: { family: string; text: string; spaced: boolean }[] = [];
  let space = '';
  for (const character of text.trim()) {
    if (/\s/u.test(character)) {
      space = ' ';
      continue;
    }
    const family = otherFonts.find(([, characters]) => characters.test(character))?.[0] ?? usualFont;
    const last = runs.at(-1);
    const joins = space === '' || family !== emojiFont;
    if (last?.family === family && joins) last.text += space + character;
    else runs.push({ family, text: character, spaced: space !== '' });
    space = '';
  }
  return runs;
}

function runWidth(family: string, text: string, { size, weight }: TextStyle, fonts: Fonts): number {
  const svg = html`<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">
    <text font-family="${family}" font-size="${size}" font-weight="${weight}">${text}</text>
  </svg>`;
  return withDrawing(textOf(svg), fonts, (drawing) => {
    const box = drawing.getBBox();
    const width = box ? box.x + box.width : 0;
    box?.free();
    return width;
  });
}
