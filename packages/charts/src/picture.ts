// The frame of every picture: an SVG that stands alone. It has the colours of pages, light or dark as its reader has them, a title
// and a description for readers who hear it, and neither scripts nor anything to load.
import { createHash } from 'node:crypto';
import { html, styleElement, textOf, type Html } from './html.js';
import { palette, type Colours } from './palette.js';

/** A rectangle of a picture, in pixels. */
export interface Area {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

export interface PictureParts {
  title: string;
  /** Everything that the picture shows, in words. */
  description: string;
  width: number;
  height: number;
  content: Html;
}

/** Plain rules in place of custom properties, which programs other than browsers do not know. */
const rulesOf = (colours: Colours) =>
  [
    `.back{fill:${colours.back}}`,
    `.ink{fill:${colours.ink}}`,
    `.dim{fill:${colours.dim}}`,
    `.gain{fill:${colours['gain-bar']}}`,
    `.loss{fill:${colours['loss-bar']}}`,
    `.plus{fill:${colours.gain}}`,
    `.minus{fill:${colours.loss}}`,
    `.grid{stroke:${colours.line}}`,
    `.zero{stroke:${colours.zero}}`,
    `.area{fill:${colours.glow}}`,
    `.path{stroke:${colours.accent}}`,
    `.dot{fill:${colours.accent};stroke:${colours.back}}`,
    `.live{fill:${colours.dim};stroke:${colours.dim}}`,
  ].join('');

const style = `svg{color-scheme:light dark}
text{font-family:-apple-system,BlinkMacSystemFont,"Segoe UI Variable Text","Segoe UI",Roboto,Inter,"Noto Sans",system-ui,sans-serif;font-variant-numeric:tabular-nums}
.large{font-variant-numeric:proportional-nums;letter-spacing:-.03em}
${rulesOf(palette.light)}
@media screen and (prefers-color-scheme:dark){${rulesOf(palette.dark)}}
@media (forced-colors:active){.back{fill:Canvas}.ink,.dim,.plus,.minus,.gain,.loss,.dot,.live{fill:CanvasText}.path,.zero,.live{stroke:CanvasText}}
`;

const styleHash = createHash('sha256').update(style).digest('base64');

/** The headers of every picture. Only its own style sheet is allowed. */
export const pictureHeaders: Readonly<Record<string, string>> = {
  'Content-Security-Policy': [
    "default-src 'none'",
    `style-src 'sha256-${styleHash}'`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
};

/** The picture as the text of an SVG document. */
export function renderPicture({ title, description, width, height, content }: PictureParts): string {
  return textOf(
    html`<svg
      xmlns="http://www.w3.org/2000/svg"
      width="${width}"
      height="${height}"
      viewBox="0 0 ${width} ${height}"
      role="img"
      lang="en"
      aria-labelledby="picture-title"
      aria-describedby="picture-description"
    >
      <title id="picture-title">${title}</title>
      <desc id="picture-description">${description}</desc>
      ${styleElement(style)}
      <rect class="back" width="100%" height="100%" />
      ${content}
    </svg>`,
  );
}

/** To a tenth of a pixel. */
export function tenths(value: number): number {
  return Math.round(value * 10) / 10;
}
