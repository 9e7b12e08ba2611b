// What the sections of the report share: tables, numbers, and ratios of contenders over rounds.
import { median } from './statistics.js';

export interface Ratio {
  median: number;
  lowest: number;
  highest: number;
}

/** The ratios of each round to the baseline's same round. */
export function ratio<Round>(
  baseline: readonly Round[],
  rounds: readonly Round[],
  value: (round: Round) => number,
): Ratio {
  const ratios = rounds.flatMap((round, index) => {
    const other = baseline[index];
    return other === undefined ? [] : [value(round) / value(other)];
  });
  return { median: median(ratios), lowest: Math.min(...ratios), highest: Math.max(...ratios) };
}

export function ratioText({ median: middle, lowest, highest }: Ratio): string {
  return lowest === highest
    ? middle.toFixed(2)
    : `${middle.toFixed(2)} (${lowest.toFixed(2)} to ${highest.toFixed(2)})`;
}

export function medianOf<Item>(items: readonly Item[], value: (item: Item) => number): number {
  return median(items.map(value));
}

export function verdict(met: boolean): string {
  return met ? 'met' : '**not met**';
}

/** 12345.6 as 12,346. */
export function whole(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

export function table(head: string[], rows: string[][]): string[] {
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)];
}
