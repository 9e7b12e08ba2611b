// The drawing thread: it returns the picture of each input, a failure affects one picture only, and the queue is
// limited.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { createPainter, PainterBusy, type Painter } from './painter.js';

/** A drawing module for the test. The input selects its behaviour. */
const drawing = `import { threadId } from 'node:worker_threads';
export function paint(input) {
  if (input === 'throws') throw new Error('no ink');
  if (input === 'exits') process.exit(1);
  if (input === 'hangs') for (;;);
  return new TextEncoder().encode(JSON.stringify([input, threadId > 0, Object.keys(process.env)]));
}`;

let folder: string;
let module: URL;
let painter: Painter<string>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'painter-'));
  const file = join(folder, 'drawing.mjs');
  await writeFile(file, drawing);
  module = pathToFileURL(file);
});
afterEach(() => painter.stop());
afterAll(() => rm(folder, { recursive: true }));

async function paint(input: string): Promise<unknown> {
  return JSON.parse(new TextDecoder().decode(await painter.paint(input)));
}

test('the input is drawn, in another thread that knows nothing of our environment', async () => {
  painter = createPainter({ name: 'paint', module });
  expect(await paint('Ada')).toEqual(['Ada', true, []]);
});

test('a drawing that fails, hangs, or takes its thread with it fails alone', async () => {
  painter = createPainter({ name: 'paint', module, timeoutMs: 2_000 });
  await expect(paint('throws')).rejects.toThrow('no ink');
  await expect(paint('exits')).rejects.toThrow();
  await expect(paint('hangs')).rejects.toBeInstanceOf(PainterBusy);
  expect(await paint('Ada')).toEqual(['Ada', true, []]);
});

test('a module that cannot be loaded fails the drawing, not the process', async () => {
  painter = createPainter({ name: 'paint', module: new URL('nowhere.mjs', module), timeoutMs: 2_000 });
  await expect(paint('Ada')).rejects.toThrow();
});

test('only so many wait: more are refused at once, and those that wait are drawn', async () => {
  painter = createPainter({ name: 'paint', module, maximumWaiting: 3 });
  const outcomes = await Promise.allSettled(Array.from({ length: 10 }, () => paint('Ada')));
  const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
  for (const { reason } of refused) expect(reason).toBeInstanceOf(PainterBusy);
  // One may be drawn already while three wait.
  expect([6, 7]).toContain(refused.length);
  expect(await paint('Ada')).toEqual(['Ada', true, []]);
});
