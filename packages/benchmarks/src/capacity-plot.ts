// The plot of latency by rate of all trials, as an SVG: one line per contender, both axes logarithmic.
import { capacityLimitsMs, nameOfCell, type CapacityResult } from './capacity.js';

/** The file of the plot, beside the results, which link to it. */
export const capacityPlotFile = 'capacity.svg';

const width = 760;
const height = 420;
const margin = { left: 70, right: 190, top: 40, bottom: 50 };
const colours = ['#0b5fff', '#d1495b', '#2a9d8f', '#8d5a97'];
const ticks = [1, 2, 5];

interface Scale {
  at: (value: number) => number;
  ticks: number[];
}

/** The plot of the first cell, of which the others are variations. */
export function capacityPlot({ cells }: CapacityResult): string {
  const [cell] = cells;
  const lines = (cell?.contenders ?? []).map(({ name, rounds }) => ({
    name,
    points: rounds
      .flatMap(({ trials }) => trials)
      .filter(({ p99Ms }) => Number.isFinite(p99Ms))
      .map(({ eventsPerSecond, p99Ms }) => ({ x: eventsPerSecond, y: Math.max(1, p99Ms) }))
      .sort((a, b) => a.x - b.x),
  }));
  const points = lines.flatMap((line) => line.points);
  if (!cell || points.length === 0) return '<svg xmlns="http://www.w3.org/2000/svg"/>\n';
  const x = logarithmic(
    points.map((point) => point.x),
    [margin.left, width - margin.right],
  );
  const y = logarithmic(
    [...points.map((point) => point.y), ...capacityLimitsMs],
    [height - margin.bottom, margin.top],
  );
  const right = width - margin.right;
  const bottom = height - margin.bottom;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">`,
    `<rect width="${width}" height="${height}" fill="white"/>`,
    `<text x="${margin.left}" y="22" font-size="14">p99 from POST to readable, by rate: ${nameOfCell(cell)}</text>`,
    ...x.ticks.flatMap((tick) => [
      `<line x1="${x.at(tick)}" y1="${margin.top}" x2="${x.at(tick)}" y2="${bottom}" stroke="#e6e6e6"/>`,
      `<text x="${x.at(tick)}" y="${bottom + 18}" text-anchor="middle">${tick.toLocaleString('en-US')}</text>`,
    ]),
    ...y.ticks.flatMap((tick) => [
      `<line x1="${margin.left}" y1="${y.at(tick)}" x2="${right}" y2="${y.at(tick)}" stroke="#e6e6e6"/>`,
      `<text x="${margin.left - 8}" y="${y.at(tick) + 4}" text-anchor="end">${tick.toLocaleString('en-US')}</text>`,
    ]),
    ...capacityLimitsMs.map(
      (limit) =>
        `<line x1="${margin.left}" y1="${y.at(limit)}" x2="${right}" y2="${y.at(limit)}" stroke="#555" stroke-dasharray="5 4"/>`,
    ),
    `<text x="${(margin.left + right) / 2}" y="${height - 10}" text-anchor="middle">events a second</text>`,
    `<text x="18" y="${(margin.top + bottom) / 2}" text-anchor="middle" transform="rotate(-90 18 ${(margin.top + bottom) / 2})">milliseconds</text>`,
    ...lines.flatMap(({ name, points: linePoints }, index) => {
      const colour = colours[index % colours.length] ?? '#000';
      const path = linePoints.map((point) => `${x.at(point.x)},${y.at(point.y)}`).join(' ');
      const labelY = margin.top + 12 + index * 20;
      return [
        `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="2"/>`,
        ...linePoints.map(
          (point) => `<circle cx="${x.at(point.x)}" cy="${y.at(point.y)}" r="3" fill="${colour}"/>`,
        ),
        `<rect x="${right + 16}" y="${labelY - 9}" width="10" height="10" fill="${colour}"/>`,
        `<text x="${right + 32}" y="${labelY}">${name}</text>`,
      ];
    }),
    '</svg>',
    '',
  ].join('\n');
}

function logarithmic(values: readonly number[], [from, to]: [number, number]): Scale {
  const low = Math.log10(Math.min(...values) * 0.9);
  const high = Math.log10(Math.max(...values) * 1.1);
  const at = (value: number) =>
    Math.round((from + ((Math.log10(value) - low) / (high - low)) * (to - from)) * 10) / 10;
  const marks: number[] = [];
  for (let power = Math.floor(low); power <= high; power += 1)
    for (const tick of ticks) {
      const value = tick * 10 ** power;
      if (Math.log10(value) >= low && Math.log10(value) <= high) marks.push(value);
    }
  return { at, ticks: marks };
}
