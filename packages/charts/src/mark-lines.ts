// The marks of a vertical axis: a line across the plot for each, that of zero stronger, with its label to the left.
import { html, type Html } from './html.js';
import type { Area } from './picture.js';

export interface MarkScale {
  marks: readonly number[];
  /** The height of a mark in the picture. */
  y: (mark: number) => number;
  label: (mark: number) => string;
}

export function markLines(
  { marks, y, label }: MarkScale,
  { left, right }: Pick<Area, 'left' | 'right'>,
): Html[] {
  return marks.map(
    (mark) =>
      html`<line
          class="${mark === 0 ? 'zero' : 'grid'}"
          x1="${left}"
          x2="${right}"
          y1="${y(mark)}"
          y2="${y(mark)}"
        /><text class="dim" x="${left - 8}" y="${y(mark)}" dy=".35em" font-size="12" text-anchor="end"
          >${label(mark)}</text
        >`,
  );
}
