// Output for people: aligned tables, and a progress bar with rate and remaining time.
import { SingleBar } from 'cli-progress';

/** The output of a command; tests pass their own. */
export interface Output {
  /** Writes a result, to standard output. */
  write(text: string): void;
  /** Writes progress and notes, to standard error. */
  note(text: string): void;
  /** The terminal for a progress bar; null when the output is a file or a pipe. */
  terminal: NodeJS.WriteStream | null;
}

export interface Column<Row> {
  title: string;
  value: (row: Row) => string | number;
  align?: 'left' | 'right';
  /** Maximum width; longer values are cut. */
  maximum?: number;
}

/** A table with columns as wide as their widest value. */
export function table<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string {
  const cells = [
    columns.map(({ title }) => title),
    ...rows.map((row) => columns.map(({ value, maximum }) => cut(plain(String(value(row))), maximum ?? 60))),
  ];
  const widths = columns.map((_, index) => Math.max(...cells.map((line) => width(line[index] ?? ''))));
  return cells
    .map((line) =>
      line
        .map((cell, index) => {
          const space = ' '.repeat((widths[index] ?? 0) - width(cell));
          return columns[index]?.align === 'right' ? space + cell : cell + space;
        })
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Removes control characters: values come from other people and must not control the terminal. */
export function plain(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.replace(/[\u0000-\u001f\u007f-\u009f]/g, ' ');
}

const characters = new Intl.Segmenter();

function cut(text: string, maximum: number): string {
  const all = Array.from(characters.segment(text), ({ segment }) => segment);
  return all.length <= maximum ? text : `${all.slice(0, maximum - 1).join('')}…`;
}

function width(text: string): number {
  return Array.from(characters.segment(text)).length;
}

export interface Progress {
  /** @param done amount so far, in the unit of `total` */
  update(done: number, count: number): void;
  stop(): void;
}

/**
 * A bar with percentage, count, rate and remaining time; no output without a terminal.
 * @param total 0 when unknown: then without percentage and remaining time
 */
export function progressBar(output: Output, total: number, unit: string): Progress {
  if (!output.terminal) return { update: () => undefined, stop: () => undefined };
  const started = Date.now();
  const bar = new SingleBar({
    stream: output.terminal,
    format:
      total > 0 ? `{bar} {percentage}%  {count} ${unit}  {rate}/s  {left}` : `{count} ${unit}  {rate}/s`,
    barCompleteChar: '█',
    barIncompleteChar: '░',
    hideCursor: true,
    clearOnComplete: true,
    fps: 5,
  });
  bar.start(Math.max(total, 1), 0, { count: '0', rate: '0', left: '' });
  return {
    update(done, count) {
      const seconds = (Date.now() - started) / 1_000;
      const left = done > 0 ? (seconds / done) * (total - done) : null;
      bar.update(Math.min(done, Math.max(total, 1)), {
        count: count.toLocaleString('en'),
        rate: Math.round(count / Math.max(seconds, 0.001)).toLocaleString('en'),
        left: left === null ? '' : `${duration(left)} left`,
      });
    },
    stop: () => bar.stop(),
  };
}

/** `48s`, `3m 20s`, `2h 5m`. */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole}s`;
  if (whole < 3_600) return `${Math.floor(whole / 60)}m ${whole % 60}s`;
  return `${Math.floor(whole / 3_600)}h ${Math.floor((whole % 3_600) / 60)}m`;
}
