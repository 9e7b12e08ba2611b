// The files of a queue on disk: numbered segments, and the place up to which their events are settled.
import { open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface Segment {
  number: number;
  /** The place of its first byte in the queue; negative where its first events were settled before. */
  start: number;
  /** Its bytes so far, all of whole events. */
  length: number;
}

/** `<number of a segment> <offset in it>`: all events before are settled. */
const placeFile = 'settled';

export const segmentPath = (folder: string, number: number): string =>
  join(folder, `${String(number).padStart(12, '0')}.ndjson`);

export interface FoundSegments {
  segments: Segment[];
  /** The number of the next segment. */
  nextNumber: number;
  /** The place behind the last event. */
  end: number;
}

/** The segments that an earlier process left, from the first event that is not settled: its place is 0. */
export async function foundSegments(folder: string): Promise<FoundSegments> {
  const settled = await settledBefore(folder);
  const numbers = (await readdir(folder))
    .flatMap((name) => /^(\d{12})\.ndjson$/.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((one, other) => one - other);
  const last = numbers.at(-1);
  if (last !== undefined) await cutUnfinishedLine(segmentPath(folder, last));
  const segments: Segment[] = [];
  let start = 0;
  for (const number of numbers) {
    const path = segmentPath(folder, number);
    const { size: length } = await stat(path);
    const offset =
      number < settled.number ? length : number === settled.number ? Math.min(settled.offset, length) : 0;
    if (offset === length) {
      await rm(path);
      continue;
    }
    segments.push({ number, start: start - offset, length });
    start += length - offset;
  }
  // A number is not used twice: the place of a segment that is gone would count for the new one.
  return { segments, nextNumber: Math.max(last ?? 0, settled.number) + 1, end: start };
}

/** Stores the place up to which all is settled, then removes the segments before it. */
export async function removeSettled(
  folder: string,
  segments: Segment[],
  place: number,
  readers: { release(segment: Segment): Promise<void> },
): Promise<void> {
  const first = segments.find(({ start, length }) => place < start + length) ?? segments.at(-1);
  if (!first) return;
  const temporary = join(folder, `${placeFile}.new`);
  await writeFile(temporary, `${first.number} ${place - first.start}\n`, { mode: 0o600 });
  await rename(temporary, join(folder, placeFile));
  for (let [gone] = segments; gone && gone !== first; [gone] = segments) {
    await readers.release(gone);
    await rm(segmentPath(folder, gone.number), { force: true });
    segments.shift();
  }
}

/** A damaged file counts as none: the events are sent again, under their ids. */
async function settledBefore(folder: string): Promise<{ number: number; offset: number }> {
  const text = await readFile(join(folder, placeFile), 'utf8').catch(() => '');
  const [, number, offset] = /^(\d+) (\d+)\n$/.exec(text) ?? [];
  return { number: Number(number ?? 0), offset: Number(offset ?? 0) };
}

/** Cuts off what a crash has left of a line. */
async function cutUnfinishedLine(path: string): Promise<void> {
  const content = await readFile(path);
  const end = content.lastIndexOf(10) + 1;
  if (end === content.length) return;
  const handle = await open(path, 'r+');
  try {
    await handle.truncate(end);
  } finally {
    await handle.close();
  }
}
