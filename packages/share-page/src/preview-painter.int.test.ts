// The drawing thread: it returns the picture of each input, a failure affects one picture only, and the queue is
// limited.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { createPreviewPainter, PainterBusy, type PreviewPainter } from './preview-painter.js';
import { sharedExplanation } from './testing/shared-explanations.js';

/** A drawing module for the test. The input's name selects its behaviour. */
const drawing = `import { threadId } from 'node:worker_threads';
export function renderPreviewImage({ lead_name }) {
  if (lead_name === 'throws') throw new Error('no ink');
  if (lead_name === 'exits') process.exit(1);
  if (lead_name === 'hangs') for (;;);
  return new TextEncoder().encode(JSON.stringify([lead_name, threadId > 0, Object.keys(process.env)]));
}`;

let folder: string;
let module: URL;
let painter: PreviewPainter;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'painter-'));
  const file = join(folder, 'drawing.mjs');
  await writeFile(file, drawing);
  module = pathToFileURL(file);
});
afterEach(() => painter.stop());
afterAll(() => rm(folder, { recursive: true }));

async function paint(lead_name: string): Promise<unknown> {
  return JSON.parse(new TextDecoder().decode(await painter.paint(sharedExplanation({ lead_name }))));
}

test('what a link shows is drawn, in another thread that knows nothing of our environment', async () => {
  painter = createPreviewPainter({ module });
  expect(await paint('Ada')).toEqual(['Ada', true, []]);
});

test('a drawing that fails, hangs, or takes its thread with it fails alone', async () => {
  painter = createPreviewPainter({ module, timeoutMs: 2_000 });
  await expect(paint('throws')).rejects.toThrow('no ink');
  await expect(paint('exits')).rejects.toThrow();
  await expect(paint('hangs')).rejects.toBeInstanceOf(PainterBusy);
  expect(await paint('Ada')).toEqual(['Ada', true, []]);
});

test('a module that cannot be loaded fails the drawing, not the process', async () => {
  painter = createPreviewPainter({ module: new URL('nowhere.mjs', module), timeoutMs: 2_000 });
  await expect(paint('Ada')).rejects.toThrow();
});

test('only so many wait: more are refused at once, and those that wait are drawn', async () => {
  painter = createPreviewPainter({ module, maximumWaiting: 3 });
  const outcomes = await Promise.allSettled(Array.from({ length: 10 }, () => paint('Ada')));
  const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
  for (const { reason } of refused) expect(reason).toBeInstanceOf(PainterBusy);
  // One may be drawn already while three wait.
  expect([6, 7]).toContain(refused.length);
  expect(await paint('Ada')).toEqual(['Ada', true, []]);
});
