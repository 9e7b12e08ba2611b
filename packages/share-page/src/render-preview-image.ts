// The picture that messengers show for a share link: drawn as SVG with our own fonts, turned into a PNG on the server.
import {
  dateInWords,
  html,
  numberInWords,
  palette,
  rangeInWords,
  textOf,
  withSign,
  type Child,
  type Html,
} from '@lead-scoring/charts';
import { driversWithLeads } from './account-parts.js';
import { titleOf } from './drivers.js';
import { loadFonts, pngOf, withDrawing, type Fonts } from '@lead-scoring/charts/painting';
import { isDrawable, textAt, widthOf } from './preview-text.js';
import { conditionWordsOf, withTitles } from './condition-parts.js';
import type { SharedDriver, SharedExplanation } from './shared-explanation.js';

const [imageWidth, imageHeight] = [1_200, 630];
const [left, right] = [76, 1_124];
const nameWidth = 540;
const shownDrivers = 5;
const bars = { left: 700, top: 204, step: 66 };

const { back, ink, dim, zero: line, ...colours } = palette.light;
const gain = { bar: colours['gain-bar'], text: colours.gain };
const loss = { bar: colours['loss-bar'], text: colours.loss };

/** Renders a PNG of 1200 by 630 pixels, the size for link previews. */
export async function renderPreviewImage(shared: SharedExplanation): Promise<Buffer> {
  const fonts = await loadFonts();
  return withDrawing(textOf(picture(withTitles(shared), fonts)), fonts, pngOf);
}

function picture(shared: SharedExplanation, fonts: Fonts): Html {
  const score = numberInWords(shared.score);
  const size = score.length <= 3 ? 230 : score.length <= 5 ? 170 : score.length <= 8 ? 110 : 60;
  // When the name cannot be drawn, it is still in the title text of the link preview.
  const conditions = conditionWordsOf(shared);
  const kind = conditions?.title ?? 'Lead score';
  const name = isDrawable(shared.lead_name) ? shared.lead_name : kind;
  const nameSize = widthOf(name, { size: 46, weight: 600 }, fonts) <= nameWidth ? 46 : 34;
  const baseline = 256 + size * 0.73;
  const scoreWidth = widthOf(score, { size, weight: 700 }, fonts);
  return html`<svg
    xmlns="http://www.w3.org/2000/svg"
    width="${imageWidth}"
    height="${imageHeight}"
    font-family="Inter"
    fill="${ink}"
  >
    <rect width="100%" height="100%" fill="${back}" />
    <g transform="translate(${left - 2} 66) scale(1.5)">
      <g fill="${gain.bar}">
        <rect x="9" y="3" width="13" height="4.6" rx="1.4" />
        <rect x="9" y="9.7" width="8" height="4.6" rx="1.4" />
      </g>
      <rect fill="${loss.bar}" x="2" y="16.4" width="7" height="4.6" rx="1.4" />
    </g>
    <text x="${left + 46}" y="92" font-size="25" font-weight="600">${kind}</text>
    <text x="${right}" y="92" font-size="25" fill="${dim}" text-anchor="end">
      ${conditions?.ofImage ?? rangeInWords(shared.range_hours).replace(/^t/, 'T')}
    </text>
    ${textAt(name, { x: left, y: 208, width: nameWidth, size: nameSize, weight: 600, fill: ink }, fonts)}
    <text
      x="${left - size / 28}"
      y="${baseline}"
      font-size="${size}"
      font-weight="700"
      letter-spacing="${-size / 28}"
    >
      ${score}
    </text>
    <text x="${left + scoreWidth + 24}" y="${baseline}" font-size="34" fill="${dim}">
      ${Math.abs(shared.score) === 1 ? 'point' : 'points'}
    </text>
    ${levelLine(shared, baseline + 66, fonts)} ${driverBars(driversWithLeads(shared), fonts)}
    <text x="${left}" y="566" font-size="23" fill="${dim}">
      Read-only link, open until ${dateInWords(shared.expires_at)}
    </text>
  </svg>`;
}

function levelLine({ level }: SharedExplanation, baseline: number, fonts: Fonts): Child {
  if (!level || !isDrawable(level.name)) return undefined;
  const color = /^#[0-9a-f]{6}$/i.test(level.color) ? level.color : dim;
  return html`<circle
      cx="${left + 10}"
      cy="${baseline - 10}"
      r="10"
      fill="${color}"
    />${textAt(level.name, { x: left + 34, y: baseline, width: 480, size: 29, weight: 600, fill: ink }, fonts)}`;
}

function driverBars(drivers: readonly SharedDriver[], fonts: Fonts): Child {
  const shown = drivers.slice(0, shownDrivers);
  if (shown.length === 0)
    return html`<text x="${bars.left}" y="${bars.top + 18}" font-size="27" fill="${dim}"
      >No points were added or taken.</text
    >`;
  const gives = Math.max(0, ...shown.map(({ total }) => total));
  const takes = -Math.min(0, ...shown.map(({ total }) => total));
  const widestTotal = Math.max(
    ...shown.map(({ total }) => widthOf(withSign(total), { size: 25, weight: 600 }, fonts)),
  );
  const perPoint = (right - widestTotal - 28 - bars.left) / (gives + takes || 1);
  const zero = bars.left + takes * perPoint;
  return shown.map((driver, index) => {
    const { total } = driver;
    // Few bars are centred in the space for the maximum number.
    const y = bars.top + ((shownDrivers - shown.length) / 2 + index) * bars.step;
    const length = total === 0 ? 0 : Math.max(3, Math.abs(total) * perPoint);
    const tone = total < 0 ? loss : gain;
    const title = titleOf(driver);
    const label = isDrawable(title) ? title : 'Activity';
    return html`${textAt(label, { x: bars.left, y: y + 16, width: right - bars.left, size: 23, weight: 400, fill: dim }, fonts)}<rect
        x="${total < 0 ? zero - length : zero}"
        y="${y + 27}"
        width="${length}"
        height="18"
        rx="3"
        fill="${tone.bar}"
      /><rect x="${zero - 1}" y="${y + 23}" width="2" height="26" fill="${line}" /><text
        x="${right}"
        y="${y + 45}"
        font-size="25"
        font-weight="600"
        text-anchor="end"
        fill="${tone.text}"
        >${withSign(total)}</text
      >`;
  });
}
