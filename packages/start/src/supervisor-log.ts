// `supervisor.log`: what happened to servers and services, with the time: starts, ends, and why something was started again.
import { appendFileSync, renameSync, statSync } from 'node:fs';
import { messageOf } from './terminal.js';

const sizeLimitBytes = 20_000_000;

/**
 * A function that passes messages on to the terminal and appends them to the file, each line with its time.
 * A file that cannot be written is said once, and stops nothing.
 */
export function supervisorLog(
  file: string,
  say: (message: string) => void,
  now: () => Date = () => new Date(),
): (message: string) => void {
  let isWritable = true;
  startAnew(file);
  return (message) => {
    say(message);
    try {
      appendFileSync(file, datedLines(message, now()));
    } catch (error) {
      if (isWritable) say(`${file} cannot be written: ${messageOf(error)}`);
      isWritable = false;
    }
  };
}

/** Each line of the message with the time in front, so that every line of the file has one. */
function datedLines(message: string, time: Date): string {
  return message
    .split('\n')
    .map((line) => `${time.toISOString()} ${line}\n`)
    .join('');
}

/** A file that has grown large is kept under another name, in place of the one before. */
function startAnew(file: string): void {
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > sizeLimitBytes) renameSync(file, `${file}.1`);
}
